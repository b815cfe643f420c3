/*
 * value_probe: what keyspread makes of a cell, a line a cell, for the test that asks PostgreSQL the
 * same. Fields in and out are separated by tabs, bytes are in hexadecimal:
 *   in:  column's type and typmod, kind (string integer decimal bool null param), text,
 * minus_after, casts (type:typmod;…), parameter (type:binary:null), utf8 (0 or 1), zone (seconds or
 * -) out: known | unknowable | invalid, SQLSTATE, message, detail, hint, value as the type's send
 *        function has it (numeric: its text), canonical bytes, pg_hash
 */
#include "protocol/value_canonical.h"
#include "rewrite/hash/hash.h"
#include "rewrite/hash/literal.h"
#include "rewrite/hash/pg_hash.h"
#include "tests/protocol/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 9 };

static void print_hex(pgw_slice bytes)
{
    putchar('\t');
    for (size_t i = 0; i < bytes.len; i++)
        printf("%02x", (unsigned char)bytes.ptr[i]);
}

static rw_cell_kind read_kind(const char *name)
{
    static const struct {
        const char *name;
        rw_cell_kind kind;
    } kinds[] = {{"string", RW_CELL_STRING},   {"integer", RW_CELL_INTEGER},
                 {"decimal", RW_CELL_DECIMAL}, {"bool", RW_CELL_BOOL},
                 {"null", RW_CELL_NULL},       {"param", RW_CELL_PARAM}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return kinds[i].kind;
    return RW_CELL_EXPRESSION;
}

static void read_casts(char *text, rw_cell *cell)
{
    char *casts[RW_MAX_CASTS], *parts[2];
    if (*text == '\0')
        return;
    cell->cast_count = (uint8_t)split(text, ';', casts, RW_MAX_CASTS);
    for (size_t i = 0; i < cell->cast_count; i++)
        if (split(casts[i], ':', parts, 2) == 2)
            cell->casts[i] = (rw_cast){.type = (uint32_t)atoi(parts[0]), .typmod = atoi(parts[1])};
}

static rw_param read_param(char *text, pgw_slice bytes)
{
    char *parts[3];
    if (split(text, ':', parts, 3) != 3)
        return (rw_param){0};
    return (rw_param){.type = (uint32_t)atoi(parts[0]),
                      .binary = parts[1][0] == '1',
                      .null = parts[2][0] == '1',
                      .bytes = bytes};
}

static void add_big_endian(uint64_t integer, size_t width, pgw_buf *out)
{
    for (size_t i = width; i-- > 0;)
        pgw_buf_add_byte(out, (char)(integer >> 8 * i));
}

static void send_value(const pgw_value *value, pgw_buf *out)
{
    uint64_t bits;
    switch (value->type) {
    case PGW_BOOL:
        add_big_endian((uint64_t)value->as.integer, 1, out);
        return;
    case PGW_INT2:
        add_big_endian((uint64_t)value->as.integer, 2, out);
        return;
    case PGW_INT4:
    case PGW_DATE:
        add_big_endian((uint64_t)value->as.integer, 4, out);
        return;
    case PGW_INT8:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        add_big_endian((uint64_t)value->as.integer, 8, out);
        return;
    case PGW_FLOAT8:
        memcpy(&bits, &value->as.real, sizeof bits);
        add_big_endian(bits, 8, out);
        return;
    default:
        pgw_buf_add_slice(out, value->as.bytes);
    }
}

static void answer(char **fields)
{
    static const char *const verdicts[] = {"known", "unknowable", "invalid"};
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_buf sent = {0}, canonical = {0};
    rw_column column = {.name = "x", .type = (uint32_t)atoi(fields[0]), .typmod = atoi(fields[1])};
    rw_cast casts[RW_MAX_CASTS] = {0};
    rw_cell cell = {.kind = read_kind(fields[2]),
                    .casts = casts,
                    .text = unhex(fields[3], &arena),
                    .parameter = 1,
                    .minus_after = (int8_t)atoi(fields[4])};
    read_casts(fields[5], &cell);
    rw_param param = read_param(fields[6], cell.text);
    pgw_env env = {.utf8 = fields[7][0] == '1',
                   .zone_known = fields[8][0] != '-' || fields[8][1] != '\0',
                   .zone_seconds = atoi(fields[8]),
                   .conforming = true};
    pgw_verdict verdict = rw_cell_value(&cell, &column, (rw_params){&param, 1},
                                        &(pgw_reading){&env, &arena, &error}, &value);
    if (verdict == PGW_KNOWN && !value.null) {
        send_value(&value, &sent);
        pgw_buf_add_slice(&canonical, pgw_value_canonical(&value, (char[PGW_CANONICAL_ROOM]){0}));
    }
    printf("%s\t%s", verdicts[verdict], error.sqlstate);
    print_hex(pgw_slice_str(error.message));
    print_hex(pgw_slice_str(error.detail));
    print_hex(pgw_slice_str(error.hint));
    if (verdict == PGW_KNOWN && value.null)
        printf("\tnull");
    else
        print_hex(pgw_slice_buf(&sent));
    print_hex(pgw_slice_buf(&canonical));
    printf("\t%lld\n", verdict == PGW_KNOWN ? (long long)rw_pg_hash(&value, 1) : 0);
    fflush(stdout);
    pgw_buf_free(&sent);
    pgw_buf_free(&canonical);
    pgw_arena_free(&arena);
}

int main(void)
{
    char *line = NULL, *fields[FIELDS];
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, stdin)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        if (split(line, '\t', fields, FIELDS) != FIELDS) {
            fprintf(stderr, "value_probe: %d fields wanted\n", FIELDS);
            return 2;
        }
        answer(fields);
    }
    free(line);
    return 0;
}
