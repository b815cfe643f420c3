#include "ydb/endpoint/status.h"

#include <string.h>
#include <strings.h>

typedef struct known {
    const char *name;
    px_ydb_fate fate;
    const char *sqlstate;
} known;

/* Ydb::StatusIds, with the SQLSTATE to be told where the text of the issues gives no better one. */
static const known statuses[] = {
    {"ABORTED", PX_YDB_AGAIN, "40001"},
    {"UNAVAILABLE", PX_YDB_AGAIN, "57P03"},
    {"OVERLOADED", PX_YDB_SLOWLY, "53000"},
    {"BAD_SESSION", PX_YDB_ELSEWHERE, "08006"},
    {"SESSION_EXPIRED", PX_YDB_UNDETERMINED, "08006"},
    {"SESSION_BUSY", PX_YDB_ELSEWHERE, "08006"},
    {"UNDETERMINED", PX_YDB_UNDETERMINED, "08007"},
    {"TIMEOUT", PX_YDB_UNDETERMINED, "57014"},
    {"CANCELLED", PX_YDB_UNDETERMINED, "57014"},
    {"INTERNAL_ERROR", PX_YDB_UNDETERMINED, "XX000"},
    {"UNAUTHORIZED", PX_YDB_REFUSED, "42501"},
    {"SCHEME_ERROR", PX_YDB_REFUSED, "42P01"},
    {"ALREADY_EXISTS", PX_YDB_REFUSED, "42P07"},
    {"NOT_FOUND", PX_YDB_REFUSED, "42704"},
    {"PRECONDITION_FAILED", PX_YDB_REFUSED, "22000"},
    {"BAD_REQUEST", PX_YDB_REFUSED, "22000"},
    {"UNSUPPORTED", PX_YDB_REFUSED, "0A000"},
    {"GENERIC_ERROR", PX_YDB_REFUSED, "42000"},
};

/* SQLSTATEs by the words of an issue, where the statement would fail again: the first that fits
 * counts, in either case of letters. Most are PostgreSQL's words, whose parser and functions YDB
 * has. */
static const struct {
    const char *needle, *sqlstate;
} issues[] = {
    {"conflict with existing key", "23505"},
    {"duplicate key", "23505"},
    {"constraint violated", "23505"},
    {"cannot find table", "42P01"},
    {"violates not-null", "23502"},
    {"violates check constraint", "23514"},
    {"violates foreign key constraint", "23503"},
    {"table name \"", "42712"}, /* a table specified more than once; a column is 42701, below */
    {"with query name \"", "42712"},
    {"specified more than once", "42701"},
    {"with no tables specified", "42601"},
    {"must have an alias", "42601"},
    {"too many fields", "42601"}, /* a name such as a.b.c.d */
    {"syntax error", "42601"},
    {"unterminated", "42601"},
    {"invalid unicode", "42601"}, /* bad escape in U&'' */
    {"invalid input syntax for type timestamp", "22007"},
    {"invalid input syntax for type date", "22007"},
    {"invalid input syntax for type time", "22007"},
    {"invalid input syntax for type interval", "22007"},
    {"invalid input syntax", "22P02"},
    {"malformed array literal", "22P02"},
    {"malformed range literal", "22P02"},
    {"date/time field value out of range", "22008"},
    {"timestamp out of range", "22008"},
    {"date out of range", "22008"},
    {"interval out of range", "22008"},
    {"interval field value out of range", "22015"},
    {"field value out of range", "22008"},
    {"time zone displacement out of range", "22009"},
    {"infinite timestamps", "22008"},
    {"out of range", "22003"},
    {"field overflow", "22003"}, /* numeric field overflow */
    {"overflows numeric format", "22003"},
    {"invalid value \"", "22007"}, /* argument of to_date() */
    {"is not a valid binary digit", "22P02"},
    {"is not a valid hexadecimal digit", "22P02"},
    {"invalid xml", "2200N"},
    {"count must be greater than zero", "2201G"},
    {"argument of ntile", "22014"},
    {"argument of nth_value", "22016"},
    {"not recognized", "22023"}, /* unknown time zone or write group */
    {"division by zero", "22012"},
    {"limit must not be negative", "2201W"},
    {"offset must not be negative", "2201X"},
    {"invalid hexadecimal digit", "22023"}, /* bytea input, decode() */
    {"invalid hexadecimal data", "22023"},
    {"unrecognized encoding", "22023"},
    {"while decoding base64", "22023"},
    {"format()", "22023"},
    {"step size cannot", "22023"},
    {"character number must be", "22023"},
    {"cannot extract elements", "22023"},
    {"cannot get array length", "22023"},
    {"cannot cast jsonb", "22023"},
    {"argument list must have even", "22023"},
    {"unsupported unicode escape sequence", "22P05"},
    {"invalid regular expression", "2201B"},
    {"cannot take logarithm", "2201E"},
    {"square root of a negative number", "2201F"},
    {"raised to a negative power", "2201F"},
    {"yields a complex result", "2201F"},
    {"negative substring length", "22011"},
    {"must not end with escape", "22025"},
    {"does not match type bit", "22026"},
    {"character too large for encoding", "54000"},
    {"null character not permitted", "54000"},
    {"more than one row returned by a subquery", "21000"},
    {"value too long", "22001"},
    {"invalid byte sequence", "22021"},
    {"must appear in the group by", "42803"},
    {"window functions are not allowed in", "42P20"},
    {"functions are not allowed in", "42803"},
    {"function calls cannot be nested", "42803"},
    {"missing from-clause entry", "42P01"},
    {"subquery must return only one column", "42601"},
    {"subquery has too", "42601"},
    {"must have the same number of columns", "42601"},
    {"lists must all be the same length", "42601"},
    {"insert has more", "42601"},
    {"multiple assignments to same column", "42601"},
    {"must not contain variables", "42P10"},
    {"must match initial order by", "42P10"},
    {"must appear in select list", "42P10"},
    {"requires an over clause", "42809"},
    {"requires array on right side", "42809"},
    {"is not in select list", "42P10"},
    {"there is no parameter", "42P02"},
    {"could not determine data type", "42P18"},
    {"cannot be matched", "42804"},
    {"must be type", "42804"},
    {"cannot cast type", "42846"},
    {"is not unique", "42725"},
    {"is ambiguous", "42702"},
    {"no such column", "42703"},
    {"column does not exist", "42703"},
    {"no such proc", "42883"},
    {"unknown operator", "42883"},
    {"function or operator", "42883"},
    {"operator does not exist", "42883"},
    {"is of type", "42804"},
    {"unknown cluster", "42P01"}, /* a schema that is not public */
    {"only a single pk", "42P16"},
    {"pk column does not belong", "42703"},
    {"primary key is required", "0A000"},
    {"wrong key type", "0A000"},
    {"is not yet defined in this session", "55000"}, /* currval(), lastval() */
    {"is not allowed with", "0A000"},                /* FOR UPDATE with GROUP BY and the like */
    {"already exists", "42P07"},
    {"path exist", "42P07"},
    {"access denied", "42501"},
    {"permission denied", "42501"},
    {"current transaction is aborted", "25P02"},
    {"not implemented", "0A000"},
    {"not supported", "0A000"},
    {"unsupported", "0A000"},
    {"usupported", "0A000"}, /* YDB's source spells it so */
    {"too deep recursion", "54001"},
    {"requested length too large", "54000"},
    {"size exceeds limit", "54000"},
    {"unrecognized configuration parameter", "42704"},
};

static bool contains(pgw_slice text, const char *needle)
{
    size_t len = strlen(needle);
    for (size_t i = 0; i + len <= text.len; i++)
        if (strncasecmp(text.ptr + i, needle, len) == 0)
            return true;
    return false;
}

/* The SQLSTATE of an issue that says `relation "t" does not exist` or the like; NULL: none does. */
static const char *missing(pgw_slice text)
{
    if (!contains(text, "does not exist"))
        return NULL;
    return contains(text, "column")                                   ? "42703"
           : contains(text, "relation")                               ? "42P01"
           : contains(text, "function") || contains(text, "operator") ? "42883"
                                                                      : "42704";
}

static const char *sqlstate_of_words(pgw_slice text)
{
    for (size_t i = 0; i < sizeof issues / sizeof *issues; i++)
        if (contains(text, issues[i].needle))
            return issues[i].sqlstate;
    return missing(text);
}

/* The end of the quote that begins at `open`; `open` itself, if it does not end. A quote after a
 * colon is a value that may hold quotes: it ends with the last one of its line. */
static size_t quote_end(pgw_slice text, size_t open)
{
    bool value = open >= 2 && memcmp(text.ptr + open - 2, ": ", 2) == 0;
    size_t end = open;
    for (size_t i = open + 1; i < text.len && (end == open || (value && text.ptr[i] != '\n')); i++)
        if (text.ptr[i] == '"')
            end = i;
    return end;
}

/* The SQLSTATE of a text; quotes in it are left out, for a client may name a table "duplicate key".
 */
static const char *sqlstate_of(pgw_slice text)
{
    pgw_buf words = {0};
    for (size_t at = 0; at < text.len; at++) {
        pgw_buf_add_byte(&words, text.ptr[at]);
        if (text.ptr[at] != '"' || quote_end(text, at) == at)
            continue;
        at = quote_end(text, at);
        pgw_buf_add_byte(&words, '"');
    }
    const char *sqlstate = sqlstate_of_words(pgw_slice_buf(&words));
    pgw_buf_free(&words);
    return sqlstate;
}

/* The word behind "Status: "; empty: the text has none, as the endpoint's own errors have not. */
static pgw_slice status_word(pgw_slice text)
{
    static const char label[] = "Status: ";
    size_t at = sizeof label - 1, end = at;
    if (text.len < at || memcmp(text.ptr, label, at) != 0)
        return (pgw_slice){NULL, 0};
    while (end < text.len && text.ptr[end] != '\n')
        end++;
    return (pgw_slice){text.ptr + at, end - at};
}

static const known *status_of(pgw_slice text)
{
    static const known own = {"", PX_YDB_REFUSED, "XX000"};
    static const known unknown = {"?", PX_YDB_UNDETERMINED, "XX000"};
    pgw_slice word = status_word(text);
    if (word.len == 0)
        return &own;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (pgw_slice_eq_str(word, statuses[i].name))
            return &statuses[i];
    return &unknown;
}

static pgw_slice from(pgw_slice text, const char *label)
{
    size_t len = strlen(label);
    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.ptr + i, label, len) == 0)
            return (pgw_slice){text.ptr + i + len, text.len - i - len};
    return (pgw_slice){NULL, 0};
}

/* The first issue of a text, without its place and its code; without issues, the first line. */
static pgw_slice first_issue(pgw_slice text)
{
    pgw_slice issue = from(text, "Error: ");
    if (issue.len == 0)
        issue = text;
    size_t end = 0;
    while (end < issue.len && issue.ptr[end] != '\n')
        end++;
    issue.len = end;
    pgw_slice code = from(issue, ", code: ");
    if (code.len > 0)
        issue.len = (size_t)(code.ptr - issue.ptr) - strlen(", code: ");
    return issue;
}

/* Whether the connection is of no use after this error. What an expired session has done is not
 * known: YDB's Go SDK repeats only what comes to the same. */
static bool drops_link(pgw_slice text, const char *sqlstate)
{
    pgw_slice word = status_word(text);
    bool named = pgw_slice_eq_str(word, "INTERNAL_ERROR") || pgw_slice_eq_str(word, "BAD_SESSION");
    return pgw_slice_eq_str(word, "SESSION_EXPIRED") ||
           (*sqlstate != '\0' && (named || strcmp(sqlstate, "XX000") == 0));
}

px_ydb_fate px_ydb_status_read(pgw_slice body, pgw_error *error, bool *drops)
{
    pgw_slice text = pgw_error_field(body, 'M'), told = pgw_error_field(body, 'C');
    const known *status = status_of(text);
    const char *sqlstate = status->fate == PX_YDB_REFUSED ? sqlstate_of(text) : NULL;
    char code[6] = "";
    if (told.len == 5)
        memcpy(code, told.ptr, 5);
    *drops = drops_link(text, code);
    if (pgw_slice_eq_str(told, "57014") || pgw_slice_eq_str(told, "42P01"))
        sqlstate = code;
    pgw_slice issue = first_issue(text);
    pgw_fail(error, sqlstate != NULL ? sqlstate : status->sqlstate, "%.*s", (int)issue.len,
             issue.ptr);
    if (pgw_error_is(error, "23505"))
        pgw_fail(error, "23505", "duplicate key value violates a unique constraint");
    if (status->name[0] != '\0')
        pgw_error_detail(error, "%.*s", (int)text.len, text.ptr);
    return pgw_error_is(error, "57014") ? PX_YDB_UNDETERMINED : status->fate;
}
