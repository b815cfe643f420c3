/*
 * scripts: a kind of backend whose links are what a transcript says.
 */
#ifndef TEST_SCRIPTS_H
#define TEST_SCRIPTS_H

#include "tests/proxy/parties.h"

#include "tests/proxy/link_script.h"

/* ---- a kind of backend ---- */

static size_t number_of(const script *s)
{
    return (size_t)(s->party - here.links);
}

/* What libpq would send, from behind the protocol's version. Valid until the next. */
static const char *script_startup(const px_link *link)
{
    static char packet[4096];
    const px_identity *of = link->identity;
    bool own = link->role == PX_LINK_SESSION;
    snprintf(packet, sizeof packet, "user%c%s%coptions%c%s %s%c", 0, of->user, 0, 0,
             own ? of->options : of->shared, link->options != NULL ? link->options : "", 0);
    return packet;
}

static void script_open(px_link *link)
{
    static const char *const roles[] = {"session", "batch", "catalog"};
    assert_true(here.link_count < LINKS);
    script *s = script_of(link);
    s->party = &here.links[here.link_count];
    s->party->name = (char)('1' + here.link_count);
    here.scripts[here.link_count++] = s;
    link->pid = FIRST_PID + (uint32_t)number_of(s);
    const char *own =
        link->role == PX_LINK_SESSION ? link->identity->options : link->identity->shared;
    add_line(s->party, "+ %s of %s in %s:%s%s%s%s", roles[link->role], link->identity->user,
             link->identity->database, own[0] != '\0' ? " " : "", own,
             link->options != NULL ? " " : "", link->options != NULL ? link->options : "");
    if (here.on_open != NULL)
        here.on_open(number_of(s), script_startup(link));
}

static void script_close(px_link *link)
{
    script *s = script_of(link);
    if (s->party != NULL) {
        take_messages(s->party, '<', false);
        add_line(s->party, "-");
        here.scripts[number_of(s)] = NULL;
    }
    pgw_buf_free(&s->in);
    px_link_end(link);
}

static void script_finish(px_link *link)
{
    take_messages(script_of(link)->party, '<', false);
    add_line(script_of(link)->party, ".");
}

static void script_send(px_link *link, const void *ptr, size_t len)
{
    script *s = script_of(link);
    pgw_buf_add(&s->party->raw, ptr, len);
    if (here.on_send != NULL)
        here.on_send(number_of(s), ptr, len);
}

static void script_cancel(px_link *link)
{
    script_of(link)->cancelling = true;
    take_messages(script_of(link)->party, '<', false);
    add_line(script_of(link)->party, "x");
}

static bool script_cancelling(const px_link *link)
{
    return script_of(link)->cancelling;
}

static void script_expect(px_link *link, size_t len)
{
    assert_true(len > script_input(link).len);
}

/* The TimeZone that a session's link is opened with: the last of its options. Valid until the next.
 */
static const char *script_zone(const px_link *link)
{
    static const char option[] = "-c TimeZone=";
    static char zone[64];
    const char *at = link->role == PX_LINK_SESSION ? link->identity->options : "";
    snprintf(zone, sizeof zone, "UTC");
    for (; (at = strstr(at, option)) != NULL; at += sizeof option - 1)
        sscanf(at + sizeof option - 1, "%63[^ ]", zone);
    return zone;
}

/* What the transcript says of it; NULL: nothing. */
static const char *script_report(const px_link *link, const char *name)
{
    const script *s = (const script *)link;
    for (size_t i = 0; i < REPORTS; i++) {
        size_t len = strcspn(s->reports[i], "=");
        if (s->reports[i][len] == '=' && strlen(name) == len &&
            memcmp(s->reports[i], name, len) == 0)
            return s->reports[i] + len + 1;
    }
    return NULL;
}

static const char *script_parameter(const px_link *link, const char *name)
{
    static const char *const values[][2] = {{"application_name", ""},
                                            {"client_encoding", "UTF8"},
                                            {"DateStyle", "ISO, MDY"},
                                            {"IntervalStyle", "postgres"},
                                            {"server_encoding", "UTF8"},
                                            {"server_version", "15.20"},
                                            {"standard_conforming_strings", "on"}};
    if (script_report(link, name) != NULL)
        return script_report(link, name);
    if (strcmp(name, "TimeZone") == 0)
        return script_zone(link);
    if (strcmp(name, "session_authorization") == 0)
        return link->identity->user;
    if (link->role == PX_LINK_BATCH && strcmp(name, "DateStyle") == 0)
        return link->identity->dates; /* it is among the options, if a session has set it */
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i][0], name) == 0)
            return values[i][1];
    return NULL;
}

static const px_backend script_backend = {
    .name = "script", .link = &script_kind, .writer = &px_postgres_writer};

/* ---- what it says, and what becomes of it ---- */

static script *script_at(size_t number)
{
    script *s = here.scripts[number];
    assert_non_null(s);
    return s;
}

static void script_say(size_t number, pgw_slice bytes)
{
    script *s = script_at(number);
    pgw_buf_add_slice(&s->in, bytes);
    here.running = true;
    s->link.ops->on_message(&s->link);
    here.running = false;
}

/* "1! reports TimeZone=UTC", before it is ready. */
static void script_reports(script *s, const char *what)
{
    size_t i = 0;
    while (i < REPORTS && s->reports[i][0] != '\0')
        i++;
    assert_true(i < REPORTS);
    snprintf(s->reports[i], sizeof s->reports[i], "%s", what);
}

/* "1! ready" and what else becomes of a link. */
static void script_happen(size_t number, const char *what)
{
    pgw_error error;
    char code[6];
    script *s = script_at(number);
    here.running = true;
    if (strcmp(what, "ready") == 0) {
        px_link_be_ready(&s->link);
    } else if (strncmp(what, "reports ", 8) == 0) {
        script_reports(s, what + 8);
    } else if (strcmp(what, "lost") == 0) {
        s->link.ops->on_lost(&s->link, "the transcript says so");
    } else if (strcmp(what, "cancelled") == 0) {
        s->cancelling = false;
        s->link.ops->on_drained(&s->link);
    } else {
        assert_int_equal(sscanf(what, "failed %5s", code), 1);
        pgw_fail(&error, code, "by the transcript");
        here.scripts[number] = NULL; /* it may open again, as another */
        px_link_fail(&s->link, &error);
    }
    here.running = false;
}

static void script_lose_all(void)
{
    for (size_t i = 0; i < here.link_count; i++)
        if (here.scripts[i] != NULL && !here.scripts[i]->link.opening)
            here.scripts[i]->link.ops->on_lost(&here.scripts[i]->link, "the end");
}

#endif
