#include "rewrite/lex/calls.h"

#include <string.h>

/* The harmless functions by first letter, each list in the order of strcmp(). */
/* clang-format off */
static const char *const with_a[] = {
    "abs", "acos", "age", "all", "analyze", "and", "any", "array", "array_agg", "array_append",
    "array_cat", "array_dims", "array_fill", "array_length", "array_lower", "array_ndims",
    "array_position", "array_positions", "array_prepend", "array_remove", "array_replace",
    "array_to_json", "array_to_string", "array_to_tsvector", "array_upper", "as", "ascii", "asin",
    "atan", "atan2", "avg",
};
static const char *const with_b[] = {
    "between", "bit", "bit_and", "bit_length", "bit_or", "bool", "bool_and", "bool_or", "bpchar",
    "btrim", "buffers", "by", "bytea",
};
static const char *const with_c[] = {
    "cardinality", "case", "cast", "cbrt", "ceil", "ceiling", "char", "char_length", "character",
    "character_length", "check", "chr", "cidr", "clock_timestamp", "coalesce", "col_description",
    "concat", "concat_ws", "conflict", "constraint", "convert", "convert_from", "convert_to",
    "corr", "cos", "costs", "cot", "count", "covar_pop", "covar_samp", "cube", "cume_dist",
    "current_database", "current_schema", "current_schemas", "current_setting", "current_time",
    "current_timestamp",
};
static const char *const with_d[] = {
    "date", "date_bin", "date_part", "date_trunc", "daterange", "dec", "decimal", "decode",
    "default", "degrees", "dense_rank", "distinct", "div", "do",
};
static const char *const with_e[] = {
    "else", "encode", "escape", "every", "except", "excluded", "exists", "exp", "explain",
    "extract",
};
static const char *const with_f[] = {
    "factorial", "filter", "first_value", "float", "float4", "float8", "floor", "for", "format",
    "format_type", "from", "full",
};
static const char *const with_g[] = {
    "gcd", "gen_random_uuid", "generate_series", "generate_subscripts", "get_bit", "get_byte",
    "greatest", "group", "grouping",
};
static const char *const with_h[] = {
    "has_column_privilege", "has_database_privilege", "has_function_privilege",
    "has_schema_privilege", "has_sequence_privilege", "has_table_privilege", "having", "host",
};
static const char *const with_i[] = {
    "ilike", "in", "inet", "inet_client_addr", "inet_server_port", "initcap", "inner", "int",
    "int2", "int4", "int4range", "int8", "int8range", "intersect", "interval", "into", "is",
    "isempty", "isfinite",
};
static const char *const with_j[] = {
    "join", "json", "json_agg", "json_array_elements", "json_array_elements_text",
    "json_array_length", "json_build_array", "json_build_object", "json_each", "json_each_text",
    "json_extract_path", "json_extract_path_text", "json_object", "json_object_agg",
    "json_object_keys", "json_populate_record", "json_populate_recordset", "json_to_record",
    "json_to_recordset", "json_typeof", "jsonb", "jsonb_agg", "jsonb_array_elements",
    "jsonb_array_elements_text", "jsonb_array_length", "jsonb_build_array", "jsonb_build_object",
    "jsonb_each", "jsonb_each_text", "jsonb_extract_path", "jsonb_extract_path_text",
    "jsonb_insert", "jsonb_object", "jsonb_object_agg", "jsonb_object_keys", "jsonb_path_exists",
    "jsonb_path_match", "jsonb_path_query", "jsonb_path_query_array", "jsonb_path_query_first",
    "jsonb_populate_record", "jsonb_pretty", "jsonb_set", "jsonb_strip_nulls", "jsonb_to_record",
    "jsonb_to_recordset", "jsonb_typeof", "justify_days", "justify_hours", "justify_interval",
};
static const char *const with_k[] = {"key"};
static const char *const with_l[] = {
    "lag", "last_value", "lateral", "lcm", "lead", "least", "left", "length", "like", "limit",
    "ln", "localtime", "localtimestamp", "log", "log10", "lower", "lower_inc", "lower_inf", "lpad",
    "ltrim",
};
static const char *const with_m[] = {
    "make_date", "make_interval", "make_time", "make_timestamp", "make_timestamptz", "masklen",
    "materialized", "max", "md5", "min", "mod", "mode", "money",
};
static const char *const with_n[] = {
    "name", "national", "natural", "nchar", "normalize", "not", "nothing", "notnull", "now",
    "nth_value", "ntile", "nullif", "num_nonnulls", "num_nulls", "numeric", "numnode", "numrange",
};
static const char *const with_o[] = {
    "obj_description", "octet_length", "of", "offset", "on", "only", "or", "order", "over",
    "overlay",
};
static const char *const with_p[] = {
    "parse_ident", "partition", "percent_rank", "percentile_cont", "percentile_disc",
    "pg_backend_pid", "pg_client_encoding", "pg_column_size", "pg_current_xact_id",
    "pg_database_size", "pg_describe_object", "pg_encoding_to_char", "pg_function_is_visible",
    "pg_get_constraintdef", "pg_get_expr", "pg_get_function_arguments",
    "pg_get_function_identity_arguments", "pg_get_function_result", "pg_get_functiondef",
    "pg_get_indexdef", "pg_get_partkeydef", "pg_get_ruledef", "pg_get_serial_sequence",
    "pg_get_triggerdef", "pg_get_userbyid", "pg_get_viewdef", "pg_has_role", "pg_indexes_size",
    "pg_is_in_recovery", "pg_is_other_temp_schema", "pg_my_temp_schema", "pg_notify",
    "pg_postmaster_start_time", "pg_relation_size", "pg_size_bytes", "pg_size_pretty", "pg_sleep",
    "pg_table_is_visible", "pg_table_size", "pg_total_relation_size", "pg_type_is_visible",
    "pg_typeof", "phraseto_tsquery", "pi", "plainto_tsquery", "position", "power",
};
static const char *const with_q[] = {"quote_ident", "quote_literal", "quote_nullable"};
static const char *const with_r[] = {
    "radians", "random", "range_merge", "rank", "recursive", "regexp_count", "regexp_instr",
    "regexp_like", "regexp_match", "regexp_matches", "regexp_replace", "regexp_split_to_array",
    "regexp_split_to_table", "regexp_substr", "regr_count", "repeat", "replace", "returning",
    "reverse", "right", "rollup", "round", "row", "row_number", "row_to_json", "rows", "rpad",
    "rtrim",
};
static const char *const with_s[] = {
    "scale", "second", "select", "set", "sets", "sha224", "sha256", "sha384", "sha512", "share",
    "shobj_description", "sign", "similar", "sin", "some", "split_part", "sqrt", "starts_with",
    "statement_timestamp", "stddev", "stddev_pop", "stddev_samp", "string_agg", "string_to_array",
    "string_to_table", "strpos", "substr", "substring", "sum", "symmetric",
};
static const char *const with_t[] = {
    "table", "tablesample", "tan", "text", "then", "time", "timeofday", "timestamp", "timestamptz",
    "timetz", "timezone", "to_ascii", "to_char", "to_date", "to_hex", "to_json", "to_jsonb",
    "to_number", "to_regclass", "to_regproc", "to_regtype", "to_timestamp", "to_tsquery",
    "to_tsvector", "transaction_timestamp", "translate", "treat", "trim", "trunc", "ts_headline",
    "ts_rank", "ts_rank_cd", "tsrange", "tstzrange", "txid_current",
};
static const char *const with_u[] = {
    "union", "unique", "unistr", "unnest", "update", "upper", "upper_inc", "upper_inf", "using",
    "uuid",
};
static const char *const with_v[] = {
    "value", "values", "var_pop", "var_samp", "varbit", "varchar", "variance", "varying",
    "verbose", "version",
};
static const char *const with_w[] = {
    "websearch_to_tsquery", "when", "where", "width_bucket", "window", "with", "within",
};
static const char *const with_x[] = {
    "xmlagg", "xmlattributes", "xmlconcat", "xmlelement", "xmlforest", "xmlparse", "xmlpi",
    "xmlroot", "xmlserialize",
};

#define LIST(letter) {with_##letter, sizeof with_##letter / sizeof *with_##letter}
static const struct {
    const char *const *words;
    size_t count;
} harmless[26] = {
    LIST(a), LIST(b), LIST(c), LIST(d), LIST(e), LIST(f), LIST(g), LIST(h), LIST(i), LIST(j),
    LIST(k), LIST(l), LIST(m), LIST(n), LIST(o), LIST(p), LIST(q), LIST(r), LIST(s), LIST(t),
    LIST(u), LIST(v), LIST(w), LIST(x),
};
#undef LIST
/* clang-format on */

/* The functions whose result belongs to the session that drew from a sequence. */
static const char *const drawing[] = {"currval", "lastval", "nextval"};

enum { LONGEST = 40 };

static bool is_harmless(const char *name)
{
    if (name[0] < 'a' || name[0] > 'z')
        return false;
    const char *const *words = harmless[name[0] - 'a'].words;
    size_t from = 0, to = harmless[name[0] - 'a'].count;
    while (from < to) {
        size_t middle = (from + to) / 2, at = 1;
        const char *word = words[middle];
        while (word[at] == name[at] && name[at] != '\0')
            at++;
        if (word[at] == name[at])
            return true;
        if ((unsigned char)word[at] < (unsigned char)name[at])
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

const char *rw_call_harmless(size_t i)
{
    for (size_t list = 0; list < sizeof harmless / sizeof *harmless; list++) {
        if (i < harmless[list].count)
            return harmless[list].words[i];
        i -= harmless[list].count;
    }
    return NULL;
}

static bool draws(const char *name)
{
    for (size_t i = 0; i < sizeof drawing / sizeof *drawing; i++)
        if (strcmp(name, drawing[i]) == 0)
            return true;
    return false;
}

rw_call rw_call_of(pgw_slice name)
{
    char lower[LONGEST];
    if (name.len == 0 || name.len >= sizeof lower)
        return RW_CALL_UNKNOWN;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    lower[name.len] = '\0';
    if (is_harmless(lower))
        return RW_CALL_HARMLESS;
    bool locks =
        strncmp(lower, "pg_advisory_", 12) == 0 || strncmp(lower, "pg_try_advisory_", 16) == 0;
    if (draws(lower))
        return RW_CALL_DRAWS;
    if (strcmp(lower, "setval") == 0)
        return RW_CALL_RESETS;
    return locks || strcmp(lower, "setseed") == 0 ? RW_CALL_KEEPS : RW_CALL_UNKNOWN;
}
