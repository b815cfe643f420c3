/* What PostgreSQL says of statements with a byte of it left out, or twice, as clients are shown it:
 * the same fields, of which none but those that may name the hash or a place is another one. */
#include "rewrite/insert/parse.h"
#include "rewrite/statement/errors/hide.h"
#include "rewrite/statement/errors/hint.h"
#include "rewrite/statement/errors/part_names.h"
#include "rewrite/statement/script/script.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "any_tables.h"
#include "tests/protocol/word_deleted.h"
#include "vectors.h"

enum { ROUNDS = 4, MOST_WAYS = 64, MOST_ROWS = 4 };

static any_tables tables[ROUNDS];
static const uint64_t hashes[MOST_ROWS] = {123, 5, 12, UINT64_MAX};

/* --- the statements that they are told of --- */

static const char *const inserts[] = {
    "INSERT INTO serials (userid, event, pk) VALUES (1, 'x', 1)",
    "INSERT INTO events (userid, ts) VALUES (1, '2026-01-01 00:00:00+00'), (2, '2026-01-01')",
    "INSERT INTO \"Odd\".\"Mixed \"\"Case\"\"\" (\"Text \"\"Id\"\"\", n) VALUES ('a', 1.5)",
    "INSERT INTO events (userid, event, ts) VALUES ($1, 'é', $2), ($3, $4, $2)",
    "INSERT INTO events (userid, ts, userhash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
};
static const char *const selects[] = {
    "SELECT 'é', * FROM events WHERE userid = $1 AND ts > $2 OR userid = $2",
    "SELECT userhash FROM drawn JOIN events USING (userid) WHERE pk = $1 AND events.userid = 7",
};

static rw_sent ways[MOST_WAYS];
static size_t way_count;
static pgw_arena arena;

static void add_insert(any_tables *it, const char *text, size_t number)
{
    pgw_error error = PGW_ERROR_NONE;
    rw_insert *insert = NULL;
    if (!rw_insert_parse(pgw_slice_str(text), &it->catalog, &it->env, &arena, &insert, &error) ||
        insert == NULL)
        return;
    ways[way_count++] = (rw_sent){
        .insert = insert,
        .table = number % 3 == 0 ? NULL : insert->table,
        .form = number % 2 == 0 ? RW_HASH_PARAMETER : RW_HASH_CONSTANT,
        .hashes = number % 2 == 0 ? NULL : hashes,
        .text = pgw_slice_str(text),
        .utf8 = it->env.utf8,
        .before = number % 4 == 1 ? 10 : 0,
        .rendered_before = number % 4 == 1 ? 20 : 0,
    };
}

static void add_select(any_tables *it, const char *text)
{
    pgw_error error = PGW_ERROR_NONE;
    pgw_reading reading = {&it->env, &arena, &error};
    rw_script *script = pgw_arena_alloc(&arena, sizeof *script);
    rw_conditions *conditions = pgw_arena_alloc(&arena, sizeof *conditions);
    rw_prepared *prepared = pgw_arena_alloc(&arena, sizeof *prepared);
    *prepared = (rw_prepared){pgw_slice_str(text), {NULL, 0}, 2};
    rw_script_parse(pgw_slice_str(text), &it->catalog, &it->env, NULL, &arena, script);
    if (script->statements[0].kind != RW_STATEMENT_FORWARD)
        return;
    rw_conditions_of(&script->statements[0], prepared, &reading, conditions);
    ways[way_count++] = (rw_sent){
        .conditions = conditions, .text = pgw_slice_str(text), .utf8 = it->env.utf8, .before = 3};
}

static void set_up(void)
{
    size_t number = 0;
    way_count = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        any_tables_make(&tables[round], round);
        for (size_t i = 0; i < sizeof inserts / sizeof *inserts; i++)
            add_insert(&tables[round], inserts[i], number++);
        for (size_t i = 0; i < sizeof selects / sizeof *selects; i++)
            add_select(&tables[round], selects[i]);
    }
    ways[way_count++] = (rw_sent){.text = PGW_LITERAL("SELECT 1")};
}

/* --- errors --- */

/* Of each the first is what is usual. */
static const struct {
    char code;
    const char *texts[8];
} fields[] = {
    {'S', {"ERROR", "FATAL"}},
    {'C', {"23505", "23503", "23502", "23514", "42601", "42703", "42702"}},
    {'M',
     {"duplicate key value violates unique constraint \"part_pkey\"",
      "syntax error at or near \",\"", "column \"userhash\" does not exist",
      "new row for relation \"part\" violates check constraint \"part_check\""}},
    {'D',
     {"Key (userhash, userid, ts)=(123, 1, 2026-01-01 00:00:00+00) already exists.",
      "Failing row contains (1, 2026-01-01 00:00:00+00, null, 5)."}},
    {'H',
     {"Perhaps you meant to reference the column \"events.userhash\".",
      "There is a column named \"userhash\" in table \"events\", but it cannot be referenced from "
      "this part of the query."}},
    {'P', {"34", "1", "60", "88", "107", "133", "0", "4711"}},
    {'W',
     {"unnamed portal with parameters: $1 = '1', $2 = NULL, $3 = '-5', $4 = '7', $5 = '8', $6 = "
      "'9'",
      "portal \"p\" with parameters: $1 = 'it''s, $2 = ''x''', $2 = '', $3 = '5'",
      "unnamed portal with parameters: $1 = '1', $2 = NULL"}},
    {'s', {"public", "Odd"}},
    {'t', {"events", "part", "serials"}},
    {'n', {"part_pkey", "its_pkey", "part_check"}},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static const char *field_text(size_t field, unsigned chance)
{
    size_t count = 0;
    while (count < 8 && fields[field].texts[count] != NULL)
        count++;
    return fields[field].texts[chance % count];
}

static void add_field(char code, pgw_slice text, pgw_buf *body)
{
    pgw_buf_add_byte(body, code);
    pgw_buf_add_slice(body, text);
    pgw_buf_add_byte(body, '\0');
}

static unsigned error_count; /* of what went by: the other fields are other ones each time */
static char changed;         /* the field of the text at hand */

/* --- what must be true --- */

/* Takes the next field off a body, its code in front; empty: there is no other. */
static pgw_slice next_field(pgw_slice *body)
{
    size_t len = body->len > 0 ? strnlen(body->ptr, body->len) : 0;
    pgw_slice field = {body->ptr, len};
    *body = (pgw_slice){body->ptr + len + (len < body->len), body->len - len - (len < body->len)};
    return field;
}

/* `may` are the codes of fields that may be others, or left away. */
static void holds_of_fields(pgw_slice body, pgw_slice shown, const char *may)
{
    for (pgw_slice field; (field = next_field(&body)).len > 0;) {
        pgw_slice rest = shown, other = next_field(&rest);
        bool there = other.len > 0 && other.ptr[0] == field.ptr[0];
        if (there)
            shown = rest;
        word_deleted_holds((there && pgw_slice_eq(field, other)) ||
                               strchr(may, field.ptr[0]) != NULL,
                           "a field that names neither the hash nor a place is as it was");
    }
    word_deleted_holds(shown.len == 1 && shown.ptr[0] == '\0',
                       "what is shown is fields in their order, and an end");
}

static void holds_of_detail(pgw_slice body, pgw_slice shown)
{
    pgw_slice before = pgw_error_field(body, 'D'), behind = pgw_error_field(shown, 'D');
    word_deleted_holds(behind.len <= before.len, "a detail is never longer");
}

static void holds_of_position(pgw_slice shown)
{
    pgw_slice position = pgw_error_field(shown, 'P');
    for (size_t i = 0; changed != 'P' && i < position.len; i++)
        word_deleted_holds(position.ptr[i] >= '0' && position.ptr[i] <= '9',
                           "a position is a number");
}

static void judge_shown(pgw_slice body, const rw_sent *sent, const any_tables *by, pgw_buf *out)
{
    pgw_buf shown = {0};
    size_t begun = out->len;
    rw_hide_error(body, sent, out);
    pgw_slice hidden = {out->ptr + begun, out->len - begun};
    holds_of_fields(body, hidden, "DHPW");
    holds_of_detail(body, hidden);
    holds_of_position(hidden);
    const rw_table *table = rw_part_table(by->pointers, TEST_TABLE_COUNT, body);
    if (rw_hint_hide(by->pointers, TEST_TABLE_COUNT, body, &shown))
        holds_of_fields(body, pgw_slice_buf(&shown), "H");
    else
        word_deleted_holds(shown.len == 0, "without a hint that is hidden nothing is written");
    pgw_buf_add_str(out, table != NULL ? table->name : "-");
    pgw_buf_add_slice(out, pgw_slice_buf(&shown));
    pgw_buf_clear(&shown);
    if (rw_part_names(by->pointers, TEST_TABLE_COUNT, body, &shown)) {
        holds_of_fields(body, pgw_slice_buf(&shown), "Mstn");
        word_deleted_holds(table != NULL, "names of partitions are those of a configured table");
    } else
        word_deleted_holds(shown.len == 0, "without a partition's name nothing is written");
    pgw_buf_add_slice(out, pgw_slice_buf(&shown));
    for (size_t i = begun; i < out->len; i++)
        out->ptr[i] = out->ptr[i] == '\0' ? '\n' : out->ptr[i];
    pgw_buf_free(&shown);
}

static void judge(pgw_slice text, pgw_buf *out)
{
    enum { TIMES = 3 };
    for (int time = 0; time < TIMES; time++) {
        pgw_buf body = {0};
        unsigned number = error_count++ * 7;
        for (size_t i = 0; i < FIELDS; i++)
            if (fields[i].code == changed)
                add_field(changed, text, &body);
            else if ((number >> i) % 5 != 4)
                add_field(fields[i].code, pgw_slice_str(field_text(i, number >> i)), &body);
        pgw_buf_add_byte(&body, '\0');
        judge_shown(pgw_slice_buf(&body), &ways[number % way_count], &tables[number % ROUNDS], out);
        pgw_buf_free(&body);
    }
}

static void every_text_holds(void **state)
{
    (void)state;
    vectors it = {.file = fopen(VECTORS "/hide.txt", "r")};
    assert_non_null(it.file);
    set_up();
    changed = 'D';
    while (vectors_next(&it, 4))
        word_deleted_bytes(pgw_slice_str(it.field[3]), judge);
    fclose(it.file);
    for (size_t i = 0; i < FIELDS; i++)
        for (size_t k = 0; k < 8 && fields[i].texts[k] != NULL; k++) {
            changed = fields[i].code;
            word_deleted_bytes(pgw_slice_str(fields[i].texts[k]), judge);
        }
    pgw_arena_free(&arena);
    assert_in_range(word_deleted_count, 5000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
