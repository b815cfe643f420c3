#include "proxy/client/core/parsed.h"

#include "proxy/client/core/session.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_BYTES = 64 * 1024 };

struct px_parsed {
    px_text *text; /* counted */
    pgw_env env;   /* the settings by which the text was read */
    bool moved;
    rw_meaning *unqualified; /* what the view said of names; NULL: they mean what the file says */
};

void px_parsed_forget(px_session *session)
{
    struct px_parsed *parsed = session->hand.parsed;
    if (parsed == NULL)
        return;
    session->hand.parsed = NULL;
    px_text_drop(parsed->text);
    free(parsed->unqualified);
    free(parsed);
}

bool px_parsed_is_of(const px_session *session, pgw_slice text, const px_catalog *catalog)
{
    const struct px_parsed *parsed = session->hand.parsed;
    return parsed != NULL && parsed->text->catalog == catalog &&
           pgw_slice_eq(parsed->text->text, text);
}

static bool same_env(const pgw_env *a, const pgw_env *b)
{
    return a->utf8 == b->utf8 && a->conforming == b->conforming && a->zone_known == b->zone_known &&
           a->zone_seconds == b->zone_seconds;
}

static bool same_meanings(const rw_meaning *a, const rw_meaning *b, size_t count)
{
    if (a == NULL || b == NULL)
        return a == b;
    return memcmp(a, b, count * sizeof *a) == 0;
}

px_text *px_parsed(px_session *session, pgw_slice text, px_catalog *catalog, const rw_catalog *view)
{
    const struct px_parsed *parsed = session->hand.parsed;
    const pgw_env *env = &session->who.identity->env;
    if (!px_parsed_is_of(session, text, catalog) || !same_env(&parsed->env, env) ||
        parsed->moved != view->moved ||
        !same_meanings(parsed->unqualified, view->unqualified, view->count))
        return px_text_parse(session->worker, text, catalog, view, env);
    px_text_take(parsed->text);
    return parsed->text;
}

void px_parsed_keep(px_session *session, px_text *text, const rw_catalog *view)
{
    if (session->hand.parsed != NULL && session->hand.parsed->text == text)
        return;
    px_parsed_forget(session);
    if (text->text.len > KEPT_BYTES)
        return;
    struct px_parsed *parsed = session->hand.parsed = pgw_calloc(1, sizeof *parsed);
    px_text_take(text);
    *parsed =
        (struct px_parsed){.text = text, .env = session->who.identity->env, .moved = view->moved};
    if (view->unqualified == NULL)
        return;
    parsed->unqualified = pgw_calloc(view->count, sizeof *parsed->unqualified);
    memcpy(parsed->unqualified, view->unqualified, view->count * sizeof *parsed->unqualified);
}
