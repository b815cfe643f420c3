/*
 * users: the file of users and their secrets, in the form of PgBouncer's userlist.txt: a line holds
 * "name" "secret", a quote inside is written twice, and what begins with ; is a comment. Passwords
 * and SCRAM verifiers are taken, MD5 hashes are not.
 */
#ifndef CFG_USERS_H
#define CFG_USERS_H

#include "config/must_check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct cfg_user {
    char *name;
    char *secret;
    bool verifier; /* `secret` is "SCRAM-SHA-256$…", its shape checked; else a plain password */
    unsigned line; /* line of the user in the file, for messages */
} cfg_user;

typedef struct cfg_users {
    char *path;     /* path of the file of users */
    cfg_user *list; /* users sorted by name, each name once */
    size_t count;
} cfg_users;

/* Reads and checks the file. On mistakes prints each to `errors` as `file:line: what, and what
 * would be right` (never a secret) and returns NULL. Freed by cfg_users_free(). */
CFG_MUST_CHECK cfg_users *cfg_users_load(const char *path, FILE *errors);
/* The user of that name; NULL if there is none. Names are compared byte for byte. */
const cfg_user *cfg_users_find(const cfg_users *users, const char *name, size_t len);
/* Wipes the secrets. */
void cfg_users_free(cfg_users *users);

#endif
