/*
 * server_probe: the server's half as a program, for the test that compares it with PostgreSQL. A
 * line in is a client's message or the answer to an action; the line out is what was replied since,
 * whether a run goes on, and the next action with what it is about. Bytes are in hexadecimal, "-"
 * where there are none, fields are separated by tabs:
 *   in:  message TYPE BODY | analyzed TYPES COLUMNS | columns BODY | row DATAROW | completed TAG |
 *        done | failed SQLSTATE POSITION MESSAGE | new
 *   out: REPLIES RUNNING ACTION PORTAL LIMIT TEXT TYPES FORMATS VALUES RESULTS
 */
#include "protocol/reader.h"
#include "ydb/server/machine.h"
#include "ydb/server/server.h"
#include "ydb/plain/inline.h"
#include "ydb/plain/order.h"
#include "tests/protocol/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FIELDS = 4, CELLS = 1664, LIMIT = 1 << 20 };

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
static pgw_server *server;
static pgw_arena message; /* of the client, until the next */

/* ---- the reader of SQL: settings are the database's here ---- */

static pgw_command command_of(const rw_clean *statement)
{
    static const pgw_command commands[] = {
        [RW_CLEAN_READ] = PGW_COMMAND_READ,
        [RW_CLEAN_WRITE] = PGW_COMMAND_WRITE,
        [RW_CLEAN_DDL] = PGW_COMMAND_WRITE,
        [RW_CLEAN_BEGIN] = PGW_COMMAND_BEGIN,
        [RW_CLEAN_COMMIT] = PGW_COMMAND_COMMIT,
        [RW_CLEAN_ROLLBACK] = PGW_COMMAND_ROLLBACK,
        [RW_CLEAN_SAVEPOINT] = PGW_COMMAND_SAVEPOINT,
        [RW_CLEAN_RELEASE] = PGW_COMMAND_RELEASE,
        [RW_CLEAN_ROLLBACK_TO] = PGW_COMMAND_ROLLBACK_TO,
        [RW_CLEAN_TWO_PHASE] = PGW_COMMAND_ALONE,
    };
    return commands[statement->kind];
}

static bool read_piece(pgw_slice text, const rw_clean *statement, const pgw_reading *reading,
                       pgw_piece *out)
{
    if (statement->kind == RW_CLEAN_WRONG) {
        *reading->error = *statement->error;
        return false;
    }
    *out = (pgw_piece){.text = statement->text,
                       .command = command_of(statement),
                       .chain = statement->chain,
                       .name = statement->name};
    if (statement->kind == RW_CLEAN_BEGIN && strncasecmp(text.ptr + statement->start, "s", 1) == 0)
        out->command = PGW_COMMAND_START;
    if (statement->kind == RW_CLEAN_SESSION && !rw_order_read(text, statement, reading, out))
        return false;
    if (out->command == PGW_COMMAND_SESSION)
        out->command = PGW_COMMAND_READ;
    return true;
}

/* A pgw_cut. */
static bool cut(void *data, pgw_slice text, pgw_arena *arena, pgw_script *out, pgw_error *error)
{
    (void)data;
    rw_lexer lexer;
    rw_clean statement;
    pgw_piece *pieces = pgw_arena_alloc(arena, (text.len + 1) * sizeof *pieces);
    pgw_reading reading = {&env, arena, error};
    *out = (pgw_script){.pieces = pieces};
    rw_lexer_init(&lexer, text, true);
    while (rw_clean_next(&lexer, &env, arena, &statement))
        if (!read_piece(text, &statement, &reading, &pieces[out->count++]))
            return false;
    return true;
}

/* ---- lines ---- */

static void print_hex(pgw_slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        printf("%02x", (unsigned char)bytes.ptr[i]);
    fputs(bytes.len == 0 ? "-\t" : "\t", stdout);
}

static void print_types(const pgw_statement *statement)
{
    for (size_t i = 0; i < statement->type_count; i++)
        printf("%s%u", i > 0 ? "," : "", statement->types[i]);
    fputs("\t", stdout);
}

/* The statement; an EXECUTE's with its arguments. */
static void print_text(const pgw_portal *portal)
{
    const pgw_statement *statement = portal->statement;
    pgw_arena arena = {0};
    pgw_buf text = {0};
    pgw_error error;
    rw_inlining how = {.count = statement->type_count, .conforming = true, .most = LIMIT};
    if (portal->arguments == NULL) {
        print_hex(statement->piece.text);
        print_types(statement);
        return;
    }
    how.texts = rw_argument_texts(portal->arguments, statement->types, how.count, &arena);
    bool fine = rw_inline(statement->piece.text, &how, &text, &error);
    print_hex(fine ? pgw_slice_buf(&text) : pgw_slice_str(error.message));
    fputs("\t", stdout);
    pgw_buf_free(&text);
    pgw_arena_free(&arena);
}

static void print_portal(const pgw_action *action)
{
    const pgw_portal *portal = action->portal;
    printf("%p\t%u\t", (const void *)portal, action->limit);
    print_text(portal);
    print_hex(portal->bind.formats);
    print_hex(portal->bind.values);
    print_hex(portal->bind.results);
    printf("%zu\t%zu\t%d\n", portal->bind.format_count, portal->bind.value_count,
           portal->bind.statement.ptr == NULL);
}

static void print_action(void)
{
    static const char *const names[] = {
        [PGW_ASK_MESSAGE] = "message",   [PGW_ASK_ANALYZE] = "analyze", [PGW_ASK_BIND] = "bind",
        [PGW_ASK_RUN] = "run",           [PGW_ASK_RESUME] = "resume",   [PGW_ASK_END] = "end",
        [PGW_ASK_BEGIN] = "begin",       [PGW_ASK_MODES] = "modes",     [PGW_ASK_COMMIT] = "commit",
        [PGW_ASK_ROLLBACK] = "rollback", [PGW_ASK_PUT] = "put",         [PGW_ASK_STORE] = "store",
        [PGW_ASK_CLOSE] = "close",       [PGW_ASK_SETTLE] = "settle"};
    pgw_action action = pgw_server_next(server);
    printf("%d\t%s\t", server->running != NULL, names[action.ask]);
    if (action.portal != NULL) {
        print_portal(&action);
        return;
    }
    fputs("\t\t", stdout);
    print_hex(action.ask == PGW_ASK_ANALYZE ? action.statement->piece.text : action.text);
    if (action.ask == PGW_ASK_ANALYZE)
        print_types(action.statement);
    putchar('\n');
}

static void answer(void)
{
    pgw_buf *out = pgw_server_output(server);
    print_hex(pgw_slice_buf(out));
    pgw_buf_clear(out);
    print_action();
    fflush(stdout);
}

static void take_message(char *const *field)
{
    pgw_arena_free(&message);
    pgw_server_message(server, field[1][0], unhex(field[2], &message));
}

static void take_analysis(char *const *field, pgw_arena *arena)
{
    uint32_t types[64];
    size_t count = 0;
    for (char *at = field[1]; *at != '\0' && count < 64; at += *at == ',')
        types[count++] = (uint32_t)strtoul(at, &at, 10);
    pgw_server_analyzed(server, types, count, unhex(field[2], arena));
}

static void take_row(char *const *field, pgw_arena *arena)
{
    static pgw_slice cells[CELLS];
    pgw_reader reader = pgw_reader_of(unhex(field[1], arena));
    size_t count = pgw_read_u16(&reader);
    for (size_t i = 0; i < count && i < CELLS; i++) {
        uint32_t length = pgw_read_u32(&reader);
        cells[i] = length == UINT32_MAX ? (pgw_slice){NULL, 0} : pgw_read_bytes(&reader, length);
    }
    bool more = pgw_server_row(server, cells, count);
    (void)more; /* the line says it */
}

static void take_failure(char *const *field)
{
    pgw_error error;
    pgw_fail(&error, field[1], "%s", field[3]);
    error.position = strtoul(field[2], NULL, 10);
    pgw_server_failed(server, &error);
}

static void renew(void)
{
    if (server != NULL)
        pgw_server_free(server);
    server = pgw_server_new(cut, NULL, LIMIT);
}

static void take(char *const *field, pgw_arena *arena)
{
    if (strcmp(field[0], "message") == 0)
        take_message(field);
    else if (strcmp(field[0], "analyzed") == 0)
        take_analysis(field, arena);
    else if (strcmp(field[0], "columns") == 0)
        pgw_server_columns(server, unhex(field[1], arena));
    else if (strcmp(field[0], "row") == 0)
        take_row(field, arena);
    else if (strcmp(field[0], "completed") == 0)
        pgw_server_completed(server, field[1]);
    else if (strcmp(field[0], "failed") == 0)
        take_failure(field);
    else if (strcmp(field[0], "done") == 0)
        pgw_server_done(server);
    else
        renew();
}

int main(void)
{
    char *line = NULL, *field[FIELDS];
    size_t cap = 0;
    for (ssize_t len; (len = getline(&line, &cap, stdin)) > 0;) {
        line[len - 1] = '\0';
        char *at = line;
        for (size_t i = 0; i < FIELDS; i++) {
            field[i] = at;
            at += strcspn(at, "\t");
            if (*at != '\0')
                *at++ = '\0';
        }
        pgw_arena arena = {0};
        take(field, &arena);
        pgw_arena_free(&arena);
        answer();
    }
    free(line);
    renew();
    pgw_server_free(server);
    pgw_arena_free(&message);
    return 0;
}
