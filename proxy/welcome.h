/*
 * welcome: what the server reports when a session of a kind (user, database, startup parameters)
 * begins; kept from the first link of that kind, so that later sessions are greeted without one.
 */
#ifndef PX_WELCOME_H
#define PX_WELCOME_H

#include "proxy/link.h"

typedef struct px_welcome px_welcome;

/* Keeps what `link` reported for its identity's key, in place of what was kept before. */
void px_welcome_keep(struct px_worker *worker, px_link *link);
/* Writes AuthenticationOk and the ParameterStatus messages, application_name as the identity's;
 * false if nothing is known of the kind. */
bool px_welcome_write(struct px_worker *worker, const px_identity *identity, pgw_buf *out);
/* A reported value for the identity's kind; NULL if unknown. */
const char *px_welcome_value(struct px_worker *worker, const px_identity *identity,
                             const char *name);
void px_welcomes_free(struct px_worker *worker);

#endif
