#include "proxy/ingest/write_groups.h"

#include "proxy/backend/places/maps.h"
#include "rewrite/insert/guard.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/render.h"
#include "rewrite/statement/script/script.h"

#include <string.h>
#include <xxhash.h>

static uint64_t deadline_of(px_submitter *submitter, const px_standing *standing,
                            const cfg_table *table)
{
    if (submitter->since == 0)
        submitter->since = px_worker_now(submitter->worker);
    uint64_t ms = standing->identity->statement_timeout;
    uint64_t wait = ms > 0 && ms < table->batch.max_wait_ms ? ms : table->batch.max_wait_ms;
    return submitter->since + wait;
}

/* Whether a write group's table is `table`: by its oid, where the backend says it, else by its
 * name. */
static bool is_of(const px_write_group_table *known, const rw_table *table)
{
    const char *label = known->name;
    if (known->oid != 0 && known->oid == table->oid)
        return true;
    size_t schema = strlen(table->schema);
    return strncmp(label, table->schema, schema) == 0 && label[schema] == '.' &&
           strcmp(label + schema + 1, table->name) == 0;
}

static char *label_of(const rw_table *table, pgw_arena *arena)
{
    size_t schema = strlen(table->schema), name = strlen(table->name);
    char *label = pgw_arena_alloc(arena, schema + name + 2);
    memcpy(label, table->schema, schema);
    label[schema] = '.';
    memcpy(label + schema + 1, table->name, name);
    return label;
}

/* The table's place among the write group's. */
static uint16_t place_of(px_write_group *write_group, const rw_table *table,
                         const px_catalog *catalog)
{
    for (size_t i = write_group->table_count; i-- > 0;)
        if (is_of(&write_group->tables[i], table))
            return (uint16_t)i;
    write_group->tables[write_group->table_count] =
        (px_write_group_table){.config = px_catalog_config(catalog, table),
                               .name = label_of(table, &write_group->arena),
                               .oid = table->oid,
                               .filled_by = table->filled_by,
                               .partitions = px_map_count(write_group->home, table)};
    return (uint16_t)write_group->table_count++;
}

/* A write group with room for so many statements and rows. */
static px_write_group *new_write_group(px_submitter *submitter, const px_standing *standing,
                                       size_t statements, size_t rows)
{
    px_write_group *write_group = px_write_group_new(submitter->worker);
    size_t most = statements < PX_WRITE_GROUP_MOST ? statements : PX_WRITE_GROUP_MOST;
    write_group->statements =
        pgw_arena_alloc(&write_group->arena, statements * sizeof *write_group->statements);
    write_group->keys = pgw_arena_alloc(&write_group->arena, rows * sizeof *write_group->keys);
    write_group->tables = pgw_arena_alloc(&write_group->arena, most * sizeof *write_group->tables);
    write_group->prepared =
        pgw_arena_alloc(&write_group->arena, most * sizeof *write_group->prepared);
    write_group->told = standing->in_transaction;
    write_group->repeated = submitter->repeated;
    write_group->own_link = standing->own_link;
    write_group->send_alone =
        submitter->suspected || px_worker_now(submitter->worker) < submitter->failed_until;
    submitter->suspected = false;
    write_group->session = submitter;
    write_group->ticket = ++submitter->worker->tickets;
    return write_group;
}

/* Begins a write group: the settings of its first statement's table hold for it. */
static void begin(px_write_group *write_group, px_submitter *submitter, const px_standing *standing,
                  const rw_table *table, const px_catalog *catalog)
{
    place_of(write_group, table, catalog);
    write_group->epoch = catalog->epoch;
    write_group->deadline = deadline_of(submitter, standing, write_group->tables[0].config);
}

/* Counts a row in: its key, and whether the write group still touches one partition. `place`: of
 * its table. */
static void add_key(px_write_group *write_group, const rw_table *table, uint16_t place,
                    const rw_key *key)
{
    if (write_group->row_count == 0)
        write_group->partition = key->partition;
    else if (write_group->partition != key->partition || place > 0)
        write_group->several_partitions = true;
    px_write_group_key *kept = &write_group->keys[write_group->row_count++];
    *kept = px_write_group_key_of(table, key);
    kept->table = place;
}

/* Moves the bytes into the write group's arena, where they count. */
static pgw_slice keep(px_write_group *write_group, pgw_buf *buf)
{
    write_group->bytes += buf->len;
    return pgw_arena_keep(&write_group->arena, buf);
}

/* ---- text ---- */

/* A part of a text INSERT, rendered and kept. */
static pgw_slice render(px_write_group *write_group, const rw_insert *insert,
                        void (*part)(const rw_insert *, pgw_buf *))
{
    pgw_buf buf = {0};
    part(insert, &buf);
    return keep(write_group, &buf);
}

/* Whether rows of all statements may stand in one VALUES list: heads and tails are the same, and so
 * is what the first one's guard asks. */
static bool merges(px_write_group *write_group, const rw_script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        const rw_insert *insert = script->statements[i].insert;
        if (!insert->values_merge || (script->count > 1 && rw_guard_heeds_default(insert)))
            return false;
        pgw_slice head = render(write_group, insert, rw_render_head);
        pgw_slice tail = render(write_group, insert, rw_render_tail);
        if (i == 0) {
            write_group->head = head;
            write_group->tail = tail;
        } else if (!pgw_slice_eq(head, write_group->head) ||
                   !pgw_slice_eq(tail, write_group->tail)) {
            return false;
        }
    }
    return true;
}

/* What the write group's text is rendered from: the chosen rows of a text. */
typedef struct origin {
    px_text *text;
    px_chosen chosen;
} origin;

/* How many rows of the statement are chosen; chosen_row() says which. */
static size_t count_chosen(px_chosen chosen, const rw_insert *insert)
{
    return chosen.rows != NULL ? chosen.count : insert->row_count;
}

static size_t chosen_row(px_chosen chosen, size_t at)
{
    return chosen.rows != NULL ? chosen.rows[at] : at;
}

static void write_rows(const origin *of, size_t i, bool guarded, pgw_buf *out)
{
    const rw_insert *insert = of->text->script.statements[i].insert;
    size_t begun = out->len;
    for (size_t at = 0; at < count_chosen(of->chosen, insert); at++) {
        size_t r = chosen_row(of->chosen, at);
        if (insert->rows[r].superseded)
            continue;
        pgw_buf_add_str(out, out->len > begun ? ",\n" : "");
        rw_render_row(insert, r, of->text->hashes[i][r], guarded && at == 0, out);
    }
}

static void write_batch(const void *of, size_t i, pgw_buf *out)
{
    write_rows(of, i, false, out);
}

/* Writes the whole text, or the chosen rows as a statement. */
static void write_alone(const void *of, pgw_buf *out)
{
    const origin *from = of;
    const rw_insert *insert = from->text->script.statements[0].insert;
    if (from->chosen.rows == NULL) {
        px_text_render(from->text, NULL, out);
        return;
    }
    rw_render_head(insert, out);
    write_rows(from, 0, true, out);
    rw_render_tail(insert, out);
}

static void drop_origin(void *of)
{
    px_text_drop(((origin *)of)->text);
}

static void set_source(px_write_group *write_group, px_text *text, px_chosen chosen)
{
    origin *of = pgw_arena_alloc(&write_group->arena, sizeof *of);
    *of = (origin){text, chosen};
    px_text_take(text);
    if (chosen.rows != NULL) {
        pgw_slice rows = {(const char *)chosen.rows, chosen.count * sizeof *chosen.rows};
        of->chosen.rows = (const size_t *)pgw_arena_copy(&write_group->arena, rows).ptr;
    }
    write_group->source = (px_write_group_source){of, write_batch, write_alone, drop_origin};
}

/* What the text's next statement takes in a batch, but for its rows. */
static size_t bytes_around(const px_write_group *write_group, const rw_statement *statement)
{
    const rw_insert *insert = statement->insert;
    size_t rows = 0;
    for (size_t r = 0; r < insert->row_count; r++)
        rows += insert->rows[r].close + 1 - insert->rows[r].open;
    return write_group->kind == PX_WRITE_GROUP_ROWS
               ? 0
               : statement->end - statement->start - rows + rw_render_added(insert);
}

/* The next statement of the script, as far as it was chosen. */
static void add_statement(px_write_group *write_group, const px_text *text, px_chosen chosen)
{
    size_t i = write_group->statement_count++;
    const rw_insert *insert = text->script.statements[i].insert;
    struct px_write_group_statement *statement = &write_group->statements[i];
    uint16_t place = place_of(write_group, insert->table, text->catalog);
    write_group->upserts |= insert->has_conflict;
    statement->bytes = bytes_around(write_group, &text->script.statements[i]);
    for (size_t at = 0; at < count_chosen(chosen, insert); at++) {
        const rw_row *row = &insert->rows[chosen_row(chosen, at)];
        if (row->superseded)
            continue;
        add_key(write_group, insert->table, place, &text->keys[i][chosen_row(chosen, at)]);
        statement->rows++;
        statement->bytes += row->close + 1 - row->open + PX_WRITE_GROUP_HASH_ROOM;
    }
    write_group->bytes += statement->bytes;
}

static void set_merge_hash(px_write_group *write_group)
{
    uint64_t parts[] = {
        write_group->kind,
        write_group->epoch,
        XXH3_64bits(write_group->head.ptr, write_group->head.len),
        XXH3_64bits(write_group->tail.ptr, write_group->tail.len),
        XXH3_64bits(write_group->conditions.ptr, write_group->conditions.len),
        XXH3_64bits(write_group->identity->key, strlen(write_group->identity->key))};
    write_group->merge_hash = XXH3_64bits(parts, sizeof parts);
    for (size_t i = 0; i < write_group->table_count; i++)
        write_group->merge_hash =
            XXH3_64bits_withSeed(write_group->tables[i].name, strlen(write_group->tables[i].name),
                                 write_group->merge_hash);
}

/* Sets the write group's kind, and what it must have in common with others to be merged. */
static void set_merge_key(px_write_group *write_group, const px_text *text)
{
    const rw_insert *insert = text->script.statements[0].insert;
    write_group->kind =
        merges(write_group, &text->script) ? PX_WRITE_GROUP_ROWS : PX_WRITE_GROUP_TEXT;
    if (write_group->kind == PX_WRITE_GROUP_TEXT) {
        write_group->head = write_group->tail = (pgw_slice){NULL, 0};
        return;
    }
    write_group->guarded = rw_guard_reads(insert);
    write_group->conditions = render(write_group, insert, rw_guard_conditions);
}

static size_t count_rows(const rw_script *script, px_chosen chosen)
{
    size_t rows = 0;
    for (size_t i = 0; i < script->count; i++)
        rows += count_chosen(chosen, script->statements[i].insert);
    return rows;
}

px_write_group *px_write_group_of_text(px_submitter *submitter, const px_standing *standing,
                                       px_text *text, px_chosen chosen)
{
    const rw_script *script = &text->script;
    px_write_group *write_group =
        new_write_group(submitter, standing, script->count, count_rows(script, chosen));
    begin(write_group, submitter, standing, script->statements[0].insert->table, text->catalog);
    write_group->identity = px_identity_take(standing->identity);
    set_merge_key(write_group, text);
    for (size_t i = 0; i < script->count; i++)
        add_statement(write_group, text, chosen);
    set_source(write_group, text, chosen);
    write_group->bytes += chosen.rows != NULL ? write_group->statements[0].bytes : text->text.len;
    set_merge_hash(write_group);
    return write_group;
}

px_write_group *px_write_group_of_rows(px_submitter *submitter, const px_standing *standing,
                                       const rw_table *table, const px_catalog *catalog)
{
    px_write_group *write_group = new_write_group(submitter, standing, 1, 0);
    begin(write_group, submitter, standing, table, catalog);
    write_group->identity = px_identity_take(standing->identity);
    write_group->statement_count = 1;
    return write_group;
}

void px_write_group_set_keys(px_write_group *write_group, px_write_group_key *keys, size_t count)
{
    write_group->keys = keys;
    write_group->row_count = count;
    write_group->statements[0].rows = (uint32_t)count;
    write_group->partition = keys[0].partition;
    for (size_t i = 1; i < count; i++)
        write_group->several_partitions |= keys[i].partition != write_group->partition;
}

/* ---- parameters ---- */

size_t px_write_group_prepare(px_write_group *write_group, px_plan *plan)
{
    const px_write_group_prepared *prepared = px_plan_prepared(plan);
    for (size_t i = write_group->prepared_count; i-- > 0;)
        if (write_group->prepared[i].of == prepared->of ||
            pgw_slice_eq(write_group->prepared[i].name, prepared->name))
            return i;
    write_group->prepared[write_group->prepared_count] = px_write_group_keep_prepared(prepared);
    return write_group->prepared_count++;
}

px_write_group *px_write_group_of_plan(px_submitter *submitter, const px_standing *standing,
                                       const px_plan *plan, size_t executions, size_t rows)
{
    px_write_group *write_group = new_write_group(submitter, standing, executions, rows);
    begin(write_group, submitter, standing, plan->insert->table, plan->catalog);
    write_group->identity = px_identity_take(plan->identity);
    write_group->kind = PX_WRITE_GROUP_PARAMS;
    return write_group;
}

/* The plan's place among the write group's prepared statements, which count in its merge hash. */
static size_t prepare(px_write_group *write_group, px_plan *plan)
{
    size_t before = write_group->prepared_count, at = px_write_group_prepare(write_group, plan);
    if (at == before)
        write_group->merge_hash = 31 * write_group->merge_hash + plan->merge_hash;
    return at;
}

/* An empty buffer for a Bind and its Execute. A few bytes have room in the arena, so much that the
 * buffer never grows: AROUND is more than the headers, the counts and the plan's name take. */
static pgw_buf room_for(px_write_group *write_group, const pgw_bind *bind, size_t rows)
{
    enum { AROUND = 128, HASH = 32, FEW = 512 };
    size_t room = AROUND + bind->formats.len + bind->values.len + bind->results.len + rows * HASH;
    if (room > FEW)
        return (pgw_buf){0};
    return (pgw_buf){.ptr = pgw_arena_alloc(&write_group->arena, room), .cap = room};
}

bool px_write_group_add_bound(px_write_group *write_group, px_execution execution,
                              const px_bound *bound, pgw_error *error)
{
    px_plan *plan = execution.plan;
    const rw_insert *insert = plan->insert;
    pgw_buf message = room_for(write_group, execution.bind, insert->row_count);
    bool few = message.ptr != NULL;
    px_bind_names names = {PGW_LITERAL(""), pgw_slice_str(plan->name)};
    if (!px_bind_write(plan, execution.bind, names, bound, &message, error))
        return false;
    pgw_write_execute(PGW_LITERAL(""), execution.max_rows, &message);
    struct px_write_group_statement *statement =
        &write_group->statements[write_group->statement_count++];
    uint16_t place = place_of(write_group, insert->table, plan->catalog);
    write_group->upserts |= insert->has_conflict;
    statement->prepared = prepare(write_group, plan);
    statement->bytes = message.len;
    write_group->bytes += message.len;
    statement->messages =
        few ? pgw_slice_buf(&message) : pgw_arena_keep(&write_group->arena, &message);
    for (size_t r = 0; r < insert->row_count; r++) {
        if (insert->rows[r].superseded)
            continue;
        add_key(write_group, insert->table, place, &bound->keys[r]);
        statement->rows++;
    }
    return true;
}
