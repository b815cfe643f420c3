#include "ydb/plain/variable_value.h"

#include "ydb/plain/zone_name.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- refusals ---- */

static bool refuse_value(const rw_variable *variable, pgw_slice value, pgw_error *error)
{
    return pgw_fail(error, "22023", "invalid value for parameter \"%s\": \"%.*s\"", variable->name,
                    RW_SHOWN(value));
}

/* Refuses a value with which PostgreSQL would do something else, while here nothing would
 * change. */
static bool refuse_other(const rw_variable *variable, pgw_slice value, const char *hint,
                         pgw_error *error)
{
    pgw_fail(error, "0A000", "parameter \"%s\" cannot be set to \"%.*s\" here", variable->name,
             RW_SHOWN(value));
    pgw_error_hint(error, "%s", hint);
    return false;
}

/* ---- words ---- */

/* Takes the next word of a list that is separated by ", ". */
static bool next_word(const char **at, pgw_slice *word)
{
    if (*at == NULL || **at == '\0')
        return false;
    const char *end = strstr(*at, ", ");
    *word = (pgw_slice){*at, end != NULL ? (size_t)(end - *at) : strlen(*at)};
    *at = end != NULL ? end + 2 : NULL;
    return true;
}

/* The word of the list that equals the value, as it stands there; empty: there is none. */
static pgw_slice word_of(const char *list, pgw_slice value)
{
    for (pgw_slice word; next_word(&list, &word);)
        if (pgw_slice_ieq(value, word))
            return word;
    return (pgw_slice){NULL, 0};
}

static bool can_be(const rw_variable *variable, pgw_slice shown, pgw_error *error)
{
    if (variable->ours == NULL || word_of(variable->ours, shown).len > 0)
        return true;
    char hint[128];
    snprintf(hint, sizeof hint, "What there is: %s.", variable->ours);
    return refuse_other(variable, shown, hint, error);
}

/* The word that a value means which PostgreSQL takes, but does not tell; empty: there is none. */
static pgw_slice hidden_word(const rw_variable *variable, pgw_slice value)
{
    bool switches = word_of(variable->words, PGW_LITERAL("on")).len > 0;
    static const char *const on[] = {"true", "yes", "1"}, *const off[] = {"false", "no", "0"};
    for (size_t i = 0; switches && i < 3; i++) {
        if (pgw_slice_ieq_str(value, on[i]))
            return PGW_LITERAL("on");
        if (pgw_slice_ieq_str(value, off[i]))
            return PGW_LITERAL("off");
    }
    bool levels = word_of(variable->words, PGW_LITERAL("debug2")).len > 0;
    if (levels && pgw_slice_ieq_str(value, "debug"))
        return PGW_LITERAL("debug2");
    if (levels && pgw_slice_ieq_str(value, "info"))
        return PGW_LITERAL("info");
    return (pgw_slice){NULL, 0};
}

static bool read_enum(const rw_variable *variable, pgw_slice value, pgw_buf *shown,
                      pgw_error *error)
{
    pgw_slice word = word_of(variable->words, value);
    if (word.len == 0)
        word = hidden_word(variable, value);
    pgw_buf_add_slice(shown, word);
    if (word.len > 0)
        return can_be(variable, word, error);
    refuse_value(variable, value, error);
    pgw_error_hint(error, "Available values: %s.", variable->words);
    return false;
}

static bool is_prefix(pgw_slice value, const char *word, size_t least)
{
    return value.len >= least && value.len <= strlen(word) &&
           pgw_slice_ieq(value, (pgw_slice){word, value.len});
}

static bool read_bool(const rw_variable *variable, pgw_slice value, pgw_buf *shown,
                      pgw_error *error)
{
    bool on = is_prefix(value, "true", 1) || is_prefix(value, "yes", 1) ||
              is_prefix(value, "on", 2) || is_prefix(value, "1", 1);
    bool off = is_prefix(value, "false", 1) || is_prefix(value, "no", 1) ||
               is_prefix(value, "off", 2) || is_prefix(value, "0", 1);
    if (!on && !off)
        return pgw_fail(error, "22023", "parameter \"%s\" requires a Boolean value",
                        variable->name);
    pgw_slice word = on ? PGW_LITERAL("on") : PGW_LITERAL("off");
    pgw_buf_add_slice(shown, word);
    return can_be(variable, word, error);
}

/* ---- numbers ---- */

typedef struct unit {
    const char *name;
    double factor;
} unit;

/* Units, the largest first; SHOW uses the largest that needs no fraction. */
static const unit times[] = {{"d", 86400e3}, {"h", 3600e3}, {"min", 60e3}, {"s", 1e3},
                             {"ms", 1},      {"us", 1e-3},  {NULL, 0}};
static const unit memory[] = {{"TB", 1073741824}, {"GB", 1048576},   {"MB", 1024},
                              {"kB", 1},          {"B", 1.0 / 1024}, {NULL, 0}};
static const unit none[] = {{NULL, 0}};

static const unit *units_of(const rw_variable *variable)
{
    return variable->kind == RW_VARIABLE_TIME     ? times
           : variable->kind == RW_VARIABLE_MEMORY ? memory
                                                  : none;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\n\r\f\v");
}

/* Applies a unit to a number; the result is a multiple of the next smaller unit. */
static bool take_unit(const unit *at, pgw_slice name, double *number)
{
    while (at->name != NULL && !pgw_slice_eq_str(name, at->name))
        at++;
    if (at->name == NULL)
        return false;
    *number *= at->factor;
    if (at[1].name != NULL)
        *number = rint(*number / at[1].factor) * at[1].factor;
    return true;
}

/* Reads a number and a unit, in basic units. False: it is none. */
static bool read_number(const rw_variable *variable, pgw_slice value, double *number)
{
    char text[64], *end;
    if (value.len >= sizeof text || memchr(value.ptr, '\0', value.len) != NULL)
        return false;
    memcpy(text, value.ptr, value.len);
    text[value.len] = '\0';
    const char *start = skip_blanks(text);
    if (strspn(start, "+-.0123456789xXabcdefABCDEF") == 0) /* inf, nan */
        return false;
    long long whole = strtoll(start, &end, 0);
    *number = (double)whole;
    if (*end == '.' || *end == 'e' || *end == 'E' || variable->kind == RW_VARIABLE_REAL)
        *number = strtod(start, &end);
    if (end == start)
        return false;
    const char *rest = skip_blanks(end);
    size_t len = strcspn(rest, " \t\n\r\f\v");
    if (len == 0)
        return true;
    if (*skip_blanks(rest + len) != '\0')
        return false;
    return take_unit(units_of(variable), (pgw_slice){rest, len}, number);
}

static void hint_units(const rw_variable *variable, pgw_error *error)
{
    if (variable->kind == RW_VARIABLE_TIME)
        pgw_error_hint(error, "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", "
                              "\"h\", and \"d\".");
    if (variable->kind == RW_VARIABLE_MEMORY)
        pgw_error_hint(error, "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", "
                              "and \"TB\".");
}

static bool refuse_range(const rw_variable *variable, double number, pgw_error *error)
{
    const char *name = variable->kind == RW_VARIABLE_TIME     ? " ms"
                       : variable->kind == RW_VARIABLE_MEMORY ? " kB"
                                                              : "";
    int digits = variable->kind == RW_VARIABLE_REAL ? 6 : 15;
    return pgw_fail(error, "22023",
                    "%.*g%s is outside the valid range for parameter \"%s\" (%.*g .. %.*g)", digits,
                    number, name, variable->name, digits, variable->least, digits, variable->most);
}

static void show_number(const rw_variable *variable, int64_t number, pgw_buf *shown)
{
    const unit *at = units_of(variable);
    while (number > 0 && at->name != NULL && (at->factor < 1 || number % (int64_t)at->factor != 0))
        at++;
    bool has_unit = number > 0 && at->name != NULL;
    pgw_buf_addf(shown, "%" PRId64 "%s", has_unit ? number / (int64_t)at->factor : number,
                 has_unit ? at->name : "");
}

static bool read_integer(const rw_variable *variable, pgw_slice value, pgw_buf *shown,
                         pgw_error *error)
{
    double number;
    if (!read_number(variable, value, &number)) {
        refuse_value(variable, value, error);
        hint_units(variable, error);
        return false;
    }
    number = rint(number);
    if (number > INT32_MAX || number < INT32_MIN) {
        refuse_value(variable, value, error);
        pgw_error_hint(error, "Value exceeds integer range.");
        return false;
    }
    if (number < variable->least || number > variable->most)
        return refuse_range(variable, number, error);
    if (variable->ours != NULL && number < (double)atoi(variable->ours))
        return refuse_other(variable, value, "Numbers are always shown in full: use 1, 2 or 3.",
                            error);
    show_number(variable, (int64_t)number, shown);
    return true;
}

static bool read_real(const rw_variable *variable, pgw_slice value, pgw_buf *shown,
                      pgw_error *error)
{
    double number;
    if (!read_number(variable, value, &number) || isinf(number))
        return refuse_value(variable, value, error);
    if (number < variable->least || number > variable->most)
        return refuse_range(variable, number, error);
    pgw_buf_addf(shown, "%g", number);
    return true;
}

int64_t rw_variable_milliseconds(pgw_slice shown)
{
    static const rw_variable time = {.kind = RW_VARIABLE_TIME};
    double number;
    return read_number(&time, shown, &number) ? (int64_t)number : 0;
}

/* ---- texts ---- */

static bool read_ascii(pgw_slice value, pgw_buf *shown)
{
    for (size_t i = 0; i < value.len; i++)
        pgw_buf_add_byte(shown, value.ptr[i] >= 32 && value.ptr[i] <= 126 ? value.ptr[i] : '?');
    return true;
}

static bool is_blank(char c)
{
    return c != '\0' && strchr(" \t\n\r\f\v", c) != NULL;
}

static pgw_slice trim(pgw_slice text)
{
    while (text.len > 0 && is_blank(text.ptr[0]))
        text = (pgw_slice){text.ptr + 1, text.len - 1};
    while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Takes what stands before the next comma; false behind the last. */
static bool next_item(pgw_slice *rest, pgw_slice *item)
{
    if (rest->ptr == NULL)
        return false;
    const char *comma = rest->len > 0 ? memchr(rest->ptr, ',', rest->len) : NULL;
    size_t len = comma != NULL ? (size_t)(comma - rest->ptr) : rest->len;
    *item = trim((pgw_slice){rest->ptr, len});
    *rest = comma != NULL ? (pgw_slice){comma + 1, rest->len - len - 1} : (pgw_slice){NULL, 0};
    return true;
}

static pgw_slice unquote(pgw_slice item)
{
    bool quoted = item.len >= 2 && item.ptr[0] == '"' && item.ptr[item.len - 1] == '"';
    return quoted ? (pgw_slice){item.ptr + 1, item.len - 2} : item;
}

/* Reads search_path. There is one schema, which is searched whatever is said; another path would
 * mean other tables. */
static bool read_path(const rw_variable *variable, pgw_slice value, pgw_buf *shown,
                      pgw_error *error)
{
    bool found = false;
    pgw_slice rest = value;
    for (pgw_slice item; next_item(&rest, &item);) {
        if (word_of("public, $user, pg_catalog", unquote(item)).len == 0)
            return refuse_other(variable, value, "The only schema is public.", error);
        found = found || pgw_slice_ieq_str(unquote(item), "public");
    }
    pgw_buf_add_slice(shown, value);
    return found || refuse_other(variable, value, "The schema public is always searched.", error);
}

typedef struct date_style {
    pgw_slice style, order; /* empty: nothing is said of it */
    bool conflict;
} date_style;

static void put(pgw_slice *what, pgw_slice word, bool *conflict)
{
    if (word.len == 0)
        return;
    *conflict = *conflict || (what->len > 0 && !pgw_slice_eq(*what, word));
    *what = word;
}

static bool begins(pgw_slice text, const char *word)
{
    size_t len = strlen(word);
    return text.len >= len && is_prefix((pgw_slice){text.ptr, len}, word, len);
}

/* Reads a word of DateStyle: a style, an order, or `default`. */
static bool read_date_word(pgw_slice word, date_style *out)
{
    static const char styles[] = "ISO, SQL, German", orders[] = "YMD, DMY, MDY";
    pgw_slice style = begins(word, "postgres") ? PGW_LITERAL("Postgres") : word_of(styles, word);
    pgw_slice order = begins(word, "euro") ? PGW_LITERAL("DMY")
                      : begins(word, "noneuro") || pgw_slice_ieq_str(word, "us")
                          ? PGW_LITERAL("MDY")
                          : word_of(orders, word);
    put(&out->style, style, &out->conflict);
    put(&out->order, order, &out->conflict);
    return style.len > 0 || order.len > 0 || pgw_slice_ieq_str(word, "default");
}

static bool read_dates(const rw_variable *variable, pgw_slice value, pgw_buf *shown,
                       pgw_error *error)
{
    date_style said = {.conflict = false};
    pgw_slice rest = trim(value).len > 0 ? value : (pgw_slice){NULL, 0};
    for (pgw_slice item; next_item(&rest, &item);) {
        if (read_date_word(unquote(item), &said))
            continue;
        refuse_value(variable, value, error);
        pgw_error_detail(error, "Unrecognized key word: \"%.*s\".", RW_SHOWN(item));
        return false;
    }
    if (said.conflict) {
        refuse_value(variable, value, error);
        pgw_error_detail(error, "Conflicting \"datestyle\" specifications.");
        return false;
    }
    if ((said.style.len > 0 && !pgw_slice_eq_str(said.style, "ISO")) ||
        (said.order.len > 0 && !pgw_slice_eq_str(said.order, "MDY")))
        return refuse_other(variable, value,
                            "Dates are always in the form 2000-12-31: leave it at \"ISO, MDY\".",
                            error);
    pgw_buf_add_str(shown, "ISO, MDY");
    return true;
}

/* Whether it is an interval of nothing, such as 00:00. */
static bool is_zero(pgw_slice value)
{
    bool zero = memchr(value.ptr, '0', value.len) != NULL;
    for (size_t i = 0; i < value.len; i++)
        zero = zero && strchr("+-0:", value.ptr[i]) != NULL;
    return zero;
}

/* Reads TimeZone: a name of the zone that timestamps are in, which is UTC. */
static bool read_zone(const rw_variable *variable, pgw_slice value, pgw_buf *shown,
                      pgw_error *error)
{
    static const char known[] = "UTC, Etc/UTC, GMT, Etc/GMT, UCT, Etc/UCT, Zulu, Etc/Zulu, "
                                "Universal, Etc/Universal, Greenwich, Etc/Greenwich, GMT0, "
                                "Etc/GMT0, GMT+0, GMT-0, Etc/GMT+0, Etc/GMT-0";
    double hours;
    pgw_slice word = word_of(known, value);
    pgw_buf_add_slice(shown, word);
    if (word.len > 0)
        return true;
    bool zero = is_zero(value) || pgw_slice_eq_str(value, "<+00>-00") ||
                (value.len > 0 && strchr("+-0", value.ptr[0]) != NULL &&
                 read_number(variable, value, &hours) && hours == 0);
    pgw_buf_add_str(shown, "<+00>-00");
    if (!rw_zone_may_be(value))
        return refuse_value(variable, value, error);
    return zero || refuse_other(variable, value,
                                "Timestamps are read and shown in UTC: write an offset with each, "
                                "and convert them in the application.",
                                error);
}

/* The name as PostgreSQL's clean_encoding_name() leaves it. */
static pgw_slice bare(pgw_slice name, char *text, size_t room)
{
    size_t len = 0;
    for (size_t i = 0; i < name.len && len < room; i++) {
        char c = name.ptr[i];
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'))
            text[len++] = c;
        else if (c >= 'A' && c <= 'Z')
            text[len++] = (char)(c + 32);
    }
    return (pgw_slice){text, len};
}

static bool read_encoding(const rw_variable *variable, pgw_slice value, pgw_buf *shown,
                          pgw_error *error)
{
    static const char others[] =
        "abc, alt, big5, euccn, eucjis2004, eucjp, euckr, euctw, gb18030, gbk, iso88591, "
        "iso885910, iso885913, iso885914, iso885915, iso885916, iso88592, iso88593, iso88594, "
        "iso88595, iso88596, iso88597, iso88598, iso88599, johab, koi8, koi8r, koi8u, latin1, "
        "latin10, latin2, latin3, latin4, latin5, latin6, latin7, latin8, latin9, mskanji, "
        "muleinternal, shiftjis, shiftjis2004, sjis, sqlascii, tcvn, tcvn5712, uhc, vscii, win, "
        "win1250, win1251, win1252, win1253, win1254, win1255, win1256, win1257, win1258, win866, "
        "win874, win932, win936, win949, win950, windows1250, windows1251, windows1252, "
        "windows1253, windows1254, windows1255, windows1256, windows1257, windows1258, "
        "windows866, windows874, windows932, windows936, windows949, windows950";
    char text[64];
    pgw_slice name = bare(value, text, sizeof text);
    bool unicode = pgw_slice_eq_str(value, "UNICODE"); /* SHOW keeps this name */
    pgw_buf_add_str(shown, unicode ? "UNICODE" : "UTF8");
    if (pgw_slice_eq_str(name, "utf8") || pgw_slice_eq_str(name, "unicode"))
        return true;
    if (word_of(others, name).len > 0)
        return refuse_other(variable, value, "The only encoding is UTF8.", error);
    return refuse_value(variable, value, error);
}

bool rw_variable_read(const rw_variable *variable, pgw_slice value, pgw_buf *shown,
                      pgw_error *error)
{
    switch (variable->kind) {
    case RW_VARIABLE_BOOL:
        return read_bool(variable, value, shown, error);
    case RW_VARIABLE_INTEGER:
    case RW_VARIABLE_TIME:
    case RW_VARIABLE_MEMORY:
        return read_integer(variable, value, shown, error);
    case RW_VARIABLE_REAL:
        return read_real(variable, value, shown, error);
    case RW_VARIABLE_ENUM:
        return read_enum(variable, value, shown, error);
    case RW_VARIABLE_TEXT:
        pgw_buf_add_slice(shown, value);
        return can_be(variable, value, error);
    case RW_VARIABLE_ASCII:
        return read_ascii(value, shown);
    case RW_VARIABLE_PATH:
        return read_path(variable, value, shown, error);
    case RW_VARIABLE_DATES:
        return read_dates(variable, value, shown, error);
    case RW_VARIABLE_ZONE:
        return read_zone(variable, value, shown, error);
    case RW_VARIABLE_ENCODING:
        return read_encoding(variable, value, shown, error);
    case RW_VARIABLE_FIXED:
        break;
    }
    return pgw_fail(error, "55P02", "parameter \"%s\" cannot be changed", variable->name);
}
