#include "proxy/backend/schema/schema_type.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/value.h"

enum { MAX_MODIFIERS = 2, HEADER = 4 }; /* typmods of character types and numeric count a header */

typedef struct written_type {
    pgw_buf name; /* the type in lower case, with single blanks, without modifiers */
    long modifiers[MAX_MODIFIERS];
    int modifier_count;
} written_type;

/* Reads modifiers such as "(6,2)" at `at`. Returns what follows; NULL if they are not small
 * numbers. */
static const char *read_modifiers(const char *at, written_type *type)
{
    do {
        char *end;
        at += 1 + strspn(at + 1, " ");
        if (type->modifier_count == MAX_MODIFIERS || strspn(at, "-0123456789") > 8)
            return NULL;
        type->modifiers[type->modifier_count++] = strtol(at, &end, 10);
        if (end == at)
            return NULL;
        at = end + strspn(end, " ");
    } while (*at == ',');
    return *at == ')' ? at + 1 : NULL;
}

static bool read_type(const char *text, written_type *type)
{
    bool blank = false;
    while (*text != '\0') {
        if (*text == '(') {
            if (type->modifier_count > 0 || (text = read_modifiers(text, type)) == NULL)
                return false;
            blank = true;
            continue;
        }
        char c = *text++;
        if (c == ' ' || c == '\t') {
            blank = true;
            continue;
        }
        if (blank && type->name.len > 0)
            pgw_buf_add_byte(&type->name, ' ');
        blank = false;
        pgw_buf_add_byte(&type->name, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
    }
    return type->name.len > 0;
}

static bool length_modifier(const written_type *type, int32_t *typmod)
{
    if (type->modifier_count != 1 || type->modifiers[0] < 1 || type->modifiers[0] > 10485760)
        return false;
    *typmod = (int32_t)type->modifiers[0] + HEADER;
    return true;
}

static bool numeric_modifier(const written_type *type, int32_t *typmod)
{
    long precision = type->modifiers[0];
    long scale = type->modifier_count == 2 ? type->modifiers[1] : 0;
    if (precision < 1 || precision > 1000 || scale < -1000 || scale > 1000)
        return false;
    *typmod = (int32_t)((precision << 16) | (scale & 0x7ff)) + HEADER;
    return true;
}

static bool time_modifier(const written_type *type, int32_t *typmod)
{
    if (type->modifier_count != 1 || type->modifiers[0] < 0 || type->modifiers[0] > 6)
        return false;
    *typmod = (int32_t)type->modifiers[0];
    return true;
}

static bool read_typmod(const written_type *written, rw_column *column)
{
    pgw_slice name = pgw_slice_buf(&written->name);
    column->typmod = -1;
    if (written->modifier_count == 0) {
        /* A character type without a length has length one, but for the name bpchar. */
        if (column->type == PGW_BPCHAR && !pgw_slice_eq_str(name, "bpchar"))
            column->typmod = 1 + HEADER;
        return true;
    }
    switch (column->type) {
    case PGW_BPCHAR:
    case PGW_VARCHAR:
        return length_modifier(written, &column->typmod);
    case PGW_NUMERIC:
        return numeric_modifier(written, &column->typmod);
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        return time_modifier(written, &column->typmod);
    default:
        return column->type == PGW_UNSPECIFIED;
    }
}

/* The type's name as format_type() prints it, or as it was written if it is unknown. */
static char *format_type(const rw_column *column, const char *written)
{
    const char *name = pgw_type_name(column->type);
    pgw_buf out = {0};
    if (column->type == PGW_UNSPECIFIED || name == NULL)
        pgw_buf_add_str(&out, written);
    else if (column->typmod < 0)
        pgw_buf_add_str(&out, column->type == PGW_BPCHAR ? "bpchar" : name);
    else if (column->type == PGW_NUMERIC)
        pgw_buf_addf(&out, "%s(%d,%d)", name, (column->typmod - HEADER) >> 16,
                     (((column->typmod - HEADER) & 0x7ff) ^ 1024) - 1024);
    else if (column->type == PGW_TIMESTAMP || column->type == PGW_TIMESTAMPTZ)
        pgw_buf_addf(&out, "timestamp(%d)%s", column->typmod, name + strlen("timestamp"));
    else
        pgw_buf_addf(&out, "%s(%d)", name, column->typmod - HEADER);
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

bool px_schema_type(const char *text, rw_column *column)
{
    written_type written = {0};
    bool good = read_type(text, &written);
    column->type = good ? pgw_type_by_name(pgw_slice_buf(&written.name)) : PGW_UNSPECIFIED;
    good = good && read_typmod(&written, column);
    if (!good)
        column->typmod = -1;
    column->type_name = format_type(column, text);
    pgw_buf_free(&written.name);
    return good;
}
