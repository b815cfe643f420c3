/*
 * welcome: what the server reports when a session of a kind (user, database, startup parameters)
 * begins; kept for all workers from the last link of that kind, so that later sessions can be
 * greeted without one. It is believed for a minute, and while nothing says otherwise.
 */
#ifndef PX_WELCOME_H
#define PX_WELCOME_H

#include "proxy/backend/link.h"

typedef struct px_welcome px_welcome; /* immutable and counted; any thread */
typedef struct px_welcomes px_welcomes;

px_welcomes *px_welcomes_new(void);
void px_welcomes_free(px_welcomes *welcomes);

/* Keeps what `link` reported for its identity's key, in place of what was kept before; counted. */
px_welcome *px_welcome_keep(struct px_worker *worker, px_link *link);
/* A link of any kind has opened: what it reports otherwise of its server, or of its user in its
 * database, is not told to new sessions any more. */
void px_welcome_compare(struct px_worker *worker, px_link *link);
/* What new sessions begin with was changed. */
void px_welcome_renew(struct px_worker *worker);

/* What is known of the identity's kind, counted; NULL: nothing, or it may have changed. */
px_welcome *px_welcome_find(struct px_worker *worker, const px_identity *identity);
void px_welcome_drop(px_welcome *welcome); /* NULL is fine, here and below */
/* Writes AuthenticationOk and the ParameterStatus messages, application_name as the identity's. */
void px_welcome_write(const px_welcome *welcome, const px_identity *identity, pgw_buf *out);
/* A reported value; NULL if there is none. */
const char *px_welcome_value(const px_welcome *welcome, const char *name);
/* What px_link_settings() said of that link. */
uint64_t px_welcome_settings(const px_welcome *welcome);

#endif
