#include "ydb/plain/shown.h"

#include "rewrite/lex/lexer_text.h"
#include "ydb/plain/doubt.h"

static const char hint_of_columns[] =
    "YDB's RETURNING is not relied on: the rows are told from the statement and the columns of "
    "`tables` in the configuration.";

/* --- what it asks for --- */

bool rw_at_star(const rw_cursor *cursor, rw_part list)
{
    return pgw_slice_eq_str(rw_token_text(cursor->lexer.text, cursor->token), "*") &&
           (cursor->token.start == list.from || rw_cursor_after(cursor, ',') ||
            rw_cursor_after(cursor, '.'));
}

static bool is_qualifier(const rw_subject *subject, pgw_slice name)
{
    return pgw_slice_eq(name, subject->clauses->name) ||
           (subject->clauses->alias_name.len > 0 &&
            pgw_slice_eq(name, subject->clauses->alias_name));
}

static void mention(rw_shown *out, const rw_field *field)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->fields[i] == field)
            return;
    out->fields[out->count++] = field;
}

/* Takes a name in RETURNING: of a field, or before a dot. False: it is the whole row's. */
static bool take_mention(const rw_subject *subject, const rw_values *values,
                         const rw_cursor *cursor, rw_shown *out)
{
    pgw_slice name = rw_token_name(subject->text, cursor->token, subject->reading->arena);
    const rw_field *field = rw_field_named(values, name);
    if (field != NULL)
        mention(out, field);
    else if (is_qualifier(subject, name) && !rw_cursor_before(cursor, '.'))
        return rw_refuse(subject, cursor->token.start, "RETURNING of a whole row is not supported",
                         "Write its columns.");
    return true;
}

bool rw_shown_read(const rw_subject *subject, const rw_values *values, rw_shown *out)
{
    const rw_part list = subject->clauses->returning;
    rw_cursor cursor;
    out->count = 0;
    out->fields =
        pgw_arena_alloc(subject->reading->arena, (values->field_count + 1) * sizeof *out->fields);
    rw_cursor_begin(&cursor, subject->text, list, subject->reading->env->conforming);
    for (; !rw_cursor_ended(&cursor); rw_cursor_advance(&cursor)) {
        if (rw_at_star(&cursor, list))
            return rw_refuse(subject, cursor.token.start, "RETURNING * is not supported here",
                             "Write the columns.");
        if (rw_cursor_at_name(&cursor) && !take_mention(subject, values, &cursor, out))
            return false;
    }
    return true;
}

/* --- around the rows --- */

void rw_shown_begin(const rw_clauses *clauses, rw_weave *out)
{
    rw_weave_own(out, "SELECT ");
    rw_weave_client(out, clauses->returning);
    rw_weave_own(out, " FROM (");
}

static void weave_known_as(const rw_clauses *clauses, rw_weave *out)
{
    rw_weave_own(out, " ");
    rw_weave_client(out, rw_part_is_empty(clauses->alias) ? clauses->named : clauses->alias);
}

void rw_shown_end(const rw_clauses *clauses, const rw_shown *shown, bool numbered, rw_weave *out)
{
    const bool odd = numbered || shown->count == 0;
    rw_weave_own(out, ")");
    weave_known_as(clauses, out);
    rw_weave_own(out, odd ? "(\"?\"" : "(");
    for (size_t i = 0; i < shown->count; i++) {
        rw_weave_own(out, odd || i > 0 ? ", " : "");
        rw_weave_name(out, shown->fields[i]->name);
    }
    rw_weave_own(out, numbered ? ") ORDER BY \"?\"" : ")");
}

/* --- INSERT --- */

static bool refuse_field(const rw_subject *subject, size_t at, const rw_field *field,
                         const char *why)
{
    const char *what =
        pgw_arena_printf(subject->reading->arena, "RETURNING \"%s\": %s", field->name, why);
    return rw_refuse(subject, at, what, hint_of_columns);
}

bool rw_shown_check(const rw_subject *subject, const rw_field *field, rw_part cell)
{
    const size_t at = rw_part_is_empty(cell) ? subject->clauses->returning.from : cell.from;
    rw_part doubt = rw_find_doubt(subject->text, cell, RW_DOUBT_VOLATILE | RW_DOUBT_CHOICE,
                                  subject->reading->env->conforming);
    if (field->type == NULL)
        return refuse_field(subject, at, field, "the type of the column is not known");
    if (rw_is_default(subject->text, cell) && !field->defaults_to_null && field->by_default == NULL)
        return refuse_field(subject, at, field, "what the column's default gives is not known");
    return rw_part_is_empty(doubt) ||
           refuse_field(subject, doubt.from, field, "its value would be made a second time");
}

static void weave_row(const rw_values *values, size_t row, const rw_shown *shown, rw_weave *out)
{
    rw_weave_own(out, row > 0 ? ", (" : "(");
    for (size_t i = 0; i < shown->count; i++) {
        rw_weave_own(out, i > 0 ? ", " : "");
        rw_weave_stored(out, shown->fields[i], rw_values_cell(values, row, shown->fields[i]));
    }
    rw_weave_own(out, shown->count == 0 ? "0)" : ")");
}

bool rw_shown_insert(const rw_subject *subject, rw_weave *out)
{
    rw_values values;
    rw_shown shown;
    if (!rw_values_read(subject, &values) || !rw_shown_read(subject, &values, &shown))
        return false;
    if (!values.listed && subject->clauses->source_kind == RW_SOURCE_VALUES)
        return rw_refuse(subject, subject->clauses->source.from,
                         "RETURNING needs to know what the columns of VALUES are",
                         "List the columns behind the table's name.");
    for (size_t row = 0; row < values.row_count; row++)
        for (size_t i = 0; i < shown.count; i++)
            if (!rw_shown_check(subject, shown.fields[i],
                                rw_values_cell(&values, row, shown.fields[i])))
                return false;
    rw_shown_begin(subject->clauses, out);
    rw_weave_own(out, "VALUES ");
    for (size_t row = 0; row < values.row_count; row++)
        weave_row(&values, row, &shown, out);
    rw_shown_end(subject->clauses, &shown, false, out);
    return true;
}

/* --- UPDATE and DELETE --- */

/* Adds FROM, the table with its alias, and WHERE. */
static void weave_from(const rw_clauses *clauses, rw_weave *out)
{
    rw_weave_own(out, " FROM ");
    rw_weave_client(out, clauses->target);
    rw_weave_own(out, rw_part_is_empty(clauses->alias) ? "" : " ");
    rw_weave_client(out, clauses->alias);
    rw_weave_own(out, rw_part_is_empty(clauses->where) ? "" : " WHERE ");
    rw_weave_client(out, clauses->where);
}

static void weave_plain(const rw_clauses *clauses, rw_weave *out)
{
    rw_weave_client(out, clauses->with);
    rw_weave_own(out, "SELECT ");
    rw_weave_client(out, clauses->returning);
    weave_from(clauses, out);
}

/* Adds a query of the columns with the values that they will have. */
static bool weave_changed(const rw_subject *subject, const rw_set_items *items,
                          const rw_shown *shown, rw_weave *out)
{
    rw_weave_client(out, subject->clauses->with);
    rw_shown_begin(subject->clauses, out);
    rw_weave_own(out, "SELECT ");
    for (size_t i = 0; i < shown->count; i++) {
        const rw_field *field = shown->fields[i];
        const rw_set_item *item = rw_set_item_of(items, field->name);
        rw_weave_own(out, i > 0 ? ", " : "");
        if (item != NULL && !rw_shown_check(subject, field, item->value))
            return false;
        if (item != NULL)
            rw_weave_stored(out, field, item->value);
        else
            rw_weave_name(out, field->name);
    }
    weave_from(subject->clauses, out);
    rw_shown_end(subject->clauses, shown, false, out);
    return true;
}

/* Adds fields that are assigned but not of the catalog, which are known by their names alone. */
static void add_assigned(const rw_subject *subject, const rw_set_items *items, rw_values *values)
{
    rw_field *fields = pgw_arena_alloc(subject->reading->arena,
                                       (values->field_count + items->count) * sizeof *fields);
    for (size_t i = 0; i < values->field_count; i++)
        fields[i] = values->fields[i];
    values->fields = fields;
    for (size_t i = 0; i < items->count; i++)
        if (items->list[i].column.len > 0 && rw_field_named(values, items->list[i].column) == NULL)
            fields[values->field_count++] = (rw_field){
                .name = pgw_arena_copy(subject->reading->arena, items->list[i].column).ptr,
                .limit = -1};
}

static bool changes_any(const rw_set_items *items, const rw_shown *shown)
{
    for (size_t i = 0; i < shown->count; i++)
        if (rw_set_item_of(items, shown->fields[i]->name) != NULL)
            return true;
    return false;
}

bool rw_shown_change(const rw_subject *subject, rw_weave *out)
{
    const rw_clauses *clauses = subject->clauses;
    rw_values values = {0};
    rw_set_items items;
    rw_shown shown;
    if (clauses->verb == RW_DML_DELETE) {
        weave_plain(clauses, out);
        return true;
    }
    rw_set_items_read(subject, clauses->set, &items);
    if (!rw_set_items_are_simple(&items))
        return rw_refuse(subject, clauses->set.from,
                         "RETURNING is not supported where SET is more than column = value",
                         "Set each column on its own.");
    rw_fields_of_table(subject, &values);
    add_assigned(subject, &items, &values);
    if (!rw_shown_read(subject, &values, &shown))
        return false;
    if (changes_any(&items, &shown))
        return weave_changed(subject, &items, &shown, out);
    weave_plain(clauses, out);
    return true;
}
