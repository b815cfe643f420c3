#include "ydb/plain/upsert_text.h"

#include "ydb/plain/unalias.h"

static bool is_conforming(const rw_conflict *conflict)
{
    return conflict->options->env->conforming;
}

static void weave_target(const rw_conflict *conflict, rw_weave *out)
{
    rw_weave_client(out, conflict->clauses->target);
}

/* Weaves the value that a row has of the field; as it is written, if nothing is known of the
 * column. */
static void weave_value(const rw_conflict *conflict, size_t row, const rw_field *field,
                        rw_weave *out)
{
    const rw_part cell = rw_values_cell(&conflict->values, row, field);
    if (field->type != NULL) {
        rw_weave_cell(out, field, cell);
        return;
    }
    rw_weave_own(out, "(");
    rw_weave_client(out, cell);
    rw_weave_own(out, ")");
}

/* Weaves the condition that finds a row by its key: "k" = value, for each column of the key. */
static void weave_condition(const rw_conflict *conflict, size_t row, rw_weave *out)
{
    for (size_t i = 0; i < conflict->key_count; i++) {
        rw_weave_own(out, i > 0 ? " AND " : "");
        rw_weave_name(out, conflict->keys[i]->name);
        rw_weave_own(out, " = ");
        weave_value(conflict, row, conflict->keys[i], out);
    }
}

/* Weaves an expression of DO UPDATE for one row: the row's values in the place of EXCLUDED, and the
 * table's name in the place of its alias. */
static void weave_expression(const rw_conflict *conflict, rw_part part, size_t row, rw_weave *out)
{
    pgw_arena scratch = {0};
    rw_cursor cursor;
    size_t done = part.from;
    rw_cursor_begin(&cursor, conflict->text, part, is_conforming(conflict));
    for (; !rw_cursor_ended(&cursor); rw_cursor_advance(&cursor)) {
        const rw_token token = cursor.token;
        bool alias = rw_at_alias(conflict->clauses, &cursor);
        rw_part whole = {token.start, token.end};
        const rw_field *field =
            alias ? NULL : rw_take_excluded(conflict, &cursor, &scratch, &whole);
        if (!alias && field == NULL)
            continue;
        rw_weave_client(out, (rw_part){done, token.start});
        if (alias)
            rw_weave_client(out, conflict->clauses->named);
        else
            weave_value(conflict, row, field, out);
        done = whole.to;
    }
    rw_weave_client(out, (rw_part){done, part.to});
    pgw_arena_free(&scratch);
}

/* --- which rows are there --- */

static void weave_met_one(const rw_conflict *conflict, rw_weave *out)
{
    if (rw_part_is_empty(conflict->where)) {
        rw_weave_own(out, "SELECT 1 FROM ");
    } else {
        rw_weave_own(out, "SELECT CASE WHEN ");
        weave_expression(conflict, conflict->where, 0, out);
        rw_weave_own(out, " THEN 1 ELSE 0 END FROM ");
    }
    weave_target(conflict, out);
    rw_weave_own(out, " WHERE ");
    weave_condition(conflict, 0, out);
}

static void weave_numbers(const rw_conflict *conflict, const char *before, rw_weave *out)
{
    for (size_t i = 0; i < conflict->key_count; i++)
        pgw_buf_addf(&out->text, "%s%s\"k%zu\"", i > 0 ? ", " : "", before, i);
}

/* Weaves all rows as VALUES, with their numbers and keys. */
static void weave_asked(const rw_conflict *conflict, rw_weave *out)
{
    rw_weave_own(out, "(VALUES ");
    for (size_t row = 0; row < conflict->values.row_count; row++) {
        pgw_buf_addf(&out->text, "%s(%zu", row > 0 ? ", " : "", row);
        for (size_t i = 0; i < conflict->key_count; i++) {
            rw_weave_own(out, ", ");
            weave_value(conflict, row, conflict->keys[i], out);
        }
        rw_weave_own(out, ")");
    }
    rw_weave_own(out, ") AS \"v\"(\"n\", ");
    weave_numbers(conflict, "", out);
    rw_weave_own(out, ")");
}

/* Weaves a query of the table's rows that may have the keys, found by the first column of the
 * key. */
static void weave_stored(const rw_conflict *conflict, rw_weave *out)
{
    rw_weave_own(out, "(SELECT ");
    for (size_t i = 0; i < conflict->key_count; i++) {
        rw_weave_own(out, i > 0 ? ", " : "");
        rw_weave_name(out, conflict->keys[i]->name);
        pgw_buf_addf(&out->text, " AS \"k%zu\"", i);
    }
    rw_weave_own(out, " FROM ");
    weave_target(conflict, out);
    rw_weave_own(out, " WHERE ");
    rw_weave_name(out, conflict->keys[0]->name);
    for (size_t row = 0; row < conflict->values.row_count; row++) {
        rw_weave_own(out, row > 0 ? ", " : " IN (");
        weave_value(conflict, row, conflict->keys[0], out);
    }
    rw_weave_own(out, ")) AS \"t\"");
}

void rw_weave_met(const rw_conflict *conflict, rw_weave *out)
{
    if (conflict->values.row_count == 1) {
        weave_met_one(conflict, out);
        return;
    }
    rw_weave_own(out, "SELECT \"v\".\"n\", min(\"v\".\"n\") OVER (PARTITION BY ");
    weave_numbers(conflict, "\"v\".", out);
    rw_weave_own(out, "), CASE WHEN \"t\".\"k0\" IS NULL THEN 0 ELSE 1 END FROM ");
    weave_asked(conflict, out);
    rw_weave_own(out, " LEFT JOIN ");
    weave_stored(conflict, out);
    for (size_t i = 0; i < conflict->key_count; i++)
        pgw_buf_addf(&out->text, "%s\"t\".\"k%zu\" = \"v\".\"k%zu\"", i > 0 ? " AND " : " ON ", i,
                     i);
}

/* Whether the text has become too long by what was added behind `before`; it is taken off again,
 * unless it is all that the text has. */
static bool is_too_much(const rw_conflict *conflict, size_t count, size_t before, rw_weave *out)
{
    if (count == 0 || out->text.len <= conflict->options->most)
        return false;
    out->text.len = before;
    return true;
}

void rw_weave_holding(const rw_conflict *conflict, const unsigned char *fates, size_t *at,
                      rw_weave *out)
{
    size_t count = 0;
    for (; *at < conflict->values.row_count; ++*at) {
        const size_t before = out->text.len;
        if (fates[*at] != RW_FATE_MET)
            continue;
        pgw_buf_addf(&out->text, "%sSELECT %zu FROM ", count > 0 ? " UNION ALL " : "", *at);
        weave_target(conflict, out);
        rw_weave_own(out, " WHERE ");
        weave_condition(conflict, *at, out);
        rw_weave_own(out, " AND (");
        weave_expression(conflict, conflict->where, *at, out);
        rw_weave_own(out, ")");
        if (is_too_much(conflict, count, before, out))
            return;
        count++;
    }
}

/* --- values that are not inserted --- */

/* Whether a cell that may not fit is evaluated by no INSERT or UPDATE. */
static bool is_to_be_checked(const rw_conflict *conflict, rw_fate fate, size_t cell)
{
    bool updated = fate == RW_FATE_UPDATED && conflict->reused[cell % conflict->values.width];
    return conflict->unsure[cell] && fate != RW_FATE_INSERTED && !updated;
}

bool rw_skip_to_unsure(const rw_conflict *conflict, const unsigned char *fates, size_t *at)
{
    const size_t width = conflict->values.width, count = conflict->values.row_count * width;
    while (*at < count && !is_to_be_checked(conflict, (rw_fate)fates[*at / width], *at))
        ++*at;
    return *at < count;
}

static const rw_field *field_of_cell(const rw_values *values, size_t cell)
{
    for (size_t i = 0; i < values->field_count; i++)
        if (values->fields[i].cell == cell)
            return &values->fields[i];
    return NULL;
}

void rw_weave_check(const rw_conflict *conflict, const unsigned char *fates, size_t *at,
                    rw_weave *out)
{
    enum { MOST = 1000 }; /* columns that a SELECT may have */
    const rw_values *values = &conflict->values;
    rw_weave_own(out, "SELECT ");
    for (size_t count = 0; count < MOST && rw_skip_to_unsure(conflict, fates, at); ++*at) {
        const size_t before = out->text.len;
        rw_weave_own(out, count > 0 ? ", " : "");
        rw_weave_cell(out, field_of_cell(values, *at % values->width), values->cells[*at]);
        if (is_too_much(conflict, count, before, out))
            return;
        count++;
    }
}

/* --- INSERT --- */

static void weave_head(const rw_conflict *conflict, rw_weave *out)
{
    const rw_clauses *clauses = conflict->clauses;
    const rw_part alias = clauses->alias;
    const size_t behind = rw_part_is_empty(alias) ? clauses->target.to : alias.to;
    if (clauses->defaults) {
        rw_weave_given_head(clauses, &conflict->given, out);
        return;
    }
    rw_weave_client(out, (rw_part){clauses->verb_at, clauses->target.to});
    rw_weave_apart(out, (rw_part){behind, clauses->source.from});
    rw_weave_blank(out);
    rw_weave_own(out, "VALUES ");
}

void rw_weave_insert(const rw_conflict *conflict, const unsigned char *fates, rw_weave *out)
{
    bool any = false;
    weave_head(conflict, out);
    for (size_t row = 0; row < conflict->values.row_count; row++) {
        if (fates != NULL && fates[row] != RW_FATE_INSERTED)
            continue;
        rw_weave_own(out, any ? ", " : "");
        if (conflict->clauses->defaults)
            rw_weave_given_row(&conflict->given, row, out);
        else
            rw_weave_client(out, conflict->values.rows[row]);
        any = true;
    }
}

/* --- UPDATE --- */

/* Weaves `column = EXCLUDED.column` with the value as it would be inserted, so that whatever does
 * not fit is refused. False: the assignment is another. */
static bool weave_same(const rw_conflict *conflict, const rw_set_item *item, size_t row,
                       rw_weave *out)
{
    if (item->column.len == 0 || !pgw_slice_eq(item->column, item->excluded))
        return false;
    const rw_field *field = rw_field_named(&conflict->values, item->column);
    const rw_part cell = rw_values_cell(&conflict->values, row, field);
    rw_weave_client(out, (rw_part){item->whole.from, item->value.from});
    rw_weave_assigned(out, field, cell);
    return true;
}

static void weave_update_one(const rw_conflict *conflict, size_t row, rw_weave *out)
{
    rw_weave_own(out, "UPDATE ");
    weave_target(conflict, out);
    for (size_t i = 0; i < conflict->items.count; i++) {
        const rw_set_item *item = &conflict->items.list[i];
        rw_weave_own(out, i > 0 ? ", " : " SET ");
        if (weave_same(conflict, item, row, out))
            continue;
        if (rw_is_default(conflict->text, item->value)) {
            rw_weave_client(out, (rw_part){item->whole.from, item->value.from});
            rw_weave_assigned(out, rw_field_named(&conflict->values, item->column), item->value);
        } else
            weave_expression(conflict, item->whole, row, out);
    }
    rw_weave_own(out, " WHERE ");
    weave_condition(conflict, row, out);
}

static void weave_excluded_row(const rw_conflict *conflict, size_t row, rw_weave *out)
{
    rw_weave_own(out, "(");
    for (size_t i = 0; i < conflict->key_count + conflict->other_count; i++) {
        rw_weave_own(out, i > 0 ? ", " : "");
        weave_value(conflict, row,
                    i < conflict->key_count ? conflict->keys[i]
                                            : conflict->others[i - conflict->key_count],
                    out);
    }
    rw_weave_own(out, ")");
}

/* Ends the rows as a table that is called what ON CONFLICT calls it, and joins it by the key. */
static void weave_excluded_end(const rw_conflict *conflict, rw_weave *out)
{
    rw_weave_own(out, ") AS \"excluded\"(");
    for (size_t i = 0; i < conflict->key_count + conflict->other_count; i++) {
        rw_weave_own(out, i > 0 ? ", " : "");
        rw_weave_name(out, i < conflict->key_count
                               ? conflict->keys[i]->name
                               : conflict->others[i - conflict->key_count]->name);
    }
    rw_weave_own(out, ") WHERE ");
    for (size_t i = 0; i < conflict->key_count; i++) {
        rw_weave_own(out, i > 0 ? " AND " : "");
        rw_weave_client(out, conflict->clauses->named);
        rw_weave_own(out, ".");
        rw_weave_name(out, conflict->keys[i]->name);
        rw_weave_own(out, " = \"excluded\".");
        rw_weave_name(out, conflict->keys[i]->name);
    }
}

static void weave_update_many(const rw_conflict *conflict, const unsigned char *fates, size_t *at,
                              rw_weave *out)
{
    enum { END = 4096 }; /* bytes, more than what comes behind the rows, as a rule */
    size_t count = 0;
    rw_weave_own(out, "UPDATE ");
    weave_target(conflict, out);
    for (size_t i = 0; i < conflict->items.count; i++) {
        rw_weave_own(out, i > 0 ? ", " : " SET ");
        rw_unalias(conflict->clauses, conflict->items.list[i].whole, is_conforming(conflict), out);
    }
    rw_weave_own(out, " FROM (VALUES ");
    for (; *at < conflict->values.row_count; ++*at) {
        const size_t before = out->text.len;
        if (fates[*at] != RW_FATE_UPDATED)
            continue;
        if (count > 0 && before + END > conflict->options->most)
            break;
        rw_weave_own(out, count > 0 ? ", " : "");
        weave_excluded_row(conflict, *at, out);
        if (is_too_much(conflict, count, before, out))
            break;
        count++;
    }
    weave_excluded_end(conflict, out);
}

void rw_weave_update(const rw_conflict *conflict, const unsigned char *fates, size_t *at,
                     rw_weave *out)
{
    if (conflict->options->update_from && conflict->values.row_count > 1 && !conflict->defaults) {
        weave_update_many(conflict, fates, at, out);
        return;
    }
    weave_update_one(conflict, *at, out);
    ++*at;
}

/* --- RETURNING --- */

static void weave_shown_field(const rw_conflict *conflict, size_t row, bool updated,
                              const rw_field *field, rw_weave *out)
{
    const rw_set_item *item = updated ? rw_set_item_of(&conflict->items, field->name) : NULL;
    if (!updated || (item != NULL && pgw_slice_eq(item->column, item->excluded))) {
        rw_weave_stored(out, field, rw_values_cell(&conflict->values, row, field));
    } else if (item == NULL) {
        rw_weave_name(out, field->name);
    } else if (rw_is_default(conflict->text, item->value)) {
        rw_weave_stored(out, field, item->value);
    } else {
        rw_weave_own(out, "CAST(");
        weave_expression(conflict, item->value, row, out);
        rw_weave_own(out, " AS ");
        rw_weave_own(out, field->type);
        rw_weave_own(out, ")");
    }
}

static void weave_shown_row(const rw_conflict *conflict, size_t row, bool updated, rw_weave *out)
{
    pgw_buf_addf(&out->text, "SELECT %zu", row);
    for (size_t i = 0; i < conflict->shown.count; i++) {
        rw_weave_own(out, ", ");
        weave_shown_field(conflict, row, updated, conflict->shown.fields[i], out);
    }
    if (!updated)
        return;
    rw_weave_own(out, " FROM ");
    weave_target(conflict, out);
    rw_weave_own(out, " WHERE ");
    weave_condition(conflict, row, out);
}

/* Weaves a query of the columns alone, where no row is inserted or updated. */
static void weave_shown_none(const rw_conflict *conflict, rw_weave *out)
{
    rw_weave_own(out, "SELECT 0");
    for (size_t i = 0; i < conflict->shown.count; i++) {
        rw_weave_own(out, ", ");
        rw_weave_stored(out, conflict->shown.fields[i], (rw_part){0, 0});
    }
    rw_weave_own(out, " WHERE false");
}

void rw_weave_shown(const rw_conflict *conflict, const unsigned char *fates, rw_weave *out)
{
    bool any = false;
    rw_shown_begin(conflict->clauses, out);
    for (size_t row = 0; row < conflict->values.row_count; row++) {
        if (fates[row] != RW_FATE_INSERTED && fates[row] != RW_FATE_UPDATED)
            continue;
        rw_weave_own(out, any ? " UNION ALL " : "");
        weave_shown_row(conflict, row, fates[row] == RW_FATE_UPDATED, out);
        any = true;
    }
    if (!any)
        weave_shown_none(conflict, out);
    rw_shown_end(conflict->clauses, &conflict->shown, true, out);
}
