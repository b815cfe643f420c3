#include "config/scalar.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "config/document.h"

/* Decimal digits only; false on overflow. `*end` is what follows. */
static bool read_digits(const char *text, uint64_t *value, const char **end)
{
    const char *at = text;
    *value = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(*value, (uint64_t)10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*at - '0'), value))
            return false;
    *end = at;
    return at > text;
}

const char *cfg_parse_size(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *unit;
        unsigned shift;
    } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    static const char right[] =
        "it takes a size, such as 500 (bytes), 2KiB, 8MiB or 1GiB (no other unit is known)";
    const char *unit;
    if (!read_digits(text, bytes, &unit))
        return right;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].unit) != 0)
            continue;
        if (*bytes > UINT64_MAX >> units[i].shift)
            return right;
        *bytes <<= units[i].shift;
        return NULL;
    }
    return right;
}

const char *cfg_parse_hash(const char *text, cfg_hash_type type, uint64_t *hash)
{
    static const char wrong_signed[] =
        "with hash_type int8 it takes numbers from -9223372036854775808 to 9223372036854775807";
    static const char wrong_unsigned[] =
        "with hash_type uint64 it takes numbers from 0 to 18446744073709551615";
    const char *wrong = type == CFG_HASH_INT8 ? wrong_signed : wrong_unsigned, *end;
    bool minus = *text == '-';
    if (!read_digits(text + minus, hash, &end) || *end != '\0')
        return wrong;
    if (type == CFG_HASH_UINT64)
        return minus ? wrong : NULL;
    if (*hash > (uint64_t)INT64_MAX + minus)
        return wrong;
    if (minus)
        *hash = -*hash;
    return NULL;
}

static const char *parse_unix(const char *text, cfg_listen *listen)
{
    if (strlen(text) >= sizeof((struct sockaddr_un *)NULL)->sun_path)
        return "the path of a Unix socket takes at most 107 bytes";
    size_t len = strlen(text);
    if (text[len - 1] == '/')
        return "it takes the path of the socket itself, such as /run/keyspread/.s.PGSQL.6432";
    listen->path = cfg_copy(text);
    return NULL;
}

const char *cfg_parse_listen(const char *text, cfg_listen *listen)
{
    static const char right[] = "it takes host:port, [v6 address]:port or the absolute path of a "
                                "Unix socket, such as 127.0.0.1:6432, [::1]:6432 or "
                                "/run/keyspread/.s.PGSQL.6432";
    *listen = (cfg_listen){0};
    if (*text == '/')
        return parse_unix(text, listen);
    const char *colon = strrchr(text, ':'), *start = text, *stop = colon;
    if (colon == NULL || colon == text)
        return right;
    uint64_t port;
    const char *end;
    if (!read_digits(colon + 1, &port, &end) || *end != '\0')
        return right;
    if (port < 1 || port > 65535)
        return "the port must be from 1 to 65535";
    if (*start == '[') {
        if (stop[-1] != ']' || stop - start < 3)
            return right;
        start++, stop--;
    } else if (memchr(start, ':', (size_t)(stop - start)) != NULL) {
        return "an IPv6 address stands in brackets, such as [::1]:6432";
    }
    listen->host = cfg_printf("%.*s", (int)(stop - start), start);
    listen->port = (uint16_t)port;
    return NULL;
}

const char *cfg_parse_mode(const char *text, uint32_t *mode)
{
    *mode = 0;
    if (strlen(text) != 4 || text[0] != '0' || strspn(text, "01234567") != 4)
        return "it takes permissions in octal, from 0000 to 0777, such as \"0700\" (the owner) or "
               "\"0770\" (its group, too)";
    for (; *text != '\0'; text++)
        *mode = *mode << 3 | (uint32_t)(*text - '0');
    return NULL;
}

/* Reads `12D` and its like, units in their order, up to the end or a T; NULL: something else. */
static const char *parse_units(const char *at, const char *units)
{
    while (*at != '\0' && *at != 'T') {
        size_t digits = strspn(at, "0123456789");
        const char *unit = digits > 0 && digits < 7 ? strchr(units, at[digits]) : NULL;
        if (unit == NULL || *unit == '\0')
            return NULL;
        units = unit + 1;
        at += digits + 1;
    }
    return at;
}

const char *cfg_parse_interval(const char *text)
{
    const char *right = "it takes a duration of ISO 8601, such as P30D or PT1H30M";
    const char *at = *text == 'P' ? parse_units(text + 1, "WD") : NULL;
    bool empty = at == text + 1;
    if (at != NULL && *at == 'T') {
        const char *time = at + 1;
        at = parse_units(time, "HMS");
        empty = at == time;
    }
    return at != NULL && *at == '\0' && !empty ? NULL : right;
}

bool cfg_is_local(const cfg_listen *listen)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (listen->path != NULL || strcmp(listen->host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, listen->host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, listen->host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* Reads one part of a table's name; NULL if it is malformed, else where it ends: also before a `*`,
 * which may stand in the place of the name. */
static const char *name_part(const char *text, char *part)
{
    size_t len = 0;
    bool quoted = *text == '"';
    text += quoted;
    for (;; text++) {
        if (quoted && text[0] == '"' && text[1] == '"')
            text++;
        else if (quoted ? *text == '"' : (*text == '\0' || *text == '.' || *text == '*'))
            break;
        else if (*text == '\0' || (!quoted && strchr(" \t\r\n\"'()", *text)))
            return NULL;
        if (len == CFG_MAX_NAME)
            return NULL;
        part[len++] = *text;
    }
    part[len] = '\0';
    return len == 0 && (quoted || *text != '*') ? NULL : text + quoted;
}

const char *cfg_parse_table_name(const char *text, cfg_table *table)
{
    static const char right[] = "it takes name or schema.name as PostgreSQL stores them, each of 1 "
                                "to 63 bytes; a part with "
                                "a dot, a blank, a star, a quote or a parenthesis in it stands in "
                                "double quotes; a * behind "
                                "the name, or in its place, makes it a pattern, and then one "
                                "behind the schema, or in its place, a pattern of several schemas";
    char first[CFG_MAX_NAME + 1], second[CFG_MAX_NAME + 1];
    const char *end = name_part(text, first);
    if (end == NULL)
        return right;
    bool schemas = end[0] == '*' && end[1] == '.', qualified = end[schemas] == '.';
    if (qualified)
        end = name_part(end + schemas + 1, second);
    bool pattern = end != NULL && *end == '*';
    if (end == NULL || end[pattern] != '\0' || (schemas && !pattern))
        return right;
    table->pattern = pattern;
    table->schemas = schemas;
    table->schema = qualified ? cfg_copy(first) : NULL;
    table->name = cfg_copy(qualified ? second : first);
    table->label = cfg_copy(text);
    return NULL;
}
