#include "ydb/plain/given.h"

static const char hint[] = "YDB takes DEFAULT nowhere: write the value, or give the rows with "
                           "DEFAULT on their own.";

static rw_part cell_at(const rw_values *values, size_t row, size_t cell)
{
    return values->cells[row * values->width + cell];
}

static const rw_field *field_of(const rw_values *values, size_t cell)
{
    for (size_t i = 0; i < values->field_count; i++)
        if (values->fields[i].cell == cell)
            return &values->fields[i];
    return NULL;
}

static size_t count_defaults(const rw_subject *subject, const rw_values *values, size_t cell)
{
    size_t count = 0;
    for (size_t row = 0; row < values->row_count; row++)
        count += rw_is_default(subject->text, cell_at(values, row, cell));
    return count;
}

/* Whether a column that is DEFAULT in only some of the rows has a known default. */
static bool check_mixed(const rw_subject *subject, const rw_values *values, size_t cell)
{
    const rw_field *field = field_of(values, cell);
    size_t row = 0;
    if (field != NULL && (field->defaults_to_null || field->by_default != NULL))
        return true;
    while (!rw_is_default(subject->text, cell_at(values, row, cell)))
        row++;
    return rw_refuse(subject, cell_at(values, row, cell).from,
                     "DEFAULT in some of the rows is not supported here", hint);
}

bool rw_given_read(const rw_subject *subject, const rw_values *values, rw_given *out)
{
    *out = (rw_given){.values = values,
                      .cells = pgw_arena_alloc(subject->reading->arena,
                                               (values->width + 1) * sizeof *out->cells)};
    for (size_t cell = 0; cell < values->width; cell++) {
        const size_t defaults = count_defaults(subject, values, cell);
        if (defaults == values->row_count)
            continue;
        if (defaults > 0 && !check_mixed(subject, values, cell))
            return false;
        if (!values->listed && out->count < cell) /* only its place tells a value's column */
            return rw_refuse(subject, cell_at(values, 0, cell - 1).from,
                             "DEFAULT in front of a value needs a list of columns", hint);
        out->cells[out->count++] = cell;
    }
    return out->count > 0 || values->row_count == 1 ||
           rw_refuse(subject, subject->clauses->source.from,
                     "several rows of nothing but DEFAULT are not supported", hint);
}

static void weave_list(const rw_given *given, rw_weave *out)
{
    rw_weave_own(out, " (");
    for (size_t i = 0; i < given->count; i++) {
        rw_weave_own(out, i > 0 ? ", " : "");
        rw_weave_name(out, field_of(given->values, given->cells[i])->name);
    }
    rw_weave_own(out, ")");
}

void rw_weave_given_head(const rw_clauses *clauses, const rw_given *given, rw_weave *out)
{
    const size_t behind = given->values->listed              ? clauses->columns.to
                          : rw_part_is_empty(clauses->alias) ? clauses->target.to
                                                             : clauses->alias.to;
    rw_weave_client(out, (rw_part){clauses->verb_at, clauses->target.to});
    if (given->values->listed && given->count > 0)
        weave_list(given, out);
    rw_weave_apart(out, (rw_part){behind, clauses->source.from});
    rw_weave_apart(out, clauses->with);
    rw_weave_blank(out);
    rw_weave_own(out, given->count > 0 ? "VALUES " : "DEFAULT VALUES");
}

void rw_weave_given_row(const rw_given *given, size_t row, rw_weave *out)
{
    if (given->count == 0)
        return;
    for (size_t i = 0; i < given->count; i++) {
        const rw_part cell = cell_at(given->values, row, given->cells[i]);
        rw_weave_own(out, i > 0 ? ", " : "(");
        rw_weave_given(out, field_of(given->values, given->cells[i]), cell);
    }
    rw_weave_own(out, ")");
}
