/*
 * credentials: who may come in, loaded together with a configuration: the certificate that clients
 * see and the secrets of users. Counted; replaced as a whole on reload, and never changed.
 */
#ifndef PX_CREDENTIALS_H
#define PX_CREDENTIALS_H

#include "config/users.h"
#include "protocol/scram.h"
#include "proxy/loop/tls.h"

typedef struct px_credentials {
    _Atomic unsigned references;     /* held by the process, the workers, and logins under way */
    px_tls *tls;                     /* NULL: clients are answered that there is none */
    cfg_users *users;                /* NULL unless auth.mode is scram */
    pgw_scram_secret *secrets;       /* one for each entry of users->list */
    uint8_t salt_key[PGW_SCRAM_KEY]; /* makes the salts of users that do not exist, and of plain
                                      passwords */
} px_credentials;

/* Loads certificate, key and users; the caller has a reference. Deriving a secret from a plain
 * password takes about a millisecond; those that `previous` (NULL: none) has already are copied,
 * and so is its salt key: it is random (made of the secrets, it would let anybody who gets a salt
 * try passwords against it) and lasts as long as the process, so that a reload does not tell
 * existing users from others. On mistakes prints them to `errors` as `file:line: what`; NULL. */
px_credentials *px_credentials_load(const cfg_config *config, const px_credentials *previous,
                                    FILE *errors);
px_credentials *px_credentials_take(px_credentials *credentials); /* one more reference */
void px_credentials_drop(
    px_credentials *credentials); /* the last reference frees and wipes; NULL is fine */

/* Fills the secret that a client calling itself `name` has to know; false if there is no such user:
 * then it is one that nobody knows, with a salt that stays the same. */
bool px_credentials_secret(const px_credentials *credentials, pgw_slice name,
                           pgw_scram_secret *secret);
/* The plain password of a user, for logging in to the backend; NULL if only a verifier is known. */
const char *px_credentials_password(const px_credentials *credentials, pgw_slice name);

#endif
