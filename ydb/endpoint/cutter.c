#include "ydb/endpoint/cutter.h"

#include "proxy/backend/schema/audit.h"
#include "ydb/endpoint/half.h"
#include "ydb/plain/copied.h"
#include "ydb/plain/order.h"
#include "ydb/plain/session.h"
#include "rewrite/statement/script/syntax.h"

static pgw_command command_of(const rw_clean *clean, pgw_slice text)
{
    switch (clean->kind) {
    case RW_CLEAN_READ:
        return PGW_COMMAND_READ;
    case RW_CLEAN_DDL:
        return PGW_COMMAND_ALONE;
    case RW_CLEAN_BEGIN:
        return pgw_slice_ieq_str((pgw_slice){text.ptr, text.len < 5 ? text.len : 5}, "start")
                   ? PGW_COMMAND_START
                   : PGW_COMMAND_BEGIN;
    case RW_CLEAN_COMMIT:
        return PGW_COMMAND_COMMIT;
    case RW_CLEAN_ROLLBACK:
        return PGW_COMMAND_ROLLBACK;
    case RW_CLEAN_SAVEPOINT:
        return PGW_COMMAND_SAVEPOINT;
    case RW_CLEAN_RELEASE:
        return PGW_COMMAND_RELEASE;
    case RW_CLEAN_ROLLBACK_TO:
        return PGW_COMMAND_ROLLBACK_TO;
    default:
        return PGW_COMMAND_WRITE;
    }
}

/* Most statements of one text: their list is memory that a client causes. */
enum { MOST_PIECES = 100000 };

static bool read_piece(pgw_slice text, const rw_clean *clean, const pgw_reading *reading,
                       pgw_piece *out)
{
    pgw_slice source = {text.ptr + clean->start, text.len - clean->start};
    if (clean->kind == RW_CLEAN_WRONG) {
        *reading->error = *clean->error;
        return false;
    }
    if (clean->kind == RW_CLEAN_TWO_PHASE)
        return pgw_fail(reading->error, "0A000", "YDB has no prepared transactions");
    if (clean->kind == RW_CLEAN_SESSION)
        return rw_order_read(text, clean, reading, out);
    bool sets = clean->kind == RW_CLEAN_READ && rw_session_selects(clean->text, reading);
    *out = (pgw_piece){.text = clean->text,
                       .command = command_of(clean, source),
                       .chain = clean->chain,
                       .name = clean->name};
    out->asks = out->command == PGW_COMMAND_WRITE && rw_is_copy(clean->text);
    if (sets)
        out->command = PGW_COMMAND_SESSION;
    return true;
}

static bool add(pgw_buf *pieces, size_t *count, const pgw_piece *piece, pgw_error *error)
{
    if (*count == MOST_PIECES)
        return pgw_fail(error, "54000", "a text of more than %d statements", MOST_PIECES);
    pgw_buf_add(pieces, piece, sizeof *piece);
    ++*count;
    return true;
}

/* Refuses a text with both DDL and writes or transaction control: the statements of a text are one
 * transaction, while YDB changes tables at once, outside of transactions. */
static bool check_mixture(const pgw_script *script, pgw_error *error)
{
    bool alone = false, others = false;
    for (size_t i = 0; i < script->count; i++) {
        pgw_command command = script->pieces[i].command;
        alone = alone || command == PGW_COMMAND_ALONE;
        others = others || command == PGW_COMMAND_WRITE || pgw_command_controls(command);
    }
    if (!alone || !others)
        return true;
    pgw_fail(error, "0A000",
             "a text that changes tables and rows cannot be one transaction on YDB");
    pgw_error_hint(error, "Send CREATE, ALTER, DROP and the like by themselves, outside of "
                          "transactions.");
    return false;
}

/* Refuses a text that is not PostgreSQL's grammar before any of it is run, or a failed transaction
 * is told, as PostgreSQL does. A lone statement is checked when it is run. */
static bool check_grammar(const px_ydb_session *session, pgw_slice text, const pgw_script *script,
                          pgw_error *error)
{
    bool failed = session != NULL && pgw_server_status(session->server) == 'E';
    return (script->count < 2 && !failed) || rw_syntax_check(text, &px_plain_env, error);
}

bool px_ydb_cut(void *data, pgw_slice text, pgw_arena *arena, pgw_script *out, pgw_error *error)
{
    const pgw_reading reading = {&px_plain_env, arena, error};
    pgw_buf pieces = {0};
    rw_lexer lexer;
    rw_clean clean;
    pgw_piece piece;
    bool fine = true;
    *out = (pgw_script){0};
    rw_lexer_init(&lexer, text, reading.env->conforming);
    while (fine && rw_clean_next(&lexer, reading.env, arena, &clean))
        fine =
            read_piece(text, &clean, &reading, &piece) && add(&pieces, &out->count, &piece, error);
    out->pieces = (const pgw_piece *)pgw_arena_keep(arena, &pieces).ptr;
    pgw_buf_free(&pieces);
    return check_grammar(data, text, out, error) && fine && check_mixture(out, error);
}
