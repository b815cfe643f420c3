#include "rewrite/statement/errors/hide.h"

#include "protocol/utf8.h"
#include "rewrite/hash/hash.h"
#include "rewrite/insert/render.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A detail in which the hash stands, and what is known of where. */
typedef struct shown {
    pgw_slice text;
    const rw_table *table;
    const uint64_t *hashes; /* NULL: any integer is taken for the hash */
    size_t hash_count;
} shown;

/* A part of the text: from start to before end. */
typedef struct extent {
    size_t start, end;
} extent;

static const pgw_slice comma = {", ", 2};

/* Where `what` first stands in text[from…to), or `to`. */
static size_t find(pgw_slice text, size_t from, size_t to, pgw_slice what)
{
    for (size_t i = from; i + what.len <= to; i++)
        if (memcmp(text.ptr + i, what.ptr, what.len) == 0)
            return i;
    return to;
}

static size_t find_last(pgw_slice text, size_t from, size_t to, pgw_slice what)
{
    for (size_t i = to; i >= from + what.len; i--)
        if (memcmp(text.ptr + i - what.len, what.ptr, what.len) == 0)
            return i - what.len;
    return to;
}

/* Whether the part is the hash as PostgreSQL prints it, or null, as it does where the hash was left
 * out. */
static bool is_hash(const shown *detail, extent at)
{
    pgw_slice value = {detail->text.ptr + at.start, at.end - at.start};
    if (pgw_slice_eq_str(value, "null"))
        return true;
    size_t sign = value.len > 0 && value.ptr[0] == '-';
    if (value.len == sign || value.len > 20)
        return false;
    for (size_t i = sign; i < value.len; i++)
        if (value.ptr[i] < '0' || value.ptr[i] > '9')
            return false;
    if (detail->hashes == NULL)
        return true;
    bool equal = false;
    pgw_buf digits = {0};
    for (size_t i = 0; i < detail->hash_count && !equal; i++) {
        pgw_buf_clear(&digits);
        rw_hash_print(detail->table, detail->hashes[i], &digits);
        equal = pgw_slice_eq(value, pgw_slice_buf(&digits));
    }
    pgw_buf_free(&digits);
    return equal;
}

/* Types whose output never holds a comma. */
static bool is_narrow(uint32_t type)
{
    switch (type) {
    case PGW_BOOL:
    case PGW_BYTEA:
    case PGW_INT8:
    case PGW_INT2:
    case PGW_INT4:
    case PGW_FLOAT4:
    case PGW_FLOAT8:
    case PGW_DATE:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
    case PGW_NUMERIC:
    case PGW_UUID:
        return true;
    default:
        return false;
    }
}

/* The columns that a list of values belongs to, by their index in the table. */
typedef struct listed {
    const size_t *indexes; /* index of each column in the table, or table->column_count for no
                              column of it; NULL: all columns, in order */
    size_t count;
    size_t hash; /* place of the hash column in the list */
} listed;

static bool are_narrow(const rw_table *table, const listed *columns, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        size_t index = columns->indexes == NULL ? i : columns->indexes[i];
        if (index >= table->column_count || !is_narrow(table->columns[index].type))
            return false;
    }
    return true;
}

static size_t count_parts(pgw_slice text, extent list)
{
    size_t count = 1;
    for (size_t i = find(text, list.start, list.end, comma); i < list.end;
         i = find(text, i + comma.len, list.end, comma))
        count++;
    return count;
}

/* The nth part of a list from the front. */
static extent part_from_front(pgw_slice text, extent list, size_t n)
{
    size_t start = list.start;
    for (; n > 0; n--) {
        size_t at = find(text, start, list.end, comma);
        start = at < list.end ? at + comma.len : list.end;
    }
    return (extent){start, find(text, start, list.end, comma)};
}

/* The nth part of a list from the back; 0 is the last. */
static extent part_from_back(pgw_slice text, extent list, size_t n)
{
    size_t end = list.end;
    for (; n > 0; n--) {
        size_t at = find_last(text, list.start, end, comma);
        end = at < end ? at : list.start;
    }
    size_t at = find_last(text, list.start, end, comma);
    return (extent){at < end ? at + comma.len : list.start, end};
}

/* Finds the hash in a list of values, which are printed bare and may hold commas: the place is
 * known only if no value on one side of it does, or if there are no more commas than columns. */
static bool locate_value(const shown *detail, extent list, const listed *columns, extent *value)
{
    size_t parts = count_parts(detail->text, list);
    if (parts < columns->count)
        return false;
    if (parts == columns->count || are_narrow(detail->table, columns, 0, columns->hash))
        *value = part_from_front(detail->text, list, columns->hash);
    else if (are_narrow(detail->table, columns, columns->hash + 1, columns->count))
        *value = part_from_back(detail->text, list, columns->count - 1 - columns->hash);
    else
        return false;
    return is_hash(detail, *value);
}

/* The part and the comma that goes with it. */
static extent with_comma(extent part, extent list)
{
    if (part.end < list.end)
        return (extent){part.start, part.end + comma.len};
    return (extent){part.start > list.start ? part.start - comma.len : part.start, part.end};
}

static void add_without(pgw_slice text, extent from, extent hole, pgw_buf *out)
{
    pgw_buf_add(out, text.ptr + from.start, hole.start - from.start);
    pgw_buf_add(out, text.ptr + hole.end, from.end - hole.end);
}

/* --- Key (a, b)=(1, 2) --- */

enum { MAX_KEY = 32 }; /* INDEX_MAX_KEYS */

/* A name as an index's definition prints it: quoted if need be. Anything else is no column. */
static size_t column_of(const rw_table *table, pgw_slice name)
{
    char plain[256];
    size_t len = 0;
    if (name.len < 2 || name.ptr[0] != '"')
        return rw_table_column(table, name);
    for (size_t i = 1; i + 1 < name.len && len < sizeof plain; i++) {
        plain[len++] = name.ptr[i];
        if (name.ptr[i] == '"')
            i++;
    }
    return rw_table_column(table, (pgw_slice){plain, len});
}

/* Reads the names from behind '(' to their ')'. False if there is no hash column among them. */
static bool read_names(const shown *detail, extent *list, size_t *indexes, listed *columns,
                       extent *hash)
{
    pgw_slice text = detail->text;
    bool found = false;
    size_t at = list->start;
    columns->count = 0;
    while (columns->count < MAX_KEY) {
        extent name = {at, at};
        bool quoted = false;
        size_t depth = 0;
        for (; name.end < text.len; name.end++) {
            char c = text.ptr[name.end];
            if (c == '"')
                quoted = !quoted;
            else if (!quoted && depth == 0 && (c == ',' || c == ')'))
                break;
            else if (!quoted)
                depth += (size_t)(c == '(') - (size_t)(c == ')');
        }
        if (name.end == text.len)
            return false;
        size_t index = column_of(detail->table, (pgw_slice){text.ptr + at, name.end - name.start});
        if (index == detail->table->hash_column) {
            found = true;
            *hash = name;
            columns->hash = columns->count;
        }
        indexes[columns->count++] = index;
        list->end = name.end;
        if (text.ptr[name.end] == ')')
            return found;
        if (find(text, name.end, text.len, comma) != name.end)
            return false;
        at = name.end + comma.len;
    }
    return false;
}

/* The end of the values: at the last ')', or at the ')' before a tail that names a table. */
static size_t end_of_values(pgw_slice text, size_t from)
{
    static const char *const tails[] = {") is not present in table \"",
                                        ") is still referenced from table \""};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        size_t at = find_last(text, from, text.len, pgw_slice_str(tails[i]));
        if (at < text.len)
            return at;
    }
    return find_last(text, from, text.len, PGW_LITERAL(")"));
}

/* `(names)=(values)` or `(names) = (values)` with the hash among them, from the '(' at `open`;
 * true if it was written without the hash, with all that stands before and behind. */
static bool hide_pair(const shown *detail, size_t open, pgw_buf *out)
{
    pgw_slice text = detail->text;
    size_t indexes[MAX_KEY];
    listed columns = {.indexes = indexes};
    extent names = {open + 1, 0};
    extent name = {0, 0};
    if (!read_names(detail, &names, indexes, &columns, &name) || columns.count < 2)
        return false;
    pgw_slice between = PGW_LITERAL(")=(");
    if (find(text, names.end, text.len, between) != names.end)
        between = PGW_LITERAL(") = (");
    if (find(text, names.end, text.len, between) != names.end)
        return false;
    extent values = {names.end + between.len, 0};
    values.end = end_of_values(text, values.start);
    extent value;
    if (values.end == text.len || !locate_value(detail, values, &columns, &value))
        return false;
    add_without(text, (extent){0, values.start}, with_comma(name, names), out);
    add_without(text, (extent){values.start, text.len}, with_comma(value, values), out);
    return true;
}

static bool hide_key(const shown *detail, pgw_buf *out)
{
    pgw_slice text = detail->text;
    size_t open = find(text, 0, text.len, PGW_LITERAL("("));
    return open < text.len && hide_pair(detail, open, out);
}

/* --- Failing row contains (1, 2, 3). --- */

static bool hide_row(const shown *detail, pgw_buf *out)
{
    pgw_slice text = detail->text;
    extent list = {find(text, 0, text.len, PGW_LITERAL("(")) + 1,
                   find_last(text, 0, text.len, PGW_LITERAL(")"))};
    listed columns = {.count = detail->table->column_count, .hash = detail->table->hash_column};
    extent value;
    if (list.start >= text.len || list.end == text.len || list.end < list.start ||
        !locate_value(detail, list, &columns, &value))
        return false;
    add_without(text, (extent){0, text.len}, with_comma(value, list), out);
    return true;
}

static bool is_about_hash(const rw_table *table, pgw_slice body)
{
    return pgw_slice_eq_str(pgw_error_field(body, 'c'), table->columns[table->hash_column].name);
}

static void add_detail(pgw_slice body, pgw_slice text, const rw_sent *sent, pgw_buf *out)
{
    const rw_insert *insert = sent->insert;
    shown detail = {.text = text, .table = insert != NULL ? insert->table : sent->table};
    if (insert != NULL && sent->form == RW_HASH_CONSTANT && !insert->query &&
        insert->new_key == 0) {
        detail.hashes = sent->hashes;
        detail.hash_count = insert->row_count;
    }
    pgw_slice state = pgw_error_field(body, 'C');
    bool row = pgw_slice_eq_str(state, "23502") || pgw_slice_eq_str(state, "23514");
    /* Who lists the hash column knows of it, and who came past it is told of it. An exclusion
     * constraint shows two keys. */
    bool known = insert != NULL ? insert->hash_listed
                                : detail.table != NULL && is_about_hash(detail.table, body);
    if (detail.table == NULL || known || pgw_slice_eq_str(state, "23P01"))
        pgw_buf_add_slice(out, text);
    else if (!hide_key(&detail, out) && !(row && hide_row(&detail, out)))
        pgw_buf_add_slice(out, text);
}

/* --- position --- */

/* Reads a position; 0: the digits are none. */
static size_t read_position(pgw_slice digits)
{
    size_t value = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9' || value > SIZE_MAX / 100)
            return 0;
        value = value * 10 + (size_t)(digits.ptr[i] - '0');
    }
    return value;
}

/* The position in the client's text, if it is in an expression of a key that was asked for; else 0.
 */
static size_t in_expression(const rw_sent *sent, size_t position)
{
    if (sent->filled == NULL)
        return 0;
    pgw_slice text = sent->filled->client;
    const char *byte = rw_render_written(sent->insert, sent->form, sent->hashes, position);
    return byte != NULL ? pgw_characters(text, (size_t)(byte - text.ptr), sent->insert->utf8) + 1
                        : 0;
}

/* Whether the position is in the statement; `position` becomes that in the client's text, or 0: it
 * is not told. */
static bool is_within(pgw_slice field, const rw_sent *sent, size_t *position)
{
    *position = read_position(field);
    if (*position <= sent->rendered_before)
        return false;
    *position -= sent->rendered_before;
    size_t expression = in_expression(sent, *position);
    if (expression > 0) {
        *position = expression;
        return true;
    }
    if (sent->insert != NULL)
        *position = rw_render_position(sent->insert, sent->form, sent->hashes, *position);
    if (sent->conditions != NULL)
        *position = rw_conditions_position(sent->conditions, sent->text, *position, sent->utf8);
    if (sent->filled != NULL) {
        assert(sent->insert != NULL); /* `insert` was made by filling in parameters. */
        *position = rw_filled_position(sent->filled, *position, sent->insert->utf8);
    }
    return true;
}

static void add_position(pgw_slice field, const rw_sent *sent, pgw_buf *out)
{
    size_t position;
    if (is_within(field, sent, &position))
        pgw_buf_addf(out, "%zu", sent->before + position);
    else
        pgw_buf_add_slice(out, field);
}

/* --- syntax error at or near "," --- */

/* A syntax error may be met at what was put in, which begins with a comma; without it, it is met at
 * the client's next token, a ')'. */
static void add_message(pgw_slice body, pgw_slice text, const rw_sent *sent, pgw_buf *out)
{
    pgw_slice near = PGW_LITERAL("\",\"");
    size_t position = read_position(pgw_error_field(body, 'P'));
    size_t at = find_last(text, 0, text.len, near);
    bool put_in = false;
    if (sent->insert != NULL && at < text.len && position > sent->rendered_before &&
        pgw_slice_eq_str(pgw_error_field(body, 'C'), "42601"))
        rw_render_offset(sent->insert, sent->form, sent->hashes, position - sent->rendered_before,
                         &put_in);
    extent comma_there = {at, at + put_in * near.len};
    pgw_buf_add(out, text.ptr, comma_there.start);
    if (put_in)
        pgw_buf_add_str(out, "\")\"");
    pgw_buf_add(out, text.ptr + comma_there.end, text.len - comma_there.end);
}

/* --- unnamed portal with parameters: $1 = '1', $2 = NULL --- */

/* The byte behind the value that begins at `at`; beyond the text if there is none. */
static size_t end_of_parameter(pgw_slice text, size_t at)
{
    pgw_slice null = PGW_LITERAL("NULL");
    if (find(text, at, text.len < at + null.len ? text.len : at + null.len, null) == at)
        return at + null.len;
    if (at >= text.len || text.ptr[at] != '\'')
        return text.len + 1;
    for (at++; at < text.len; at++)
        if (text.ptr[at] == '\'' && (at + 1 == text.len || text.ptr[at + 1] != '\''))
            return at + 1;
        else if (text.ptr[at] == '\'')
            at++;
    return text.len + 1;
}

/* The byte behind parameter `number` of a list, which begins at `at`; beyond the text if it does
 * not. */
static size_t end_of_numbered(pgw_slice text, size_t at, size_t number)
{
    char head[32];
    size_t len = (size_t)snprintf(head, sizeof head, "%s$%zu = ", number == 1 ? "" : ", ", number);
    if (at > text.len || text.len - at < len || memcmp(text.ptr + at, head, len) != 0)
        return text.len + 1;
    return end_of_parameter(text, at + len);
}

/* Finds the parameters that keyspread added in a list of all that begins at `at`. */
static bool locate_ours(pgw_slice text, size_t at, const rw_sent *sent, extent *ours)
{
    const rw_insert *insert = sent->insert;
    size_t own = insert != NULL ? insert->param_count - sent->asked : sent->conditions->own;
    size_t all = insert != NULL ? insert->param_count + insert->row_count
                                : own + sent->conditions->parameters;
    for (size_t n = 1; n <= all && at <= text.len; n++) {
        at = end_of_numbered(text, at, n);
        if (n == own)
            ours->start = at;
    }
    ours->end = at;
    return at <= text.len;
}

/* Whether keyspread added parameters to the statement. */
static bool has_parameters(const rw_sent *sent)
{
    return sent->insert != NULL ? sent->form == RW_HASH_PARAMETER
                                : sent->conditions != NULL && sent->conditions->parameters > 0;
}

static void add_context(pgw_slice text, const rw_sent *sent, pgw_buf *out)
{
    pgw_slice first = PGW_LITERAL("$1 = ");
    extent ours = {text.len, text.len};
    bool found = !has_parameters(sent);
    for (size_t at = find(text, 0, text.len, first); at < text.len && !found;
         at = find(text, at + 1, text.len, first))
        found = locate_ours(text, at, sent, &ours);
    if (!found)
        ours = (extent){text.len, text.len};
    add_without(text, (extent){0, text.len}, ours, out);
}

/* --- the whole --- */

static void add_field(char code, pgw_slice body, pgw_slice field, const rw_sent *sent, pgw_buf *out)
{
    if (code == 'P')
        add_position(field, sent, out);
    else if (code == 'M')
        add_message(body, field, sent, out);
    else if (code == 'D')
        add_detail(body, field, sent, out);
    else if (code == 'W')
        add_context(field, sent, out);
    else
        pgw_buf_add_slice(out, field);
}

/* Whether a hint says that a strict table's hash column exists but cannot be referenced. */
static bool hints_at_hash(pgw_slice body, pgw_slice hint, const rw_sent *sent)
{
    const rw_table *table = sent->insert != NULL ? sent->insert->table : NULL;
    return table != NULL && table->strict &&
           pgw_slice_eq_str(pgw_error_field(body, 'C'), "42703") &&
           rw_text_mentions(hint, table->columns[table->hash_column].name);
}

void rw_hide_error(pgw_slice body, const rw_sent *sent, pgw_buf *out)
{
    size_t at = 0;
    while (at < body.len && body.ptr[at] != '\0') {
        const char *start = body.ptr + at + 1;
        const char *nul = memchr(start, '\0', body.len - at - 1);
        pgw_slice field = {start, nul == NULL ? body.len - at - 1 : (size_t)(nul - start)};
        size_t position = 1;
        bool placed = body.ptr[at] == 'P' && is_within(field, sent, &position);
        bool told = body.ptr[at] == 'H' && hints_at_hash(body, field, sent);
        if (!told && (!placed || position > 0)) {
            pgw_buf_add_byte(out, body.ptr[at]);
            add_field(body.ptr[at], body, field, sent, out);
            pgw_buf_add_byte(out, '\0');
        }
        at += field.len + 2;
    }
    pgw_buf_add_byte(out, '\0');
}
