/*
 * random_texts: INSERTs by chance into the tables of test_template.c.
 */
#ifndef TEST_RANDOM_TEXTS_H
#define TEST_RANDOM_TEXTS_H

#include "protocol/bytes.h"

static uint64_t chance;

static size_t pick(size_t among)
{
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(chance >> 33) % among;
}

/* Texts up to and behind the rows; what is usual in a row. */
static const struct {
    const char *head, *tail, *cells;
} forms[] = {
    {"insert into events (userid, ts, event) values ", "", "its"},
    {"INSERT INTO events (event, ts, userid) VALUES\n", ";", "sti"},
    {"insert into public.events as e (userid, ts, event) values", " returning userid", "its"},
    {"insert into events (userid, ts) values ", " on conflict do nothing", "it"},
    {"insert into events (userid, ts, event) values ",
     " on conflict (userid, ts) do update set event = excluded.event", "its"},
    {"insert into events values ", "", "its"},
    {"/* a */ insert into events (userid, ts) values ", " /* b */ ; -- c", "it"},
    {"  insert into nullable (userid, ts, event) values ", "", "its"},
    {"insert into loose (userid, ts, event) values ", "", "its"},
    {"insert into filed (userid, ts, event) values ", "", "its"},
    {"insert into ignoring (userid, event, pk) values ", "", "isi"},
    {"insert into ignoring (pk, userid) values ", "", "ii"},
    {"insert into serials (userid, event, pk) values ", "", "isi"},
    {"insert into drawn (userid, event, pk) values ", "", "isi"},
    {"insert into triggered (userid, ts) values ", "", "it"},
    {"insert into forwards (userid, ts) values ", "", "it"},
    {"insert into \"Odd\".\"Mixed \"\"Case\"\"\" (\"Text \"\"Id\"\"\", n) values ", "", "sn"},
    {"insert into strings (id, at, small) values ", "", "sti"},
    {"insert into strings (id, at) values ", " returning small", "st"},
    {"insert into several (u, d, f, b) values ", "", "utnb"},
    {"insert into several (d, u) values ", " on conflict do nothing", "tu"},
    {"insert into events (userid, ts, userhash) values ", "", "iti"},
    {"insert into nope (userid, ts) values ", "", "it"},
    {"insert into events (userid, ts) overriding system value values ", "", "it"},
    {"upsert into events (userid, ts, event) values ", "", "its"},
    {"insert into numbered (kind, event) values ", " returning pk", "is"},
    {"insert into numbered values ", ";", "dsd"},
    {"insert into numbered (event) values ", " returning *", "s"},
    {"insert into numbered (pk, event, kind) values ", "; -- c", "dsi"},
};

static const char *const constants[] = {
    "1",
    "-1",
    "0",
    "-0",
    "007",
    "42",
    "2147483648",
    "-9223372036854775808",
    "9223372036854775807",
    "9223372036854775808",
    "123456789012345678",
    "1234567890123456789",
    "1.5",
    "-1.50",
    "0.0",
    "1e3",
    "0x10",
    "1_000",
    ".5",
    "5.",
    "+5",
    "- 5",
    "--5",
    "'5'",
    "' 7 '",
    "'-8'",
    "'x'",
    "''",
    "'it''s'",
    "''''",
    "'a\\b'",
    "'é'",
    "'\xff'",
    "E'5'",
    "e'\\x35'",
    "N'5'",
    "U&'5'",
    "$$5$$",
    "'a' 'b'",
    "'a'\n'b'",
    "'2026-01-01 00:00:00+00'",
    "'2026-02-28 23:59:59+14'",
    "'2026-02-29 00:00:00+00'",
    "'2024-02-29 12:00:00+00'",
    "'2026-13-01 00:00:00+00'",
    "'2026-01-01 24:00:00+00'",
    "'2026-01-01 00:00:60+00'",
    "'1999-12-31 23:59:59+15'",
    "'0999-01-01 00:00:00+00'",
    "'9999-12-28 00:00:00+00'",
    "'2026-01-01'",
    "'2026-01-01 12:00:00'",
    "'2026-01-01 00:00:00-03'",
    "'2026-01-01 00:00:00.123456+00'",
    "'infinity'",
    "'now'",
    "now()",
    "'today'",
    "null",
    "NULL",
    "true",
    "FALSE",
    "default",
    "DEFAULT",
    "'t'",
    "1::int8",
    "'1'::int8",
    "'5'::text",
    "cast('5' as bigint)",
    "(5)",
    "5 /* c */",
    "5 -- c\n",
    "5\n",
    "\t5",
    "1 + 1",
    "array[1]",
    "row(1)",
    "$1",
    "'abc  '",
    "'abcdefghijklmnop'",
    "'abc '",
    "b'1'",
    "x'1'",
    "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
    "'A0EEBC999C0B4EF8BB6D6BB9BD380A11'",
    "'{5}'",
    ("'012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
     "0123456789012345678901234567890123456789'"),
    "userhash",
    "'userhash'",
    "'values (1)'",
    "'(', ')'",
};

static void add_cell(pgw_buf *out, char kind, bool wild)
{
    static const struct {
        char kind;
        const char *texts[4];
    } usual[] = {
        {'i', {"17", "-3", "'8'", "4000000"}},
        {'t',
         {"'2026-01-01 00:00:00+00'", "'2025-06-30 23:59:59+02'", "'2026-01-01'", "'0001-01-01'"}},
        {'s', {"'click'", "'it''s'", "''", "'abc '"}},
        {'d', {"default", "DEFAULT", "17", "null"}},
        {'n', {"12.50", "7", "-0.1", "'1e3'"}},
        {'b', {"true", "null", "'t'", "FALSE"}},
        {'u',
         {"'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'A0EEBC999C0B4EF8BB6D6BB9BD380A11'",
          "'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'", "'00000000-0000-0000-0000-000000000000'"}},
    };
    size_t i = 0;
    while (usual[i].kind != kind)
        i++;
    pgw_buf_add_str(out, wild ? constants[pick(sizeof constants / sizeof *constants)]
                              : usual[i].texts[pick(pick(4) + 1)]);
}

static void add_row(pgw_buf *out, const char *cells, unsigned wildness)
{
    static const char *const commas[] = {",", ", ", " ,", ",\n  ", ",/* c */"};
    pgw_buf_add_str(out, "(");
    bool usual = pick(4) > 0;
    for (size_t i = 0; cells[i] != '\0'; i++) {
        if (i > 0)
            pgw_buf_add_str(out, commas[usual ? 1 : pick(5)]);
        add_cell(out, cells[i], pick(100) < wildness);
    }
    if (wildness > 0 && pick(100) == 0)
        pgw_buf_add_str(out, ", 1");
    pgw_buf_add_str(out, ")");
}

static void add_text(pgw_buf *out, unsigned wildness)
{
    size_t form = pick(sizeof forms / sizeof *forms), rows = pick(3) > 0 ? 1 : 1 + pick(5);
    pgw_buf_clear(out);
    pgw_buf_add_str(out, forms[form].head);
    for (size_t r = 0; r < rows; r++) {
        if (r > 0)
            pgw_buf_add_str(out, pick(4) > 0 ? ", " : pick(2) ? ",\n" : pick(2) ? ", \n\t" : ",");
        add_row(out, forms[form].cells, wildness);
    }
    pgw_buf_add_str(out, forms[form].tail);
    pgw_buf_add_byte(out, '\0');
}

/* How the rows of a long text are written. */
typedef struct style {
    const char *open, *comma, *close, *between;
} style;

static style pick_style(void)
{
    static const char *const opens[] = {"(", "(", "(", "( ", "(\n\t"};
    static const char *const commas[] = {", ", ",", ", ", " , ", ",\n        "};
    static const char *const closes[] = {")", ")", ")", " )", "\n)"};
    static const char *const betweens[] = {", ", ",", ",\n", "\n,", " , /* c */ ", ", -- c\n"};
    return (style){opens[pick(5)], commas[pick(5)], closes[pick(5)], betweens[pick(pick(6) + 1)]};
}

/* A number of any length, a string with quotes anywhere, a time; another cell as it is usual. */
static void add_long_cell(pgw_buf *out, char kind)
{
    if (kind == 'i') {
        pgw_buf_add_str(out, pick(8) == 0 ? "-" : "");
        for (size_t digits = 1 + pick(pick(20) + 1); digits > 0; digits--)
            pgw_buf_add_byte(out, (char)('0' + pick(10)));
    } else if (kind == 's') {
        pgw_buf_add_byte(out, '\'');
        for (size_t length = pick(pick(50) + 1); length > 0; length--)
            pgw_buf_add_str(out, pick(40) == 0 ? "\'\'" : pick(2000) == 0 ? "\\" : "c");
        pgw_buf_add_byte(out, '\'');
    } else if (kind == 't') {
        pgw_buf_addf(out, "'%04zu-%02zu-%02zu %02zu:%02zu:%02zu+%02zu'", 1990 + pick(50),
                     1 + pick(pick(50) == 0 ? 14 : 12), 1 + pick(pick(50) == 0 ? 32 : 28),
                     pick(pick(50) == 0 ? 26 : 24), pick(60), pick(60), pick(15));
    } else {
        add_cell(out, kind, false);
    }
}

/* Rows that are mostly written in one way, and of which some have constants of another kind. */
static void add_long_text(pgw_buf *out)
{
    size_t form = pick(sizeof forms / sizeof *forms), rows = 2 + pick(pick(40) + 1);
    const style usual = pick_style();
    bool pure = pick(2) > 0, wraps = pick(3) == 0;
    pgw_buf_clear(out);
    pgw_buf_add_str(out, forms[form].head);
    for (size_t r = 0; r < rows; r++) {
        const style here = pure || pick(10) > 0 ? usual : pick_style();
        pgw_buf_add_str(out, r > 0 ? here.between : "");
        pgw_buf_add_str(out, r > 0 && wraps && pick(4) == 0 ? "\n" : "");
        pgw_buf_add_str(out, here.open);
        for (size_t i = 0; forms[form].cells[i] != '\0'; i++) {
            pgw_buf_add_str(out, i > 0 ? here.comma : "");
            if (!pure && pick(100) == 0)
                add_cell(out, forms[form].cells[i], true);
            else
                add_long_cell(out, forms[form].cells[i]);
        }
        pgw_buf_add_str(out, here.close);
    }
    pgw_buf_add_str(out, forms[form].tail);
    pgw_buf_add_byte(out, '\0');
}

#endif
