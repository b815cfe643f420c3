#include "ydb/plain/result_array.h"

#include "protocol/reader.h"

enum { DIMENSIONS_MAX = 6 };

typedef struct writing {
    const rw_elements *elements;
    pgw_reader in;
    pgw_error *error;
    int32_t bounds[DIMENSIONS_MAX];
    uint32_t bounded; /* dimensions whose bounds are written */
    uint32_t depth;   /* braces that are open */
    uint32_t dimensions;
    uint32_t lengths[DIMENSIONS_MAX], counts[DIMENSIONS_MAX];
    uint64_t total;
    bool nulls;
    pgw_buf body, element;
} writing;

static bool take(writing *it, char c)
{
    if (it->in.at == it->in.end || *it->in.at != c)
        return false;
    it->in.at++;
    return true;
}

static bool take_number(writing *it, int32_t *out)
{
    bool negative = take(it, '-');
    int64_t value = 0;
    const char *from = it->in.at;
    for (; it->in.at < it->in.end && *it->in.at >= '0' && *it->in.at <= '9'; it->in.at++)
        if ((value = 10 * value + (*it->in.at - '0')) > INT32_MAX)
            return false;
    *out = (int32_t)(negative ? -value : value);
    return it->in.at > from;
}

/* Takes [1:3][0:1]=, which stands there if a bound is not 1. */
static bool take_bounds(writing *it)
{
    int32_t upper;
    for (size_t i = 0; i < DIMENSIONS_MAX; i++)
        it->bounds[i] = 1;
    while (it->bounded < DIMENSIONS_MAX && take(it, '['))
        if (!take_number(it, &it->bounds[it->bounded++]) || !take(it, ':') ||
            !take_number(it, &upper) || !take(it, ']'))
            return false;
    return it->bounded == 0 || take(it, '=');
}

static bool take_quoted(writing *it)
{
    while (it->in.at < it->in.end && *it->in.at != '"') {
        if (*it->in.at == '\\' && ++it->in.at == it->in.end)
            return false;
        pgw_buf_add_byte(&it->element, *it->in.at++);
    }
    return take(it, '"');
}

static bool take_bare(writing *it)
{
    const char *from = it->in.at;
    while (it->in.at < it->in.end && *it->in.at != ',' && *it->in.at != '}')
        it->in.at++;
    pgw_buf_add(&it->element, from, (size_t)(it->in.at - from));
    return it->in.at > from;
}

static bool send_element(writing *it)
{
    const rw_elements *of = it->elements;
    size_t at = it->body.len;
    pgw_buf_add_i32(&it->body, 0);
    if (!of->send(of->type, pgw_slice_buf(&it->element), of->env, &it->body, it->error))
        return false;
    uint32_t length = (uint32_t)(it->body.len - at - sizeof length);
    for (size_t i = 0; i < sizeof length; i++)
        it->body.ptr[at + i] = (char)(length >> (24 - 8 * i));
    return true;
}

static bool take_element(writing *it)
{
    pgw_buf_clear(&it->element);
    bool quoted = take(it, '"');
    if (it->depth != it->dimensions || !(quoted ? take_quoted(it) : take_bare(it)))
        return false;
    it->counts[it->depth - 1]++;
    it->total++;
    if (quoted || !pgw_slice_eq_str(pgw_slice_buf(&it->element), "NULL"))
        return send_element(it);
    it->nulls = true;
    pgw_buf_add_i32(&it->body, -1);
    return true;
}

/* Ends a part of a dimension. False: not all parts of the dimension have one length. */
static bool close_brace(writing *it)
{
    uint32_t at = --it->depth;
    bool first = it->lengths[at] == 0;
    it->lengths[at] = first ? it->counts[at] : it->lengths[at];
    if (it->counts[at] == 0 || it->counts[at] != it->lengths[at])
        return false;
    it->counts[at] = 0;
    if (at > 0)
        it->counts[at - 1]++;
    return true;
}

static bool open_braces(writing *it)
{
    while (take(it, '{'))
        if (++it->depth > DIMENSIONS_MAX)
            return false;
    if (it->dimensions == 0)
        it->dimensions = it->depth;
    return it->depth > 0;
}

static bool take_body(writing *it)
{
    do {
        if (!open_braces(it) || !take_element(it))
            return false;
        while (it->depth > 0 && take(it, '}'))
            if (!close_brace(it))
                return false;
    } while (it->depth > 0 && take(it, ','));
    return it->depth == 0 && (it->bounded == 0 || it->bounded == it->dimensions);
}

static bool take_empty(writing *it)
{
    pgw_slice rest = {it->in.at, (size_t)(it->in.end - it->in.at)};
    if (!pgw_slice_eq_str(rest, "{}"))
        return false;
    it->in.at = it->in.end;
    return true;
}

static void write_all(writing *it, pgw_buf *out)
{
    pgw_buf_add_i32(out, (int32_t)it->dimensions);
    pgw_buf_add_i32(out, it->nulls);
    pgw_buf_add_i32(out, (int32_t)it->elements->type);
    for (uint32_t i = 0; i < it->dimensions; i++) {
        pgw_buf_add_i32(out, (int32_t)it->lengths[i]);
        pgw_buf_add_i32(out, it->bounds[i]);
    }
    pgw_buf_add_slice(out, pgw_slice_buf(&it->body));
}

bool rw_send_array(const rw_elements *elements, pgw_slice text, pgw_buf *out, pgw_error *error)
{
    writing it = {.elements = elements, .in = pgw_reader_of(text), .error = error};
    *error = PGW_ERROR_NONE;
    bool fine = take_bounds(&it) && (take_empty(&it) || take_body(&it)) && it.in.at == it.in.end;
    if (fine)
        write_all(&it, out);
    pgw_buf_free(&it.body);
    pgw_buf_free(&it.element);
    return fine;
}
