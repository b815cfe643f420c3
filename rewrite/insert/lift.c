#include "rewrite/insert/lift.h"

#include <string.h>

enum {
    MOST_COLUMNS = 1600,    /* columns that a table can have */
    MOST_BYTES = 4096,      /* bytes of a value: for longer ones the parser's part is small */
    MOST_DIGITS = 40,       /* digits of a number, which overflow no type on its way to another */
    FIRST_ASSIGNED = 10000, /* types from this oid on differ between databases, as domains do */
    INTERVAL = 1186,        /* interval's input looks at the typmod of a constant alone */
    XML = 142,              /* xml's input gives a WARNING with a position in the text */
    TSQUERY = 3615          /* tsquery's input gives a NOTICE with a position in the text */
};

void rw_lift_begin(rw_parser *parser)
{
    rw_insert *insert = parser->insert;
    if (!insert->hash_listed && parser->target_count <= MOST_COLUMNS)
        insert->lifts =
            pgw_arena_alloc(parser->arena, (parser->target_count + 1) * sizeof *insert->lifts);
}

void rw_lift_give_up(rw_parser *parser)
{
    parser->insert->lifts = NULL;
    parser->insert->lift_count = 0;
}

static bool is_digits(pgw_slice text, bool point)
{
    for (size_t i = 0; i < text.len; i++)
        if ((text.ptr[i] < '0' || text.ptr[i] > '9') && !(point && text.ptr[i] == '.'))
            return false;
    return text.len <= MOST_DIGITS;
}

static bool is_zero(pgw_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != '0' && text.ptr[i] != '.')
            return false;
    return true;
}

/* Whether a number, which is of a type of its own and then cast, becomes the same value if its text
 * is read by the column's type; a number that is rounded or shown on the way is not lifted. (-0 is
 * 0 for all but an input of floats.) */
static bool takes_number(uint32_t type, const rw_cell *cell)
{
    bool decimal = cell->kind == RW_CELL_DECIMAL;
    bool whole = type == PGW_INT2 || type == PGW_INT4 || type == PGW_INT8;
    bool fractional = type == PGW_NUMERIC || type == PGW_FLOAT4 || type == PGW_FLOAT8;
    return (fractional || (whole && !decimal)) && cell->cast_count == 0 &&
           is_digits(cell->text, decimal) && (cell->minus_after < 0 || !is_zero(cell->text));
}

/* Whether a string has no escapes, which make bytes of the server's encoding, or only ASCII comes
 * of them: a parameter is converted. */
static bool is_plain(pgw_slice written, pgw_slice value)
{
    if (memchr(written.ptr, '\\', written.len) == NULL)
        return true;
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.ptr[i] >= 0x80)
            return false;
    return true;
}

/* Whether a string is read by its type's input alike as a constant and as a parameter. */
static bool takes_string(const rw_column *column, const rw_cell *cell, pgw_slice written)
{
    uint32_t type = column->type;
    bool silent = type != INTERVAL && type != XML && type != TSQUERY;
    bool own = cell->cast_count == 1 && cell->casts[0].type == type &&
               cell->casts[0].typmod == -1 && !column->own_names && !column->own_rows;
    return type < FIRST_ASSIGNED && silent && (cell->cast_count == 0 || own) &&
           cell->text.len <= MOST_BYTES && is_plain(written, cell->text);
}

static bool takes(const rw_column *column, const rw_cell *cell, pgw_slice written)
{
    uint32_t type = column->type;
    switch (cell->kind) {
    case RW_CELL_NULL:
        return type < FIRST_ASSIGNED && cell->cast_count == 0;
    case RW_CELL_BOOL:
        return type == PGW_BOOL && cell->cast_count == 0;
    case RW_CELL_STRING:
        return cell->minus_after < 0 && takes_string(column, cell, written);
    case RW_CELL_INTEGER:
    case RW_CELL_DECIMAL:
        return takes_number(type, cell);
    default:
        return false;
    }
}

bool rw_lift_takes(uint32_t type, const rw_cell *cell, pgw_slice written)
{
    const rw_column column = {.type = type};
    return takes(&column, cell, written);
}

static pgw_slice value_of(const rw_cell *cell, pgw_arena *arena)
{
    if (cell->minus_after < 0)
        return cell->text;
    char *negative = pgw_arena_alloc(arena, cell->text.len + 1);
    negative[0] = '-';
    memcpy(negative + 1, cell->text.ptr, cell->text.len);
    return (pgw_slice){negative, cell->text.len + 1};
}

pgw_slice rw_lift_value(const rw_cell *cell, pgw_arena *arena)
{
    return cell->kind == RW_CELL_NULL ? (pgw_slice){NULL, 0} : value_of(cell, arena);
}

void rw_lift_cell(rw_parser *parser, const rw_target *target, const rw_cell *cell)
{
    rw_insert *insert = parser->insert;
    const rw_table *table = parser->table;
    size_t from = cell->position, to = parser->last_end;
    if (insert->lifts == NULL || cell->kind == RW_CELL_DEFAULT)
        return;
    bool known = target != NULL && target->column < table->column_count && !target->indirect;
    if (!known || !takes(&table->columns[target->column], cell,
                         (pgw_slice){parser->text.ptr + from, to - from})) {
        rw_lift_give_up(parser);
        return;
    }
    bool null = cell->kind == RW_CELL_NULL;
    insert->lifts[insert->lift_count++] =
        (rw_lift){from, to, null, null ? PGW_LITERAL("") : value_of(cell, parser->arena)};
}

void rw_lift_text(const rw_insert *insert, pgw_buf *out)
{
    size_t at = 0;
    for (size_t i = 0; i < insert->lift_count; i++) {
        pgw_buf_add(out, insert->text.ptr + at, insert->lifts[i].from - at);
        pgw_buf_add_byte(out, '$');
        pgw_buf_add_unsigned(out, i + 1);
        at = insert->lifts[i].to;
    }
    pgw_buf_add(out, insert->text.ptr + at, insert->end - at);
}
