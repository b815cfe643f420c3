/*
 * parsed: what was made of the text of the Query at hand, kept while its session waits for values
 * of a key: the text is not copied and parsed each time that it is looked at anew.
 */
#ifndef PX_PARSED_H
#define PX_PARSED_H

#include "proxy/ingest/text.h"

struct px_session;

/* Whether what is kept was made of this text, by this catalog. */
bool px_parsed_is_of(const struct px_session *session, pgw_slice text, const px_catalog *catalog);
/* The parsed text: what is kept, if `text` would be parsed to that now; else it is parsed. The
 * caller has a reference. */
px_text *px_parsed(struct px_session *session, pgw_slice text, px_catalog *catalog,
                   const rw_catalog *view);
/* Keeps the parsed text, of which nothing was computed yet, unless it is large: its bytes are not
 * counted. */
void px_parsed_keep(struct px_session *session, px_text *text, const rw_catalog *view);
/* Forgets what is kept: the message has been dealt with. */
void px_parsed_forget(struct px_session *session);

#endif
