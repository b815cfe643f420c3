#include "ydb/plain/rules.h"

#include "protocol/array.h"
#include "rewrite/statement/script/types.h"

#include <string.h>

static bool is_any(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static bool compares(const char *name)
{
    static const char *const names[] = {"=", "<>", "!=", "<", ">", "<=", ">=", NULL};
    return is_any(name, names);
}

static bool matches(const char *name)
{
    static const char *const names[] = {"~~", "!~~", "~~*", "!~~*", "~",
                                        "!~", "~*",  "!~*", "^@",   NULL};
    return is_any(name, names);
}

static bool calculates(const char *name)
{
    static const char *const names[] = {"+", "-", "*", "/", "%", NULL};
    return is_any(name, names);
}

/* The rank of a type of numbers, bigger for wider types; 0: the type is no number. */
static int number_rank(uint32_t type)
{
    static const uint32_t ranks[] = {PGW_INT2,    PGW_INT4,   PGW_INT8,
                                     PGW_NUMERIC, PGW_FLOAT4, PGW_FLOAT8};
    for (int i = 0; i < (int)(sizeof ranks / sizeof *ranks); i++)
        if (ranks[i] == type)
            return i + 1;
    return 0;
}

static bool is_integer(uint32_t type)
{
    return type == PGW_INT2 || type == PGW_INT4 || type == PGW_INT8;
}

static bool is_float(uint32_t type)
{
    return type == PGW_FLOAT4 || type == PGW_FLOAT8;
}

static bool is_timestamp(uint32_t type)
{
    return type == PGW_TIMESTAMP || type == PGW_TIMESTAMPTZ;
}

/* The type that a value of this type is compared with: varchar borrows the operators of text; json
 * has none. */
static uint32_t compared_with(uint32_t type)
{
    return type == PGW_VARCHAR ? PGW_TEXT : type == RW_JSON ? PGW_UNSPECIFIED : type;
}

/* The type of the other side of + - * / %: the same one, if there is such an operator; else the
 * only one that there is. */
static uint32_t calculated_with(const char *name, uint32_t type, bool left)
{
    char sign = name[0];
    if (number_rank(type) > 0)
        return sign == '%' && is_float(type) ? PGW_UNSPECIFIED : type;
    if (type == RW_INTERVAL)
        return sign == '+' || sign == '-'             ? RW_INTERVAL
               : sign == '*' || (sign == '/' && left) ? PGW_FLOAT8
                                                      : PGW_UNSPECIFIED;
    if (sign == '-' && (type == PGW_DATE || type == RW_TIME || is_timestamp(type)))
        return type;
    if (sign == '-' && type == RW_JSONB && left)
        return PGW_TEXT;
    return sign == '+' && is_timestamp(type) ? RW_INTERVAL : PGW_UNSPECIFIED;
}

static uint32_t joined_with(uint32_t type)
{
    bool itself = type == PGW_BYTEA || type == RW_JSONB || pgw_array_element(type) != 0;
    return itself ? type : PGW_TEXT;
}

/* The type of what stands behind ->, #> and their like. */
static uint32_t path_into(const char *name, uint32_t type)
{
    static const char *const keys[] = {"->", "->>", "?", NULL};
    static const char *const paths[] = {"#>", "#>>", "?|", "?&", "#-", NULL};
    if (type != RW_JSON && type != RW_JSONB)
        return PGW_UNSPECIFIED;
    return is_any(name, keys)    ? PGW_TEXT
           : is_any(name, paths) ? pgw_array_of(PGW_TEXT)
                                 : PGW_UNSPECIFIED;
}

static bool contains(const char *name)
{
    static const char *const names[] = {"@>", "<@", "&&", NULL};
    return is_any(name, names);
}

static bool combines_bits(const char *name)
{
    static const char *const names[] = {"&", "|", "#", NULL};
    return is_any(name, names);
}

/* The type of the other side of operators on an integer's bits: shifts take an integer. */
static uint32_t bits_with(const char *name, uint32_t type, bool left)
{
    static const char *const shifts[] = {"<<", ">>", NULL};
    if (!is_integer(type))
        return PGW_UNSPECIFIED;
    return combines_bits(name) ? type : left && is_any(name, shifts) ? PGW_INT4 : PGW_UNSPECIFIED;
}

static uint32_t raised_with(uint32_t type)
{
    return type == PGW_NUMERIC ? PGW_NUMERIC : number_rank(type) > 0 ? PGW_FLOAT8 : PGW_UNSPECIFIED;
}

static uint32_t operand(const char *name, uint32_t known, bool left)
{
    if (known == PGW_UNSPECIFIED)
        return PGW_UNSPECIFIED;
    if (compares(name))
        return compared_with(known);
    if (matches(name))
        return known == PGW_BYTEA ? PGW_BYTEA : PGW_TEXT;
    if (calculates(name))
        return calculated_with(name, known, left);
    if (strcmp(name, "||") == 0)
        return joined_with(known);
    if (strcmp(name, "^") == 0)
        return raised_with(known);
    if (contains(name))
        return known;
    uint32_t path = left ? path_into(name, known) : PGW_UNSPECIFIED;
    return path != PGW_UNSPECIFIED ? path : bits_with(name, known, left);
}

uint32_t rw_operand_left(const char *name, uint32_t right)
{
    return operand(name, right, false);
}

uint32_t rw_operand_right(const char *name, uint32_t left)
{
    return operand(name, left, true);
}

uint32_t rw_operand_both(const char *name)
{
    return compares(name) || matches(name) || strcmp(name, "||") == 0 ? PGW_TEXT : PGW_UNSPECIFIED;
}

/* The result of + or - for dates and times, with each other, with intervals and with days. */
static uint32_t moved(const char *name, uint32_t left, uint32_t right)
{
    bool minus = name[0] == '-';
    if (left == PGW_DATE && right == PGW_DATE)
        return minus ? PGW_INT4 : PGW_UNSPECIFIED;
    if ((left == PGW_DATE && is_integer(right)) || (is_integer(left) && right == PGW_DATE))
        return PGW_DATE;
    if (left == right && (is_timestamp(left) || left == RW_TIME))
        return RW_INTERVAL;
    uint32_t other = left == RW_INTERVAL ? right : right == RW_INTERVAL ? left : PGW_UNSPECIFIED;
    return other == PGW_DATE ? PGW_TIMESTAMP : number_rank(other) > 0 ? RW_INTERVAL : other;
}

static uint32_t larger(uint32_t left, uint32_t right)
{
    /* real and numeric meet in double precision */
    if ((left == PGW_FLOAT4 && right != PGW_FLOAT4) || (right == PGW_FLOAT4 && left != PGW_FLOAT4))
        return PGW_FLOAT8;
    return number_rank(left) > number_rank(right) ? left : right;
}

static uint32_t calculated(const char *name, uint32_t left, uint32_t right)
{
    if (left == PGW_UNSPECIFIED)
        return right;
    if (left == RW_JSONB)
        return RW_JSONB;
    bool numbers = number_rank(left) > 0 && number_rank(right) > 0;
    return numbers ? larger(left, right) : moved(name, left, right);
}

static uint32_t joined(uint32_t left, uint32_t right)
{
    if (pgw_array_element(left) != PGW_UNSPECIFIED)
        return left;
    if (pgw_array_element(right) != PGW_UNSPECIFIED)
        return right;
    return left == right && (left == PGW_BYTEA || left == RW_JSONB) ? left : PGW_TEXT;
}

uint32_t rw_operator_result(const char *name, uint32_t left, uint32_t right)
{
    static const char *const texts[] = {"->>", "#>>", NULL};
    static const char *const parts[] = {"->", "#>", "#-", NULL};
    static const char *const truths[] = {"?", "?|", "?&", "@>", "<@", "&&", "@?", "@@", NULL};
    if (compares(name) || is_any(name, truths) || (matches(name) && left != PGW_UNSPECIFIED))
        return PGW_BOOL;
    if (is_any(name, texts))
        return PGW_TEXT;
    if (strcmp(name, "||") == 0)
        return joined(left, right);
    if (strcmp(name, "^") == 0)
        return raised_with(larger(left, right));
    if (calculates(name))
        return calculated(name, left, right);
    if (combines_bits(name) && is_integer(left) && is_integer(right))
        return larger(left, right);
    return is_any(name, parts) || is_integer(left) ? left : PGW_UNSPECIFIED;
}

/* Whether values of a type become values of the other without a cast, but not the reverse. */
static bool widens(uint32_t from, uint32_t to)
{
    int less = number_rank(from), more = number_rank(to);
    if (less > 0 || more > 0)
        return less > 0 && less < more;
    if (from == PGW_DATE)
        return is_timestamp(to);
    if (from == RW_TIME)
        return to == RW_INTERVAL || to == RW_TIMETZ;
    return (from == PGW_TIMESTAMP && to == PGW_TIMESTAMPTZ) || (from == PGW_NAME && to == PGW_TEXT);
}

uint32_t rw_common_type(const uint32_t *types, size_t count)
{
    uint32_t common = PGW_UNKNOWN;
    for (size_t i = 0; i < count; i++) {
        if (types[i] == PGW_UNSPECIFIED)
            return PGW_UNSPECIFIED;
        if (common == PGW_UNKNOWN || (types[i] != PGW_UNKNOWN && widens(common, types[i])))
            common = types[i];
    }
    return common == PGW_UNKNOWN ? PGW_TEXT : common;
}
