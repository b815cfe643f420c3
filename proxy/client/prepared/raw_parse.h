/*
 * raw_parse: a statement that its client only prepares, and does not run yet, is on the link as the
 * client wrote it, which costs PostgreSQL half as much. When it is bound, the one with the hash
 * takes its place.
 */
#ifndef PX_RAW_PARSE_H
#define PX_RAW_PARSE_H

#include "proxy/client/core/client_message.h"
#include "proxy/client/core/statements.h"

struct px_session;

/* Whether the Parse at hand, of a name that is free, may go to the link as a draft: what PostgreSQL
 * says of it, and what is prepared of it later, is the same. */
bool px_raw_parse_fits(const struct px_session *session, const px_client_message *decoded,
                       const px_plan *plan);
/* Sends the draft. The link must be ready; what the draft is described as must be asked next, by
 * its client or here. */
void px_raw_parse_parse(struct px_session *session, const px_client_message *decoded,
                        px_plan *plan);
/* Whether the client has sent Describe of the statement behind the Parse at hand. */
bool px_raw_parse_is_described(const struct px_session *session, pgw_slice name);
/* Whether a draft is bound of which something is not answered yet: its types, or whether it is
 * there. */
bool px_raw_parse_waits(const struct px_session *session, const px_client_message *decoded);
/* Whether a Bind of a draft is for the server to refuse: in a transaction that has failed nothing
 * can be prepared. */
bool px_raw_parse_is_refused(const struct px_session *session, pgw_slice name);

#endif
