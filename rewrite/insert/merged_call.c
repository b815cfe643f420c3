#include "rewrite/insert/merged_call.h"

/* All PostgreSQL functions and operators of these names are immutable, or stable by TimeZone,
 * DateStyle and the transaction's time alone; none returns sets or aggregates rows.
 * tests/integration/test_merged_calls.py asks the servers. */
static const char *const functions[] = {"abs",
                                        "ascii",
                                        "bit_length",
                                        "btrim",
                                        "ceil",
                                        "ceiling",
                                        "char_length",
                                        "character_length",
                                        "chr",
                                        "date_part",
                                        "date_trunc",
                                        "decode",
                                        "div",
                                        "encode",
                                        "exp",
                                        "floor",
                                        "initcap",
                                        "left",
                                        "ln",
                                        "lower",
                                        "lpad",
                                        "ltrim",
                                        "make_date",
                                        "make_interval",
                                        "make_time",
                                        "make_timestamp",
                                        "make_timestamptz",
                                        "md5",
                                        "mod",
                                        "octet_length",
                                        "power",
                                        "repeat",
                                        "replace",
                                        "reverse",
                                        "right",
                                        "round",
                                        "rpad",
                                        "rtrim",
                                        "sha256",
                                        "sign",
                                        "split_part",
                                        "sqrt",
                                        "strpos",
                                        "substr",
                                        "timezone",
                                        "to_char",
                                        "to_date",
                                        "to_hex",
                                        "to_timestamp",
                                        "translate",
                                        "trunc",
                                        "upper",
                                        NULL};

static const char *const operators[] = {"||", "+", "-", "*", "/", "%", NULL};

static const char *const grammar[] = {"coalesce", "nullif", "greatest", "least", NULL};

static bool is_one_of(pgw_slice name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (pgw_slice_ieq_str(name, *names))
            return true;
    return false;
}

const char *rw_merged_function(size_t i)
{
    return functions[i];
}

const char *rw_merged_operator(size_t i)
{
    return operators[i];
}

bool rw_is_grammar_call(pgw_slice name)
{
    return is_one_of(name, grammar);
}

bool rw_is_merged_function(pgw_slice name)
{
    return is_one_of(name, functions);
}

bool rw_is_merged_operator(pgw_slice name)
{
    return is_one_of(name, operators);
}
