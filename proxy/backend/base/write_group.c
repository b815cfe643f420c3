#include "proxy/backend/base/write_group.h"

#include "protocol/frame.h"

#include <stdlib.h>

/* ---- prepared statements ---- */

struct px_prepared_memory {
    _Atomic unsigned references;
    pgw_arena arena;
};

px_write_group_prepared px_write_group_keep_prepared(const px_write_group_prepared *what)
{
    if (what->of != NULL) {
        atomic_fetch_add_explicit(&what->of->references, 1, memory_order_relaxed);
        return *what;
    }
    struct px_prepared_memory *memory = pgw_calloc(1, sizeof *memory);
    pgw_slice types = {(const char *)what->types, what->type_count * sizeof *what->types};
    memory->references = 1;
    return (px_write_group_prepared){
        .of = memory,
        .name = pgw_arena_copy(&memory->arena, what->name),
        .text = pgw_arena_copy(&memory->arena, what->text),
        .types = (const uint32_t *)pgw_arena_copy(&memory->arena, types).ptr,
        .type_count = what->type_count,
        .columns = pgw_arena_copy(&memory->arena, what->columns),
        .stores_all = what->stores_all};
}

void px_write_group_drop_prepared(const px_write_group_prepared *what)
{
    struct px_prepared_memory *memory = what->of;
    if (memory == NULL || atomic_fetch_sub(&memory->references, 1) > 1)
        return;
    pgw_arena_free(&memory->arena);
    free(memory);
}

bool px_write_group_same_prepared(const px_write_group_prepared *a,
                                  const px_write_group_prepared *b)
{
    if (a->of != NULL && a->of == b->of)
        return true;
    return pgw_slice_eq(a->name, b->name) && pgw_slice_eq(a->text, b->text) &&
           pgw_slice_eq(a->columns, b->columns) && a->type_count == b->type_count &&
           (a->type_count == 0 ||
            memcmp(a->types, b->types, a->type_count * sizeof *a->types) == 0);
}

/* ---- write groups ---- */

px_write_group *px_write_group_new(px_worker *home)
{
    px_write_group *write_group = pgw_calloc(1, sizeof *write_group);
    write_group->home = home;
    write_group->deadline = UINT64_MAX;
    return write_group;
}

void px_write_group_free(px_write_group *write_group)
{
    if (write_group == NULL)
        return;
    px_identity_drop(write_group->identity);
    if (write_group->source.of != NULL)
        write_group->source.drop(write_group->source.of);
    for (size_t i = 0; i < write_group->prepared_count; i++)
        px_write_group_drop_prepared(&write_group->prepared[i]);
    pgw_buf_free(&write_group->error);
    pgw_buf_free(&write_group->notices);
    pgw_buf_free(&write_group->returned);
    pgw_arena_free(&write_group->arena);
    free(write_group);
}

void px_write_group_write_statement(const px_write_group *write_group, size_t i, pgw_buf *out)
{
    if (write_group->kind == PX_WRITE_GROUP_ROWS)
        write_group->source.write_rows(write_group->source.of, i, out);
    else
        pgw_buf_add_slice(out, write_group->statements[i].messages);
}

void px_write_group_write_alone(const px_write_group *write_group, pgw_buf *out)
{
    write_group->source.write_alone(write_group->source.of, out);
}

void px_unknown_outcome(pgw_error *error)
{
    pgw_fail(error, "08007",
             "the connection to the server was lost after the statement was sent; it is unknown "
             "whether it was committed");
    pgw_error_hint(error, "Look whether the rows are there before you send them again.");
}

void px_write_group_fail(px_write_group *write_group, const pgw_error *error)
{
    pgw_buf message = {0};
    pgw_error_write(error, "ERROR", &message);
    pgw_buf_clear(&write_group->error);
    pgw_buf_add(&write_group->error, message.ptr + PGW_HEADER, message.len - PGW_HEADER);
    pgw_buf_free(&message);
    write_group->outcome = PX_WRITE_GROUP_FAILED;
}

void px_write_group_reset(px_write_group *write_group)
{
    write_group->completed = 0;
    pgw_buf_clear(&write_group->error);
    pgw_buf_clear(&write_group->notices);
    pgw_buf_clear(&write_group->returned);
    for (size_t i = 0; i < write_group->statement_count; i++) {
        struct px_write_group_statement *statement = &write_group->statements[i];
        statement->bound = statement->suspended = false;
        statement->tag = statement->returned = statement->noticed = 0;
    }
}
