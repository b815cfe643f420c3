#define _GNU_SOURCE
#include "proxy/client/answer/errors.h"

#include "protocol/utf8.h"
#include "protocol/frame.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/backend/base/classify.h"
#include "rewrite/hash/hash_sql.h"
#include "rewrite/hash/xxh3_sql.h"
#include "rewrite/insert/render.h"
#include "rewrite/lex/quote.h"
#include "rewrite/statement/define/referable.h"
#include "rewrite/statement/errors/hide.h"
#include "rewrite/statement/errors/hint.h"
#include "rewrite/statement/errors/part_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- positions ---- */

static size_t error_position(pgw_slice body)
{
    pgw_slice field = pgw_error_field(body, 'P');
    size_t position = 0;
    for (size_t i = 0; i < field.len && position < 1u << 30; i++)
        position = position * 10 + (size_t)(field.ptr[i] - '0');
    return position;
}

/* Where the statements begin in the text that was sent, in characters before them. It was not kept,
 * for errors are rare. */
static size_t *sent_positions(const px_text *text)
{
    pgw_buf sent = {0};
    size_t *at = pgw_calloc(text->script.count, sizeof *at);
    px_text_render(text, at, &sent);
    size_t byte = 0, characters = 0;
    for (size_t i = 0; i < text->script.count; i++) {
        pgw_slice between = {sent.ptr + byte, at[i] - byte};
        characters += pgw_characters(between, between.len, text->script.utf8);
        byte = at[i];
        at[i] = characters;
    }
    pgw_buf_free(&sent);
    return at;
}

/* The statement of a text that an error is about: by its position if it has one. */
static size_t statement_of(const px_text *text, const size_t *sent_at, size_t position, size_t at)
{
    if (position == 0)
        return at < text->script.count ? at : text->script.count - 1;
    size_t found = 0;
    for (size_t i = 1; i < text->script.count; i++)
        if (sent_at[i] < position)
            found = i;
    return found;
}

/* ---- the server's errors ---- */

bool px_error_changed(const char *table, pgw_slice body, pgw_error *error)
{
    if (!px_error_is_changed(body))
        return false;
    pgw_fail(error, "40001", "the columns of table \"%s\" were changed by somebody else", table);
    pgw_error_hint(error, "Send the transaction again.");
    return true;
}

void px_error_count_rows(pgw_error *error, size_t committed, size_t rows)
{
    pgw_error_detail(error, "%zu of %zu rows are committed.", committed, rows);
}

/* Whether a key that a query gave is longer than what can be hashed in SQL. */
static bool is_too_long(const char *table, pgw_slice body, pgw_error *error)
{
    pgw_slice decoded = pgw_error_field(body, 'M'), mark = PGW_LITERAL(RW_KEY_TOO_LONG);
    if (decoded.len == 0 || memmem(decoded.ptr, decoded.len, mark.ptr, mark.len) == NULL)
        return false;
    pgw_fail(error, "0A000",
             "cannot compute the hash of table \"%s\": a key that the server computes is longer "
             "than %d bytes",
             table, RW_XXH3_SQL_MOST);
    pgw_error_hint(error, "Read the rows first, then send them with INSERT … VALUES.");
    return true;
}

/* Whether the error stands in what was put into the statement. */
static bool is_put_in(const rw_sent *sent, size_t position)
{
    bool put_in = false;
    if (position > sent->rendered_before)
        rw_render_offset(sent->insert, sent->form, sent->hashes, position - sent->rendered_before,
                         &put_in);
    return put_in;
}

/* Where the client wrote what the hash is computed of first; 0: that is not known. */
static size_t first_of_key(const rw_sent *sent, size_t position)
{
    size_t there = rw_render_position(sent->insert, sent->form, sent->hashes,
                                      position - sent->rendered_before);
    return there > 0 ? sent->before + there : 0;
}

/* Whether the error says "cannot cast type … to" the column's type; then `error` says it as for an
 * assignment. */
static bool cannot_be_cast(const rw_column *column, pgw_slice body, pgw_error *error)
{
    pgw_slice decoded = pgw_error_field(body, 'M'), head = PGW_LITERAL("cannot cast type ");
    if (decoded.len <= head.len || memcmp(decoded.ptr, head.ptr, head.len) != 0)
        return false;
    const char *from = decoded.ptr + head.len, *end = decoded.ptr + decoded.len;
    const char *to = memmem(from, (size_t)(end - from), " to ", 4);
    if (to == NULL ||
        !pgw_slice_eq_str((pgw_slice){to + 4, (size_t)(end - to) - 4}, pgw_type_name(column->type)))
        return false;
    pgw_fail(error, "42804", "column \"%s\" is of type %s but expression is of type %.*s",
             column->name, pgw_type_name(column->type), (int)(to - from), from);
    pgw_error_hint(error, "You will need to rewrite or cast the expression.");
    return true;
}

/* Whether what a query gives cannot be cast to be hashed. It cannot be stored in its column,
 * either, as PostgreSQL would have said. */
static bool is_of_another_type(const rw_sent *sent, pgw_slice body, pgw_error *error)
{
    const rw_table *table = sent->insert->table;
    size_t position = error_position(body);
    if (!pgw_slice_eq_str(pgw_error_field(body, 'C'), "42846") || !is_put_in(sent, position))
        return false;
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (cannot_be_cast(&table->columns[table->hash_key[i]], body, error)) {
            error->position = i == 0 ? first_of_key(sent, position) : 0;
            return true;
        }
    return false;
}

static void add_own(const pgw_error *error, pgw_buf *out)
{
    pgw_buf message = {0};
    pgw_error_write(error, "ERROR", &message);
    pgw_buf_add(out, message.ptr + PGW_HEADER, message.len - PGW_HEADER);
    pgw_buf_free(&message);
}

/* Writes an error that keyspread's own words replace, as a body; false: the error is none of these.
 */
static bool tell_own(const rw_sent *sent, pgw_slice body, pgw_buf *out)
{
    pgw_error error;
    const rw_insert *insert = sent->insert;
    if (insert == NULL || (!px_error_changed(insert->table->name, body, &error) &&
                           !((insert->query || insert->new_key > 0) &&
                             (is_too_long(insert->table->name, body, &error) ||
                              is_of_another_type(sent, body, &error)))))
        return false;
    add_own(&error, out);
    return true;
}

/* Whether the new key cannot be cast to be hashed, and so cannot be stored in its column, either.
 */
static bool is_unassignable(const rw_key_change *change, const rw_sent *sent, pgw_slice body,
                            pgw_error *error)
{
    size_t position = error_position(body);
    if (!pgw_slice_eq_str(pgw_error_field(body, 'C'), "42846") ||
        position <= sent->rendered_before ||
        !rw_conditions_put_in(sent->conditions, sent->text, position - sent->rendered_before,
                              sent->utf8))
        return false;
    for (size_t i = 0; i < change->value_count; i++) {
        const rw_new_value *value = &change->values[i];
        if (!cannot_be_cast(value->column, body, error))
            continue;
        error->position = sent->before + pgw_characters(sent->text, value->at, sent->utf8) + 1;
        return true;
    }
    return false;
}

/* Whether the new key holds what VALUES does not allow, of which its client need not know. */
static bool is_not_allowed(const rw_sent *sent, pgw_slice body, pgw_error *error)
{
    static const char *const codes[] = {"42803", "42P20", "0A000"};
    pgw_slice decoded = pgw_error_field(body, 'M'),
              tail = PGW_LITERAL(" are not allowed in VALUES");
    bool one = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        one = one || pgw_slice_eq_str(pgw_error_field(body, 'C'), codes[i]);
    if (!one || decoded.len <= tail.len || rw_text_mentions(sent->text, "values") ||
        memcmp(decoded.ptr + decoded.len - tail.len, tail.ptr, tail.len) != 0)
        return false;
    pgw_error_read(body, error);
    snprintf(error->message, sizeof error->message, "%.*s are not allowed in UPDATE",
             (int)(decoded.len - tail.len), decoded.ptr);
    error->position = sent->before + rw_conditions_position(
                                         sent->conditions, sent->text,
                                         error_position(body) - sent->rendered_before, sent->utf8);
    return true;
}

/* Writes an error of a statement that changes a key as it would be without keyspread; false: the
 * error is none of these. */
static bool tell_of_change(const rw_key_change *change, const rw_sent *sent, pgw_slice body,
                           pgw_buf *out)
{
    pgw_error error;
    const rw_table *table = change != NULL ? change->table : NULL;
    if (table == NULL ||
        (!px_error_changed(table->name, body, &error) && !is_too_long(table->name, body, &error) &&
         !is_unassignable(change, sent, body, &error) && !is_not_allowed(sent, body, &error)))
        return false;
    add_own(&error, out);
    return true;
}

void px_error_of_text(const px_text *text, size_t at, pgw_slice body, pgw_buf *out)
{
    size_t *sent_at = sent_positions(text);
    at = statement_of(text, sent_at, error_position(body), at);
    const rw_statement *statement = &text->script.statements[at];
    size_t before = px_text_before(text, at);
    const rw_table *table = NULL;
    if (statement->insert == NULL)
        table = rw_part_table((const rw_table *const *)text->catalog->tables, text->catalog->count,
                              body);
    rw_sent sent = {.insert = statement->insert,
                    .table = table,
                    .form = RW_HASH_CONSTANT,
                    .hashes = text->hashes[at],
                    .filled = text->filled != NULL ? text->filled[at] : NULL,
                    .conditions = &text->conditions[at],
                    .text = rw_statement_text(statement, text->text),
                    .utf8 = text->script.utf8,
                    .before = before,
                    .rendered_before = sent_at[at]};
    if (!tell_own(&sent, body, out) && !tell_of_change(statement->change, &sent, body, out))
        rw_hide_error(body, &sent, out);
    free(sent_at);
}

static void error_of(const px_plan *plan, const rw_insert *sent, pgw_slice body, pgw_buf *out)
{
    rw_sent as = {.insert = sent,
                  .form = plan->form,
                  .hashes = plan->hashes,
                  .filled = plan->filled,
                  .asked = plan->asked != NULL ? plan->asked->wanted_count : 0};
    if (!tell_own(&as, body, out))
        rw_hide_error(body, &as, out);
}

void px_error_of_lookups(const px_lookups *lookups, pgw_slice body, pgw_buf *out)
{
    rw_sent sent = px_lookups_sent(lookups);
    if (!tell_of_change(&lookups->change, &sent, body, out))
        rw_hide_error(body, &sent, out);
}

void px_error_of_kept(const px_kept_statement *statement, size_t number, pgw_slice body,
                      pgw_buf *out)
{
    pgw_buf placed = {0};
    px_kept_place(number, body, &placed);
    if (statement->text != NULL)
        px_error_of_text(statement->text, statement->at, pgw_slice_buf(&placed), out);
    else
        px_error_of_plan(statement->plan, pgw_slice_buf(&placed), out);
    pgw_buf_free(&placed);
}

void px_error_of_plan(const px_plan *plan, pgw_slice body, pgw_buf *out)
{
    error_of(plan, plan->insert, body, out);
}

void px_error_of_portal(const px_plan *plan, pgw_slice portal, pgw_slice body, pgw_buf *out)
{
    pgw_buf hidden = {0};
    error_of(plan, plan->batched, body, &hidden);
    pgw_slice all = pgw_slice_buf(&hidden), context = pgw_error_field(all, 'W');
    pgw_slice name = PGW_LITERAL("unnamed portal");
    const char *at = context.len > 0 ? memmem(context.ptr, context.len, name.ptr, name.len) : NULL;
    size_t before = at != NULL && portal.len > 0 ? (size_t)(at - all.ptr) : all.len;
    pgw_buf_add(out, all.ptr, before);
    if (before < all.len) {
        pgw_buf_addf(out, "portal \"%.*s\"", (int)portal.len, portal.ptr);
        pgw_buf_add(out, at + name.len, all.len - before - name.len);
    }
    pgw_buf_free(&hidden);
}

/* ---- the guard ---- */

/* Whether the field is the table's name, or one of its pattern's. */
static bool is_named(const cfg_table *table, pgw_slice name)
{
    size_t len = strlen(table->name);
    return table->pattern ? name.len >= len && memcmp(name.ptr, table->name, len) == 0
                          : pgw_slice_eq_str(name, table->name);
}

/* The message behind the hash column's name, which may begin as a pattern does. */
static pgw_slice behind_column(const cfg_table *table, pgw_slice message)
{
    char column[80];
    int len = snprintf(column, sizeof column, "\"%s\"", table->hash_column);
    const char *at = message.len > 0 ? memmem(message.ptr, message.len, column, (size_t)len) : NULL;
    size_t before = at != NULL ? (size_t)(at - message.ptr) + (size_t)len : 0;
    return (pgw_slice){message.ptr + before, message.len - before};
}

/* Whether NOT NULL of the hash column was violated. In a partition the table's own name stands in
 * the message alone. */
static bool is_null_hash(const cfg_table *table, pgw_slice body)
{
    if (!pgw_slice_eq_str(pgw_error_field(body, 'c'), table->hash_column))
        return false;
    pgw_slice rest = behind_column(table, pgw_error_field(body, 'M'));
    char name[80];
    snprintf(name, sizeof name, "\"%s%s", table->name, table->pattern ? "" : "\"");
    return is_named(table, pgw_error_field(body, 't')) ||
           (rest.len > 0 && memmem(rest.ptr, rest.len, name, strlen(name)) != NULL);
}

/* Whether a row has no hash, so that no partition takes it. */
static bool is_unplaced(const cfg_table *table, pgw_slice body)
{
    char key[80];
    snprintf(key, sizeof key, "(%s) = (null)", table->hash_column);
    pgw_slice detail = pgw_error_field(body, 'D');
    return is_named(table, pgw_error_field(body, 't')) && detail.len > 0 &&
           memmem(detail.ptr, detail.len, key, strlen(key)) != NULL;
}

/* Whether rights on the table were denied. The message about anything else of this name has other
 * words. */
static bool is_denied(const cfg_table *table, pgw_slice body)
{
    char denied[100];
    snprintf(denied, sizeof denied, "permission denied for table %s", table->name);
    return !table->pattern && pgw_slice_eq_str(pgw_error_field(body, 'M'), denied);
}

/* Adds the table that the error is about, as a statement names it: an entry's own name, or, of a
 * pattern, the schema and the name that the server tells. */
static void add_table_name(const cfg_table *table, pgw_slice body, pgw_buf *out)
{
    pgw_slice schema = pgw_error_field(body, 's'), name = pgw_error_field(body, 't');
    if (table->pattern)
        pgw_buf_addf(out, "\"%.*s\".\"%.*s\"", (int)schema.len, schema.ptr, (int)name.len,
                     name.ptr);
    else
        pgw_buf_addf(out, "\"%s\"", table->name);
}

static void add_hint(const cfg_table *table, bool denied, pgw_buf *body)
{
    pgw_buf name = {0};
    add_table_name(table, pgw_slice_buf(body), &name);
    body->len--; /* the NUL behind the last field */
    if (denied)
        pgw_buf_addf(body,
                     "HRights that are granted by column are needed for \"%s\" of \"%s\" as "
                     "well: keyspread writes it.",
                     table->hash_column, table->name);
    else
        pgw_buf_addf(body,
                     "HThe row came without its hash, past keyspread: from a view, a function, a "
                     "trigger or a cascade. Send INSERT … VALUES into %.*s itself through "
                     "keyspread.",
                     (int)name.len, name.ptr);
    pgw_buf_add(body, "\0", 2);
    pgw_buf_free(&name);
}

/* Adds a hint to an error that hash columns cause. True: a row came without its hash. */
static bool add_guard_hint(const cfg_config *config, bool wrote, pgw_buf *body)
{
    pgw_slice all = pgw_slice_buf(body), code = pgw_error_field(all, 'C');
    bool (*is_of)(const cfg_table *, pgw_slice) = pgw_slice_eq_str(code, "23502")   ? is_null_hash
                                                  : pgw_slice_eq_str(code, "23514") ? is_unplaced
                                                  : pgw_slice_eq_str(code, "42501") ? is_denied
                                                                                    : NULL;
    if (is_of == NULL || (is_of == is_denied && !wrote) || pgw_error_field(all, 'H').len > 0)
        return false;
    for (size_t i = 0; i < config->table_count + config->pattern_count; i++)
        if (is_of(&config->tables[i], all)) {
            add_hint(&config->tables[i], is_of == is_denied, body);
            return is_of != is_denied;
        }
    return false;
}

/* Explains an error about what PostgreSQL cannot do with a partitioned table; it names a column
 * that the client need not know. */
static void explain_parts(const px_catalog *catalog, pgw_buf *body)
{
    pgw_slice all = pgw_slice_buf(body), code = pgw_error_field(all, 'C');
    bool limit = pgw_slice_eq_str(code, "0A000") || pgw_slice_eq_str(code, "42809");
    pgw_slice message = pgw_error_field(all, 'M'), detail = pgw_error_field(all, 'D');
    if (!limit || pgw_error_field(all, 'H').len > 0 ||
        memmem(message.ptr, message.len, "partition", 9) == NULL)
        return;
    for (size_t i = 0; i < catalog->count; i++) {
        char name[80];
        const rw_table *table = catalog->tables[i];
        snprintf(name, sizeof name, "\"%s\"", table->name);
        if (!table->in_parts || table->listed ||
            (memmem(message.ptr, message.len, name, strlen(name)) == NULL &&
             (detail.len == 0 || memmem(detail.ptr, detail.len, name, strlen(name)) == NULL)))
            continue;
        pgw_error error;
        pgw_error_read(all, &error);
        error.detail[0] = '\0';
        pgw_error_hint(&error,
                       "Table \"%s\" is in partitions because keyspread's configuration has it "
                       "so. With partitions: { buckets: N } CREATE TABLE makes an ordinary table, "
                       "which takes this.",
                       table->name);
        pgw_buf_clear(body);
        add_own(&error, body);
        return;
    }
}

/* Explains why a foreign key that a function makes (an error with a context) has nothing to refer
 * to: it does not pass through keyspread. */
static void explain_reference(const px_catalog *catalog, pgw_buf *body)
{
    pgw_slice all = pgw_slice_buf(body), message = pgw_error_field(all, 'M');
    if (!pgw_slice_eq_str(pgw_error_field(all, 'C'), "42830") ||
        pgw_error_field(all, 'H').len > 0 || pgw_error_field(all, 'W').len == 0)
        return;
    for (size_t i = 0; i < catalog->count; i++) {
        char name[80];
        const rw_table *table = catalog->tables[i];
        snprintf(name, sizeof name, "\"%s\"", table->name);
        if (table->in_parts || table->unusable != NULL ||
            memmem(message.ptr, message.len, name, strlen(name)) == NULL)
            continue;
        body->len--; /* the NUL behind the last field */
        pgw_buf_addf(
            body,
            "HA foreign key that a function makes does not pass through keyspread. For one "
            "to the key of \"%s\", send before: ALTER TABLE ",
            table->name);
        rw_add_identifier(body, table->name);
        pgw_buf_add_str(body, " ADD ");
        rw_referable_constraint(table, NULL, body);
        pgw_buf_add(body, "\0", 2);
        return;
    }
}

void px_error_of_others(const px_catalog *catalog, pgw_slice body, pgw_buf *out)
{
    rw_sent sent = {0};
    if (catalog != NULL)
        sent.table = rw_part_table((const rw_table *const *)catalog->tables, catalog->count, body);
    if (sent.table != NULL)
        rw_hide_error(body, &sent, out);
    else
        pgw_buf_add_slice(out, body);
}

static bool says_otherwise(const px_catalog *catalog, pgw_slice body, pgw_buf *out)
{
    const rw_table *const *tables = (const rw_table *const *)catalog->tables;
    return rw_part_names(tables, catalog->count, body, out) ||
           rw_hint_hide(tables, catalog->count, body, out);
}

void px_error_explain(px_worker *worker, const px_identity *identity, const px_catalog *catalog,
                      bool wrote, pgw_buf *body)
{
    pgw_buf out = {0};
    /* A row came without its hash: the tables may be others than those that were looked at. */
    if (add_guard_hint(worker->config, wrote, body))
        px_catalog_stale(worker, identity->database, 1);
    if (catalog != NULL)
        explain_parts(catalog, body);
    if (catalog != NULL)
        explain_reference(catalog, body);
    if (catalog != NULL && says_otherwise(catalog, pgw_slice_buf(body), &out)) {
        pgw_buf_clear(body);
        pgw_buf_add_slice(body, pgw_slice_buf(&out));
    }
    pgw_buf_free(&out);
}

/* ---- ours ---- */

/* Whether the server met what stands for something that is refused. */
static bool is_met(pgw_slice body)
{
    pgw_slice message = pgw_error_field(body, 'M');
    return message.len > 0 && memmem(message.ptr, message.len, RW_REFUSAL, strlen(RW_REFUSAL));
}

const pgw_error *px_error_refusal(const px_reply *reply, pgw_slice body)
{
    if (reply == NULL)
        return NULL;
    if (reply->refusal != NULL)
        return pgw_slice_eq_str(pgw_error_field(body, 'C'), "25P02") ? NULL : reply->refusal;
    if (!is_met(body))
        return NULL;
    if (reply->plan != NULL)
        return reply->plan->refusal;
    if (reply->lookups != NULL)
        return reply->lookups->refusal;
    return reply->text != NULL && reply->at < reply->text->script.count
               ? px_text_refusal(reply->text, reply->at)
               : NULL;
}
