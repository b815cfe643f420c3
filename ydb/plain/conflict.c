#include "ydb/plain/conflict.h"

#include "rewrite/lex/lexer_text.h"
#include "ydb/plain/cells.h"
#include "ydb/plain/doubt.h"
#include "ydb/plain/unalias.h"

#include <string.h>

typedef struct reader {
    const rw_subject *subject;
    rw_cursor cursor;
    rw_conflict *out;
} reader;

static bool refuse(reader *read, size_t at, const char *what, const char *hint)
{
    return rw_refuse(read->subject, at, what, hint);
}

/* Refuses what PostgreSQL refuses as well, with its SQLSTATE. */
static bool refuse_as(reader *read, const char *sqlstate, size_t at, const char *what,
                      const char *hint)
{
    refuse(read, at, what, hint);
    memcpy(read->subject->reading->error->sqlstate, sqlstate, sizeof "42601");
    return false;
}

static bool syntax_error(reader *read)
{
    return refuse_as(read, "42601", read->cursor.token.start, "this ON CONFLICT is not understood",
                     "");
}

static bool refuse_column(reader *read, const char *before, pgw_slice name, const char *behind,
                          size_t at)
{
    const char *what =
        pgw_arena_printf(read->subject->reading->arena, "column %s%.*s%s does not exist", before,
                         (int)name.len, name.ptr, behind);
    return refuse_as(read, "42703", at, what, "");
}

/* --- by which columns rows meet --- */

static bool is_key(const reader *read, const rw_field *field)
{
    for (size_t i = 0; i < read->out->key_count; i++)
        if (read->out->keys[i] == field)
            return true;
    return false;
}

static void add_key(reader *read, const rw_field *field)
{
    if (field != NULL && !is_key(read, field))
        read->out->keys[read->out->key_count++] = field;
}

/* Adds the hash column first, because partitions go by it. It is a key only where the statement
 * lists it. */
static void add_hash(reader *read)
{
    const rw_table *table = read->subject->table;
    const rw_field *hash = table == NULL ? NULL : &read->out->values.fields[table->hash_column];
    if (hash != NULL && hash->cell != RW_NO_CELL)
        add_key(read, hash);
}

static void add_primary_key(reader *read)
{
    const rw_table *table = read->subject->table;
    for (size_t i = 0; i < table->primary_key_count; i++)
        add_key(read, &read->out->values.fields[table->primary_key[i]]);
}

/* Reads the names of ON CONFLICT's target, behind '('. */
static bool read_target(reader *read)
{
    rw_cursor *cursor = &read->cursor;
    do {
        if (!rw_cursor_at_name(cursor))
            return refuse(read, cursor->token.start, "this target of ON CONFLICT is not supported",
                          "Write the names of the key's columns.");
        pgw_slice name =
            rw_token_name(cursor->lexer.text, cursor->token, read->subject->reading->arena);
        const rw_field *field = rw_field_named(&read->out->values, name);
        if (field == NULL && read->subject->table != NULL && !rw_cursor_before(cursor, '('))
            return refuse_column(read, "\"", name, "\"", cursor->token.start);
        if (field == NULL)
            return refuse(read, cursor->token.start,
                          "ON CONFLICT needs a value for each column of the key",
                          "List the column behind the table's name.");
        add_key(read, field);
        rw_cursor_advance(cursor);
    } while (rw_cursor_take(cursor, ','));
    return rw_cursor_take(cursor, ')') ||
           refuse(read, cursor->token.start, "this target of ON CONFLICT is not supported",
                  "Write the names of the key's columns.");
}

/* Whether the target is the whole primary key and nothing else: other unique columns are not
 * known. */
static bool check_target(reader *read, size_t at)
{
    const rw_table *table = read->subject->table;
    const rw_field *fields = read->out->values.fields;
    size_t found = 0;
    if (table == NULL)
        return true;
    for (size_t i = 0; i < table->primary_key_count; i++)
        found += is_key(read, &fields[table->primary_key[i]]);
    bool hash = is_key(read, &fields[table->hash_column]);
    if (found == table->primary_key_count && read->out->key_count == found + hash)
        return true;
    return refuse(read, at, "ON CONFLICT is supported for the primary key alone",
                  "Name all columns of the primary key, and no others.");
}

/* Whether the name is the one that PostgreSQL gives the constraint of the primary key. */
static bool is_primary_key(const reader *read, pgw_slice name)
{
    const pgw_slice table = read->subject->clauses->name;
    return name.len == table.len + 5 && memcmp(name.ptr, table.ptr, table.len) == 0 &&
           memcmp(name.ptr + table.len, "_pkey", 5) == 0;
}

static bool read_constraint(reader *read)
{
    rw_cursor *cursor = &read->cursor;
    if (!rw_cursor_take_word(cursor, "constraint") || !rw_cursor_at_name(cursor))
        return syntax_error(read);
    pgw_slice name =
        rw_token_name(cursor->lexer.text, cursor->token, read->subject->reading->arena);
    if (!is_primary_key(read, name) || read->subject->table == NULL)
        return refuse(read, cursor->token.start, "ON CONFLICT ON CONSTRAINT is not supported",
                      "Write the columns of the primary key: ON CONFLICT (…).");
    rw_cursor_advance(cursor);
    add_primary_key(read);
    return true;
}

static bool read_where_rows_meet(reader *read)
{
    rw_cursor *cursor = &read->cursor;
    const size_t at = cursor->token.start;
    add_hash(read);
    if (rw_cursor_take(cursor, '(')) {
        if (!read_target(read))
            return false;
        if (rw_cursor_at_word(cursor, "where"))
            return refuse(read, cursor->token.start, "this target of ON CONFLICT is not supported",
                          "YDB has no partial unique indexes.");
        return check_target(read, at);
    }
    if (rw_cursor_take_word(cursor, "on"))
        return read_constraint(read);
    if (rw_cursor_before_word(cursor, "update"))
        return refuse_as(
            read, "42601", at,
            "ON CONFLICT DO UPDATE requires inference specification or constraint name",
            "For example, ON CONFLICT (column_name).");
    if (read->subject->table == NULL)
        return refuse(read, at, "ON CONFLICT needs the columns of the key here",
                      "Write ON CONFLICT (…), or configure the table.");
    add_primary_key(read);
    return true;
}

/* --- what becomes of them --- */

static bool read_set(reader *read)
{
    static const char where[] = "where";
    rw_cursor *cursor = &read->cursor;
    rw_part *set = &read->out->set;
    if (!rw_cursor_take_word(cursor, "update") || !rw_cursor_take_word(cursor, "set"))
        return syntax_error(read);
    set->from = cursor->token.start;
    while (!rw_cursor_ended(cursor) &&
           (!rw_cursor_at_word(cursor, where) || rw_cursor_after(cursor, '.')))
        if (!rw_cursor_skip(cursor))
            return syntax_error(read);
    set->to = cursor->before.end;
    read->out->updates = true;
    if (rw_cursor_take_word(cursor, where))
        read->out->where = (rw_part){cursor->token.start, read->subject->clauses->conflict.to};
    return set->to > set->from || syntax_error(read);
}

static bool read_action(reader *read)
{
    rw_cursor *cursor = &read->cursor;
    if (!rw_cursor_take_word(cursor, "do"))
        return syntax_error(read);
    if (!rw_cursor_take_word(cursor, "nothing"))
        return read_set(read);
    return rw_cursor_ended(cursor) || syntax_error(read);
}

/* --- what EXCLUDED stands for --- */

/* Whether "excluded" is a schema here: of a function, or of a constant's type. */
static bool is_qualifier(const rw_cursor *name)
{
    rw_cursor ahead = *name;
    rw_cursor_advance(&ahead);
    return ahead.token.kind == RW_TOKEN_STRING || rw_cursor_at(&ahead, '(');
}

const rw_field *rw_take_excluded(const rw_conflict *conflict, rw_cursor *cursor, pgw_arena *arena,
                                 rw_part *whole)
{
    const rw_field *field;
    if (!rw_cursor_at_word(cursor, "excluded") || rw_cursor_after(cursor, '.') ||
        !rw_cursor_before(cursor, '.'))
        return NULL;
    whole->from = cursor->token.start;
    rw_cursor_advance(cursor);
    rw_cursor_advance(cursor);
    if (!rw_cursor_at_name(cursor))
        return NULL;
    if (is_qualifier(cursor)) {
        rw_cursor_advance(cursor);
        return NULL;
    }
    field =
        rw_field_named(&conflict->values, rw_token_name(cursor->lexer.text, cursor->token, arena));
    whole->to = cursor->token.end;
    return field;
}

static bool refuse_excluded(reader *read, const rw_field *field, size_t at, const char *why)
{
    const char *what =
        pgw_arena_printf(read->subject->reading->arena, "EXCLUDED.\"%s\": %s", field->name, why);
    return refuse(read, at, what,
                  "What a row would have is told from its text and the columns of `tables` in the "
                  "configuration.");
}

/* Whether each row's value of the field is what its cell says, and the same each time. */
static bool check_excluded(reader *read, const rw_field *field)
{
    const rw_subject *subject = read->subject;
    for (size_t row = 0; row < read->out->values.row_count; row++) {
        rw_part cell = rw_values_cell(&read->out->values, row, field);
        size_t at = rw_part_is_empty(cell) ? read->out->set.from : cell.from;
        if (field->type == NULL)
            return refuse_excluded(read, field, at, "the type of the column is not known");
        if (!rw_cell_is_certain(subject->text, field, cell))
            return refuse_excluded(read, field, at, "its value is not certain");
        if (!rw_part_is_empty(rw_find_doubt(subject->text, cell,
                                            RW_DOUBT_VOLATILE | RW_DOUBT_CHOICE,
                                            subject->reading->env->conforming)))
            return refuse_excluded(read, field, at, "its value would be made a second time");
    }
    return true;
}

static void add_other(reader *read, const rw_field *field)
{
    rw_conflict *out = read->out;
    for (size_t i = 0; i < out->other_count; i++)
        if (out->others[i] == field)
            return;
    if (!is_key(read, field))
        out->others[out->other_count++] = field;
}

/* Checks each EXCLUDED.name of a part. */
static bool check_part(reader *read, rw_part part)
{
    rw_cursor cursor;
    rw_part whole;
    rw_cursor_begin(&cursor, read->subject->text, part, read->subject->reading->env->conforming);
    for (; !rw_cursor_ended(&cursor); rw_cursor_advance(&cursor)) {
        bool at = rw_cursor_at_word(&cursor, "excluded") && rw_cursor_before(&cursor, '.') &&
                  !rw_cursor_after(&cursor, '.');
        const size_t start = cursor.token.start;
        if (!at)
            continue;
        const rw_field *field =
            rw_take_excluded(read->out, &cursor, read->subject->reading->arena, &whole);
        if (field == NULL && read->subject->table != NULL && rw_cursor_at_name(&cursor))
            return refuse_column(
                read, "excluded.",
                rw_token_name(cursor.lexer.text, cursor.token, read->subject->reading->arena), "",
                start);
        if (field == NULL)
            return refuse(read, start, "this use of EXCLUDED is not supported",
                          "Name a column of the statement's list.");
        if (!check_excluded(read, field))
            return false;
        add_other(read, field);
    }
    return true;
}

/* The field of `column = EXCLUDED.column`, which is assigned as it would be inserted; NULL: the
 * assignment is another. */
static const rw_field *same_field(const reader *read, const rw_set_item *item)
{
    bool same = item->column.len > 0 && pgw_slice_eq(item->column, item->excluded);
    return same ? rw_field_named(&read->out->values, item->column) : NULL;
}

/* Whether the field's DEFAULT is known; it may be another value the next time. */
static bool check_default(reader *read, const rw_field *field, size_t at)
{
    read->out->defaults = true;
    read->out->same = read->out->same && (field->defaults_to_null || field->by_default != NULL);
    return rw_default_is_known(field) ||
           refuse_excluded(read, field, at, "what the column's default gives is not known");
}

static bool check_same(reader *read, const rw_field *field)
{
    add_other(read, field);
    read->out->defaults |= field->type == NULL;
    for (size_t row = 0; row < read->out->values.row_count; row++) {
        const rw_part cell = rw_values_cell(&read->out->values, row, field);
        const size_t at = rw_part_is_empty(cell) ? read->out->set.from : cell.from;
        if (rw_is_default(read->subject->text, cell) && !check_default(read, field, at))
            return false;
    }
    return true;
}

/* Checks an assignment that is not `column = EXCLUDED.column`. */
static bool check_item(reader *read, const rw_set_item *item)
{
    const rw_field *field = rw_field_named(&read->out->values, item->column);
    if (!rw_is_default(read->subject->text, item->value))
        return check_part(read, item->whole);
    return field != NULL ? check_default(read, field, item->value.from)
                         : refuse(read, item->value.from, "SET … = DEFAULT is not supported here",
                                  "YDB takes DEFAULT nowhere: write the value.");
}

/* Whether the rows depend on nothing but their text: on no query, time or volatile function. */
static bool are_constant(const reader *read)
{
    static const unsigned doubts =
        RW_DOUBT_VOLATILE | RW_DOUBT_SETS | RW_DOUBT_CHOICE | RW_DOUBT_MOMENT;
    const rw_part rows = read->subject->clauses->source;
    const bool conforming = read->subject->reading->env->conforming;
    return !rw_has_query(read->subject->text, rows, conforming) &&
           rw_part_is_empty(rw_find_doubt(read->subject->text, rows, doubts, conforming));
}

static bool check_items(reader *read)
{
    rw_set_items *items = &read->out->items;
    size_t kept = 0;
    read->out->same = rw_part_is_empty(read->out->where) && are_constant(read);
    for (size_t i = 0; i < items->count; i++) {
        const rw_field *same = same_field(read, &items->list[i]);
        if (same != NULL && is_key(read, same))
            continue;
        read->out->same = read->out->same && same != NULL;
        if (!(same != NULL ? check_same(read, same) : check_item(read, &items->list[i])))
            return false;
        items->list[kept++] = items->list[i];
    }
    items->count = kept;
    return true;
}

/* --- the whole --- */

/* Whether each key is given and has one value, because the keys are asked for before they are
 * inserted. */
static bool check_keys(reader *read)
{
    const rw_conflict *out = read->out;
    const rw_subject *subject = read->subject;
    const bool several = out->values.row_count > 1;
    for (size_t i = 0; i < out->key_count * out->values.row_count; i++) {
        const rw_field *key = out->keys[i % out->key_count];
        rw_part cell = rw_values_cell(&out->values, i / out->key_count, key);
        if (rw_is_default(subject->text, cell))
            return refuse(read,
                          rw_part_is_empty(cell) ? subject->clauses->conflict.from : cell.from,
                          "ON CONFLICT needs a value for each column of the key", "Write it.");
        if (key->type == NULL && several)
            return refuse(read, subject->clauses->conflict.from,
                          "ON CONFLICT for several rows needs a table whose columns are known",
                          "Configure the table, or insert row by row.");
        rw_part doubt =
            rw_find_doubt(subject->text, cell, RW_DOUBT_VOLATILE | RW_DOUBT_CHOICE | RW_DOUBT_SETS,
                          subject->reading->env->conforming);
        if (!rw_part_is_empty(doubt))
            return refuse(read, doubt.from, "a key of ON CONFLICT would be made a second time",
                          "Write a constant.");
    }
    return true;
}

/* Whether no query reads the table, where several rows are written by several statements: a later
 * one would see what an earlier one wrote. */
static bool check_reads(reader *read, rw_part part)
{
    const rw_subject *subject = read->subject;
    if (read->out->values.row_count < 2)
        return true;
    rw_part own = rw_find_query_of(subject->clauses->name, subject->text, part,
                                   subject->reading->env->conforming);
    return rw_part_is_empty(own) ||
           refuse(read, own.from, "a query of the table would see rows that are written before",
                  "Insert row by row.");
}

/* Whether RETURNING can show rows that are inserted, and rows that are updated. */
static bool check_shown(reader *read)
{
    rw_conflict *out = read->out;
    if (!rw_shown_read(read->subject, &out->values, &out->shown))
        return false;
    if (!rw_set_items_are_simple(&out->items))
        return refuse(read, out->set.from,
                      "RETURNING is not supported where SET is more than column = value",
                      "Set each column on its own.");
    for (size_t i = 0; i < out->shown.count; i++) {
        const rw_field *field = out->shown.fields[i];
        const rw_set_item *item = rw_set_item_of(&out->items, field->name);
        if (item != NULL && item->excluded.len == 0 &&
            !rw_shown_check(read->subject, field, item->value))
            return false;
        for (size_t row = 0; row < out->values.row_count; row++)
            if (!rw_shown_check(read->subject, field, rw_values_cell(&out->values, row, field)))
                return false;
    }
    return true;
}

static bool begin(reader *read)
{
    const rw_subject *subject = read->subject;
    rw_conflict *out = read->out;
    pgw_arena *arena = subject->reading->arena;
    if (subject->clauses->source_kind != RW_SOURCE_VALUES)
        return refuse(read, subject->clauses->source.from,
                      "ON CONFLICT is supported for rows of VALUES alone", "Write the rows.");
    if (!rw_values_read(subject, &out->values))
        return false;
    if (!out->values.listed)
        return refuse(read, subject->clauses->source.from,
                      "ON CONFLICT needs to know what the columns of VALUES are",
                      "List the columns behind the table's name.");
    if (subject->clauses->defaults && !rw_given_read(subject, &out->values, &out->given))
        return false;
    const size_t room = (out->values.field_count + 1) * sizeof *out->keys;
    out->keys = pgw_arena_alloc(arena, room);
    out->others = pgw_arena_alloc(arena, room);
    return true;
}

/* Finds the cells that only evaluating can check, without the keys, which are evaluated when they
 * are asked for. */
static bool read_unsure(reader *read)
{
    rw_conflict *out = read->out;
    bool *unsure = rw_cells_unsure(read->subject, &out->values);
    bool *reused = pgw_arena_alloc(read->subject->reading->arena, out->values.width + 1);
    memset(reused, false, out->values.width);
    for (size_t i = 0; i < out->other_count; i++)
        if (out->others[i]->cell != RW_NO_CELL)
            reused[out->others[i]->cell] = true;
    out->reused = reused;
    for (size_t row = 0; unsure != NULL && row < out->values.row_count; row++)
        for (size_t i = 0; i < out->key_count; i++)
            unsure[row * out->values.width + out->keys[i]->cell] = false;
    out->unsure = unsure;
    return unsure != NULL;
}

bool rw_conflict_read(const rw_subject *subject, rw_conflict *out)
{
    const rw_clauses *clauses = subject->clauses;
    reader read = {.subject = subject, .out = out};
    *out = (rw_conflict){.text = subject->text,
                         .clauses = clauses,
                         .options = subject->options,
                         .shows = !rw_part_is_empty(clauses->returning)};
    rw_cursor_begin(&read.cursor, subject->text, clauses->conflict,
                    subject->reading->env->conforming);
    if (!begin(&read) || !read_where_rows_meet(&read) || !read_action(&read) || !check_keys(&read))
        return false;
    if (!rw_unalias_check(clauses, (rw_part){clauses->conflict.from, clauses->end}, subject->text,
                          subject->table, subject->reading))
        return false;
    if (out->updates) {
        rw_set_items_read(subject, out->set, &out->items);
        if (!check_items(&read) || !check_part(&read, out->where) ||
            !check_reads(&read, clauses->source) || !check_reads(&read, out->set))
            return false;
    }
    if (out->shows && !check_shown(&read))
        return false;
    return read_unsure(&read);
}
