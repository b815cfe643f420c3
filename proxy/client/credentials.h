/*
 * door: who may come in, loaded together with a configuration: the certificate that clients see and
 * the secrets of users. Counted; replaced as a whole on reload, and never changed.
 */
#ifndef PX_DOOR_H
#define PX_DOOR_H

#include "config/users.h"
#include "protocol/scram.h"
#include "proxy/loop/tls.h"

typedef struct px_door {
    _Atomic unsigned references;     /* of the process, the workers, and logins under way */
    px_tls *tls;                     /* NULL: clients are answered that there is none */
    cfg_users *users;                /* NULL unless auth.mode is scram */
    pgw_scram_secret *secrets;       /* of users->list, one each */
    uint8_t salt_key[PGW_SCRAM_KEY]; /* makes the salts of users that do not exist, and of plain
                                      passwords */
} px_door;

/* Loads certificate, key and users; the caller has a reference. Deriving a secret from a plain
 * password takes about a millisecond; those that `previous` (NULL: none) has already are copied,
 * and so is its salt key: it is random (made of the secrets, it would let anybody who gets a salt
 * try passwords against it) and lasts as long as the process, so that a reload does not tell
 * existing users from others. On mistakes prints them to `errors` as `file:line: what`; NULL. */
px_door *px_door_load(const cfg_config *config, const px_door *previous, FILE *errors);
px_door *px_door_take(px_door *door); /* one more reference */
void px_door_drop(px_door *door);     /* the last one frees and wipes; NULL is fine */

/* Fills the secret that a client calling itself `name` has to know; false if there is no such user:
 * then it is one that nobody knows, with a salt that stays the same. */
bool px_door_secret(const px_door *door, pgw_slice name, pgw_scram_secret *secret);
/* The plain password of a user, for logging in to the backend; NULL if only a verifier is known. */
const char *px_door_password(const px_door *door, pgw_slice name);

#endif
