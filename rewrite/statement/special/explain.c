#include "rewrite/statement/special/explain.h"

#include "rewrite/hash/hash.h"
#include "rewrite/hash/partition.h"
#include "rewrite/insert/answers.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"
#include "rewrite/insert/returned.h"
#include "rewrite/insert/typed.h"
#include "rewrite/statement/script/conditions.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/special/told_session.h"
#include "rewrite/statement/special/unspread.h"

/* One INSERT's rows, as far as they can be known without parameters. */
typedef struct row_keys {
    uint64_t *hashes;
    uint32_t *partitions;
    bool *by_parameter;
    bool parameters; /* the hash of some row depends on a parameter */
    bool unhashed;   /* a hash cannot be computed, and the table has rows forwarded then */
} row_keys;

static void add_line(pgw_buf *out, const char *key, pgw_slice value)
{
    pgw_buf_addf(out, "%s: ", key);
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '\\')
            pgw_buf_add_str(out, "\\\\");
        else if (c == '\n')
            pgw_buf_add_str(out, "\\n");
        else if (c == '\r')
            pgw_buf_add_str(out, "\\r");
        else
            pgw_buf_add_byte(out, c);
    }
    pgw_buf_add_byte(out, '\n');
}

static void add_text_line(pgw_buf *out, const char *key, const char *value)
{
    add_line(out, key, pgw_slice_str(value));
}

static void add_error(pgw_buf *out, const pgw_error *error)
{
    pgw_buf line = {0};
    pgw_buf_addf(&line, "%s %s", error->sqlstate, error->message);
    add_line(out, "error", pgw_slice_buf(&line));
    pgw_buf_free(&line);
    if (error->detail[0] != '\0')
        add_text_line(out, "detail", error->detail);
    if (error->hint[0] != '\0')
        add_text_line(out, "hint", error->hint);
}

static const char *why_not(rw_blocker blocker)
{
    switch (blocker) {
    case RW_BATCHABLE:
        return "yes";
    case RW_BLOCKER_RETURNING:
        return "no, because RETURNING shows more than columns";
    case RW_BLOCKER_SEQUENCE:
        return "no, because it draws from a sequence, which is bound to the session";
    case RW_BLOCKER_TRIGGER:
        return "no, because the table has triggers, rules or row security, or checks that may "
               "change a session";
    case RW_BLOCKER_EXPRESSION:
        return "no, because a value is more than constants, parameters, casts and simple functions";
    case RW_BLOCKER_UNCOMPUTABLE:
        return "no, because its hash cannot be computed";
    case RW_BLOCKER_FORM:
        return "no, because rows cannot be added to a statement of this form";
    }
    return "no";
}

/* What it does to a transaction that is kept until COMMIT. */
static const char *in_transaction(const rw_insert *insert, bool batchable, const pgw_env *env)
{
    if (!batchable)
        return "made ordinary, because it is not batchable";
    if (insert->returning > 0 && !rw_insert_returns_key(insert, env))
        return "made ordinary, because it returns more than columns of its key";
    if (insert->returning == 0 && !insert->values_merge)
        return "made ordinary, because rows of it may be left out";
    if (insert->reads_clock)
        return "made ordinary, because it asks for the time of the statement";
    if (insert->wanted_count > 0)
        return insert->table->block > 0 ? "kept until COMMIT, if a number is drawn ahead"
                                        : "made ordinary, because the database makes its key";
    return "kept until COMMIT";
}

/* What the statement itself says, and if that is nothing against it, what its session does; and
 * what its transaction becomes, where the table says lazy. */
static void add_batchable(const rw_insert *insert, const char *by_itself, const rw_catalog *catalog,
                          const pgw_env *env, pgw_buf *out)
{
    pgw_buf why = {0};
    pgw_buf_add_str(&why, "no, because ");
    size_t begun = why.len;
    if (by_itself[0] == 'y' && catalog->hinders != NULL)
        catalog->hinders(catalog->session, insert, &why);
    add_line(out, "batchable", why.len > begun ? pgw_slice_buf(&why) : pgw_slice_str(by_itself));
    pgw_buf_free(&why);
    if (insert->table->lazy)
        add_text_line(out, "transaction", in_transaction(insert, by_itself[0] == 'y', env));
}

/* --- INSERT --- */

/* Whether a parameter decides the hash of this row, and nothing that cannot be computed at all. */
static bool needs_parameter(const rw_insert *insert, size_t row)
{
    const rw_table *table = insert->table;
    bool parameter = insert->rows[row].hash_cell->kind == RW_CELL_PARAM;
    for (size_t i = 0; i < table->primary_key_count; i++) {
        const rw_cell *cell = &insert->rows[row].key[i];
        bool hashed = false;
        for (size_t k = 0; k < table->hash_key_count; k++)
            hashed |= table->hash_key[k] == table->primary_key[i];
        bool omitted = cell->kind == RW_CELL_ABSENT || cell->kind == RW_CELL_DEFAULT;
        if (hashed && (cell->kind == RW_CELL_EXPRESSION ||
                       (omitted && !rw_table_defaults_to_null(table, table->primary_key[i]))))
            return false;
        parameter |= hashed && cell->kind == RW_CELL_PARAM;
    }
    return parameter;
}

static bool read_rows(const rw_insert *insert, const pgw_reading *reading, row_keys *out)
{
    pgw_arena *arena = reading->arena;
    out->hashes = pgw_arena_alloc(arena, insert->row_count * sizeof *out->hashes);
    out->partitions = pgw_arena_alloc(arena, insert->row_count * sizeof *out->partitions);
    out->by_parameter = pgw_arena_alloc(arena, insert->row_count * sizeof *out->by_parameter);
    for (size_t i = 0; i < insert->row_count; i++) {
        rw_key key = {0};
        pgw_verdict verdict = rw_insert_key(insert, i, RW_NO_PARAMS, reading, &key);
        out->hashes[i] = key.hash;
        out->partitions[i] = key.partition;
        if (verdict == PGW_KNOWN)
            continue;
        if (verdict == PGW_UNKNOWABLE && needs_parameter(insert, i))
            out->by_parameter[i] = out->parameters = true;
        else if (verdict == PGW_UNKNOWABLE && insert->table->forward_uncomputable)
            out->unhashed = true;
        else
            return false;
    }
    return true;
}

static void add_rows(const rw_insert *insert, const row_keys *keys, pgw_buf *out)
{
    pgw_buf hashes = {0}, partitions = {0};
    for (size_t i = 0; i < insert->row_count && !keys->unhashed; i++) {
        pgw_buf_add_str(&hashes, i > 0 ? ", " : "");
        pgw_buf_add_str(&partitions, i > 0 ? ", " : "");
        if (keys->by_parameter[i]) {
            pgw_buf_add_str(&hashes, "per parameter");
            pgw_buf_add_str(&partitions, "per parameter");
        } else {
            rw_hash_print(insert->table, keys->hashes[i], &hashes);
            pgw_buf_addf(&partitions, "%u", (unsigned)keys->partitions[i]);
        }
    }
    add_line(out, "hash", keys->unhashed ? PGW_LITERAL("-") : pgw_slice_buf(&hashes));
    add_line(out, "partition", keys->unhashed ? PGW_LITERAL("-") : pgw_slice_buf(&partitions));
    pgw_buf_free(&hashes);
    pgw_buf_free(&partitions);
}

/* Why an INSERT whose key is asked for first is not batched. */
static const char *why_not_asked(const rw_insert *asked, rw_blocker blocker)
{
    bool expression = false, parameters = false;
    for (size_t i = 0; i < asked->wanted_count; i++) {
        expression |= asked->wanted[i].expression && !asked->wanted[i].draws;
        parameters |= asked->wanted[i].parameters;
    }
    if (blocker != RW_BATCHABLE || !expression)
        return why_not(blocker);
    return parameters ? "no, because its key is asked for in its transaction"
                      : "yes; no where it is prepared, for its key is asked for in its transaction";
}

/* Explains what the INSERT becomes once the backend has told its key. */
static bool explain_asked(const rw_insert *insert, const rw_catalog *catalog, const pgw_env *env,
                          pgw_arena *arena, pgw_buf *out)
{
    rw_filled filled;
    rw_insert *whole;
    pgw_error error;
    rw_fill_parameters(insert, insert->param_count + 1, arena, &filled);
    if (!rw_insert_parse(filled.text, catalog, env, arena, &whole, &error) || whole == NULL)
        return false;
    rw_question question;
    pgw_buf rewritten = {0};
    rw_question_of(insert, false, arena, &question);
    rw_keep_expressions(insert, &filled, arena, whole);
    rw_render_statement(whole, RW_HASH_PARAMETER, NULL, &rewritten);
    add_line(out, "asked", question.sql);
    add_line(out, "rewritten", pgw_slice_buf(&rewritten));
    pgw_buf_free(&rewritten);
    const rw_table *table = insert->table;
    add_text_line(out, "table", pgw_arena_printf(arena, "%s.%s", table->schema, table->name));
    add_text_line(out, "hash", "per answer");
    add_text_line(out, "partition", "per answer");
    add_batchable(insert, why_not_asked(insert, whole->blocker), catalog, env, out);
    return true;
}

static void explain_insert(const rw_statement *statement, const rw_catalog *catalog,
                           const pgw_env *env, pgw_arena *arena, pgw_buf *out)
{
    const rw_insert *insert = statement->insert;
    if (insert->wanted_count > 0 && explain_asked(insert, catalog, env, arena, out))
        return;
    row_keys keys = {.unhashed = insert->blocker == RW_BLOCKER_UNCOMPUTABLE};
    pgw_error error = PGW_ERROR_NONE;
    if (!read_rows(insert, &(pgw_reading){env, arena, &error}, &keys)) {
        add_error(out, &error);
        return;
    }
    pgw_buf rewritten = {0};
    if (keys.unhashed && insert->blocker != RW_BLOCKER_UNCOMPUTABLE)
        pgw_buf_add_slice(&rewritten, insert->text);
    else if (keys.parameters)
        rw_render_statement(insert, RW_HASH_PARAMETER, NULL, &rewritten);
    else
        rw_render_statement(insert, RW_HASH_CONSTANT, keys.hashes, &rewritten);
    add_line(out, "rewritten", pgw_slice_buf(&rewritten));
    pgw_buf_free(&rewritten);
    const rw_table *table = insert->table;
    add_text_line(out, "table", pgw_arena_printf(arena, "%s.%s", table->schema, table->name));
    if (insert->query) {
        add_text_line(out, "hash", "computed by the server for each row");
        add_text_line(out, "partition", "per row");
    } else {
        add_rows(insert, &keys, out);
    }
    add_batchable(insert, why_not(keys.unhashed ? RW_BLOCKER_UNCOMPUTABLE : insert->blocker),
                  catalog, env, out);
}

/* --- the others --- */

/* What is put into a statement that asks for rows by their key, or shows them. */
static void read_conditions(pgw_slice text, const rw_statement *statement,
                            const pgw_reading *reading, rw_conditions *out)
{
    rw_prepared prepared = {text, {NULL, 0}, rw_highest_parameter(text, reading->env->conforming)};
    rw_conditions_of(statement, &prepared, reading, out);
}

/* What a key of a lookup hashes to, and where such a row is. */
static void add_key(const rw_lookup *lookup, size_t key, const pgw_reading *reading,
                    pgw_buf *hashes, pgw_buf *partitions)
{
    uint64_t hash;
    if (rw_lookup_is_bound(lookup, key)) {
        pgw_buf_add_str(hashes, "per parameter");
        pgw_buf_add_str(partitions, "per parameter");
    } else if (rw_lookup_hash(lookup, key, RW_NO_PARAMS, reading, &hash) == PGW_KNOWN) {
        rw_hash_print(lookup->table, hash, hashes);
        pgw_buf_addf(partitions, "%u", (unsigned)rw_partition_of(lookup->table, hash));
    }
}

static void add_lookup(const rw_lookup *lookup, const pgw_reading *reading, pgw_buf *hashes,
                       pgw_buf *partitions)
{
    if (lookup->keys == 0) {
        pgw_buf_addf(hashes, "per row of %s.%s", lookup->other->schema, lookup->other->name);
        pgw_buf_add_str(partitions, "per row");
    }
    for (size_t key = 0; key < lookup->keys; key++) {
        pgw_buf_add_str(hashes, key > 0 ? ", " : "");
        pgw_buf_add_str(partitions, key > 0 ? ", " : "");
        add_key(lookup, key, reading, hashes, partitions);
    }
}

/* Adds the lines of all lookups; a semicolon stands between lookups. */
static void add_lookups(const rw_conditions *conditions, const pgw_reading *reading, pgw_buf *out)
{
    pgw_buf tables = {0}, hashes = {0}, partitions = {0};
    for (size_t i = 0; i < conditions->lookup_count; i++) {
        const rw_lookup *lookup = conditions->lookups[i];
        const char *joint = i > 0 ? "; " : "";
        pgw_buf_addf(&tables, "%s%s.%s", joint, lookup->table->schema, lookup->table->name);
        pgw_buf_add_str(&hashes, joint);
        pgw_buf_add_str(&partitions, joint);
        add_lookup(lookup, reading, &hashes, &partitions);
    }
    add_line(out, "table", pgw_slice_buf(&tables));
    add_line(out, "hash", pgw_slice_buf(&hashes));
    add_line(out, "partition", pgw_slice_buf(&partitions));
    pgw_buf_free(&tables);
    pgw_buf_free(&hashes);
    pgw_buf_free(&partitions);
}

/* How many partitions the configuration cuts a table into; 1: none that are known. */
static uint32_t parts_of(const rw_table *table)
{
    return table->partitions.kind == RW_PARTITION_BUCKETS ? 1 : table->partitions.count;
}

static void say_key(const rw_read *read, const rw_lookup *by, uint32_t parts, pgw_buf *out)
{
    size_t most = by->keys < parts ? by->keys : parts;
    const char *rows = read->row ? "row" : "key";
    if (by->keys == 0)
        pgw_buf_addf(out, "a seek for each row of %s.%s", by->other->schema, by->other->name);
    else if (by->array > 0)
        pgw_buf_addf(out, "a seek for each value of an array (at most %u partitions)", parts);
    else if (by->keys == 1)
        pgw_buf_addf(out, "%s (one partition)", read->row ? "one row" : "the rows of one key");
    else
        pgw_buf_addf(out, "%zu seeks, one a %s (at most %zu partition%s)", by->keys, rows, most,
                     most == 1 ? "" : "s");
}

static void say_read(const rw_table *table, const rw_read *read, const rw_conditions *conditions,
                     pgw_buf *out)
{
    const rw_lookup *by;
    uint32_t parts = parts_of(table);
    rw_read_kind kind = rw_read_is(read, conditions->lookups, conditions->lookup_count, &by);
    pgw_buf_addf(out, "%s.%s: ", table->schema, table->name);
    if (kind == RW_READ_KEY)
        say_key(read, by, parts, out);
    else if (kind == RW_READ_SCAN)
        pgw_buf_add_str(out, "the whole table");
    else if (read->buckets > 0)
        pgw_buf_addf(out, "%u seeks, one a bucket", read->buckets);
    else if (parts == 1)
        pgw_buf_add_str(out, "one seek");
    else
        pgw_buf_addf(out, "%u seeks, one a partition", parts);
}

/* What would spare the reading of a whole table. */
static void say_help(const rw_table *table, const rw_read *read, pgw_buf *out)
{
    const char *key = table->columns[table->primary_key[0]].name;
    const char *asked = read->asked > 0 ? table->columns[read->asked - 1].name : NULL;
    pgw_buf_addf(out, "%s.%s: ", table->schema, table->name);
    if (asked == NULL)
        pgw_buf_addf(out, "a condition on %s, or its order and LIMIT", key);
    else if (read->asked - 1 == table->primary_key[0] && rw_table_has_ranges(table))
        pgw_buf_addf(out, "a condition on %s alone, or its order and LIMIT", key);
    else if (read->asked - 1 == table->primary_key[0] && rw_table_begins_with_hash(table))
        pgw_buf_addf(out,
                     "%s in front of the hash in the key (before PostgreSQL, key_order: hash_last; "
                     "before YDB, hash_buckets)",
                     key);
    else
        pgw_buf_addf(out, "an index that begins with %s, or a condition on %s", asked, key);
}

static void add_reads(const rw_statement *statement, const rw_conditions *conditions,
                      const rw_catalog *catalog, pgw_buf *out)
{
    pgw_buf reads = {0}, help = {0};
    for (uint32_t i = 0; statement->reads != NULL && i < statement->reads->count; i++) {
        const rw_lookup *by;
        const rw_read *read = &statement->reads->reads[i];
        const rw_table *table = catalog->tables[read->table];
        pgw_buf_add_str(&reads, i > 0 ? "; " : "");
        say_read(table, read, conditions, &reads);
        if (rw_read_is(read, conditions->lookups, conditions->lookup_count, &by) != RW_READ_SCAN)
            continue;
        pgw_buf_add_str(&help, help.len > 0 ? "; " : "");
        say_help(table, read, &help);
    }
    if (reads.len > 0)
        add_line(out, "reads", pgw_slice_buf(&reads));
    if (help.len > 0)
        add_line(out, "help", pgw_slice_buf(&help));
    pgw_buf_free(&reads);
    pgw_buf_free(&help);
}

static void add_where(const rw_statement *statement, const rw_conditions *conditions,
                      const pgw_reading *reading, pgw_buf *out)
{
    const rw_table *table = statement->change != NULL ? statement->change->table : NULL;
    if (table == NULL && conditions->lookup_count > 0) {
        add_lookups(conditions, reading, out);
        return;
    }
    add_text_line(out, "table",
                  table != NULL
                      ? pgw_arena_printf(reading->arena, "%s.%s", table->schema, table->name)
                      : "-");
    add_text_line(out, "hash", table != NULL ? "computed by the server for each row" : "-");
    add_text_line(out, "partition", table != NULL ? "per row" : "-");
}

/* Explains why a table whose name is of a pattern is not spread. */
static void explain_unspread(pgw_slice text, const rw_statement *statement,
                             const rw_catalog *catalog, const pgw_env *env, pgw_arena *arena,
                             pgw_buf *out)
{
    pgw_buf why = {0};
    if (statement->unspread != NULL)
        pgw_buf_addf(&why, "its name is of a pattern, but %s", statement->unspread);
    else if (!statement->defines)
        rw_unspread_say(text, catalog, env, arena, &why);
    if (why.len > 0)
        add_line(out, "not spread", pgw_slice_buf(&why));
    pgw_buf_free(&why);
}

static void explain_copy(const rw_table *table, pgw_arena *arena, pgw_buf *out)
{
    add_text_line(out, "table", pgw_arena_printf(arena, "%s.%s", table->schema, table->name));
    add_text_line(out, "hash", "per row");
    add_text_line(out, "partition", "per row");
    add_text_line(out, "batchable", "no, because COPY stores all of its rows or none");
}

static void explain_forward(pgw_slice text, const rw_statement *statement,
                            const rw_catalog *catalog, const pgw_reading *reading, pgw_buf *out)
{
    if (statement->before.len > 0)
        add_line(out, "before", statement->before);
    rw_conditions conditions;
    pgw_buf rewritten = {0};
    read_conditions(text, statement, reading, &conditions);
    rw_conditions_render(&conditions, text, &rewritten);
    add_line(out, "rewritten", pgw_slice_buf(&rewritten));
    pgw_buf_free(&rewritten);
    if (statement->behind.len > 0)
        add_line(out, "behind", statement->behind);
    for (size_t i = 0; i < statement->same_count; i++)
        add_text_line(out, "only if",
                      pgw_arena_printf(reading->arena, "$%u has the value of $%u",
                                       statement->same[i].set, statement->same[i].where));
    if (statement->copy != NULL) {
        explain_copy(statement->copy->table, reading->arena, out);
        return;
    }
    add_where(statement, &conditions, reading, out);
    add_reads(statement, &conditions, catalog, out);
    add_text_line(out, "batchable",
                  "no, because it is not an INSERT of rows that keyspread gives a hash");
}

void rw_explain(pgw_slice text, const rw_catalog *asked, const pgw_env *env, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error;
    rw_script script;
    rw_told_session told = {0};
    rw_catalog by_text = *asked;
    if (asked->hinders == NULL) {
        by_text.hinders = rw_told_hinders;
        by_text.session = &told;
    }
    const rw_catalog *catalog = &by_text;
    rw_script_parse(text, catalog, env, NULL, &arena, &script);
    for (size_t i = 0; i < script.count; i++) {
        const rw_statement *statement = &script.statements[i];
        pgw_slice original = rw_statement_text(statement, text);
        add_line(out, "original", original);
        if (statement->kind == RW_STATEMENT_REFUSED)
            add_error(out, statement->error);
        else if (statement->kind == RW_STATEMENT_INSERT)
            explain_insert(statement, catalog, env, &arena, out);
        else
            explain_forward(original, statement, catalog, &(pgw_reading){env, &arena, &error}, out);
        if (statement->kind == RW_STATEMENT_FORWARD)
            explain_unspread(original, statement, catalog, env, &arena, out);
        rw_told_note(statement, original, &told);
        pgw_buf_add_str(out, "---\n");
    }
    pgw_arena_free(&arena);
}
