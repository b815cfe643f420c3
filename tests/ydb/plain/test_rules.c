/* Each operator with each type on either side: what the other side is taken for. What comes of two
 * types is told by letters (left_out.h), and so is what many types are together. */
#include "ydb/plain/rules.h"
#include "protocol/array.h"
#include "rewrite/statement/script/types.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/protocol/left_out.h"

static const char *const operators[] = {
    "=",   "<>", "!=",  "<",   ">",  "<=", ">=", "~~", "!~~", "~~*", "!~~*", "~",
    "!~",  "~*", "!~*", "^@",  "+",  "-",  "*",  "/",  "%",   "||",  "^",    "->",
    "->>", "?",  "#>",  "#>>", "?|", "?&", "#-", "@>", "<@",  "&&",  "@?",   "@@",
    "&",   "|",  "#",   "<<",  ">>", "&<", "",   "+-", "<->", "=>",
};
enum { OPERATORS = sizeof operators / sizeof *operators };

static const uint32_t elements[] = {
    PGW_BOOL,   PGW_BYTEA,   PGW_NAME,        PGW_INT8,      PGW_INT2,        PGW_INT4, PGW_TEXT,
    PGW_FLOAT4, PGW_FLOAT8,  PGW_BPCHAR,      PGW_VARCHAR,   PGW_DATE,        PGW_UUID, PGW_NUMERIC,
    RW_JSON,    RW_JSONB,    RW_TIME,         RW_TIMETZ,     RW_INTERVAL,     RW_OID,   RW_CHAR,
    RW_VOID,    PGW_UNKNOWN, PGW_UNSPECIFIED, PGW_TIMESTAMP, PGW_TIMESTAMPTZ,
};
enum { ELEMENTS = sizeof elements / sizeof *elements, TYPES = ELEMENTS + 2 };

static uint32_t type_at(size_t i)
{
    return i < ELEMENTS ? elements[i] : pgw_array_of(i == ELEMENTS ? PGW_TEXT : PGW_INT8);
}

static void add_type(uint32_t type, pgw_buf *out)
{
    if (!rw_add_type(type, out))
        pgw_buf_addf(out, "%u", type);
}

static void add_operands(const char *side, uint32_t (*operand)(const char *, uint32_t),
                         const char *name, pgw_buf *out)
{
    pgw_buf_addf(out, " | %s", side);
    for (size_t i = 0; i < TYPES; i++) {
        uint32_t is = operand(name, type_at(i));
        if (is == PGW_UNSPECIFIED)
            continue;
        pgw_buf_add_byte(out, ' ');
        add_type(type_at(i), out);
        if (is == type_at(i)) /* most are the same */
            continue;
        pgw_buf_add_byte(out, ':');
        add_type(is, out);
    }
}

static void add_results(const char *name, pgw_buf *out)
{
    pgw_buf_add_str(out, " |");
    for (size_t left = 0; left < TYPES; left++) {
        pgw_buf told = {0};
        for (size_t right = 0; right < TYPES; right++)
            pgw_buf_addf(&told, " %u", rw_operator_result(name, type_at(left), type_at(right)));
        left_out_letters(&told, out);
        pgw_buf_free(&told);
    }
}

/* Of two types, and with a third behind them. */
static void add_common(uint32_t first, pgw_buf *out)
{
    pgw_buf_add_str(out, "common ");
    add_type(first, out);
    pgw_buf_add_str(out, " |");
    for (size_t i = 0; i < TYPES; i++) {
        uint32_t types[] = {first, type_at(i), PGW_UNSPECIFIED};
        uint32_t common = rw_common_type(types, 2);
        pgw_buf told = {0};
        for (size_t k = 0; k < TYPES; k++) {
            types[2] = type_at(k);
            pgw_buf_addf(&told, " %u", rw_common_type(types, 3));
        }
        if (common != PGW_UNSPECIFIED && common != first) {
            pgw_buf_add_byte(out, ' ');
            add_type(type_at(i), out);
            pgw_buf_add_byte(out, ':');
            add_type(common, out);
        }
        left_out_letters(&told, out);
        pgw_buf_free(&told);
    }
    pgw_buf_add_byte(out, '\n');
}

static char *all(void)
{
    pgw_buf out = {0};
    for (size_t i = 0; i < OPERATORS; i++) {
        pgw_buf_addf(&out, "%s | both ", operators[i]);
        add_type(rw_operand_both(operators[i]), &out);
        add_operands("right of", rw_operand_right, operators[i], &out);
        add_operands("left of", rw_operand_left, operators[i], &out);
        add_results(operators[i], &out);
        pgw_buf_add_byte(&out, '\n');
    }
    for (size_t i = 0; i < TYPES; i++)
        add_common(type_at(i), &out);
    pgw_buf_addf(&out, "common of none %u\n", rw_common_type(NULL, 0));
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/plain/rules.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
