#include "proxy/welcome.h"

#include "protocol/backend.h"
#include "proxy/worker.h"

#include <stdlib.h>
#include <string.h>

enum { PARAMETERS = 13, KINDS = 1024 }; /* more kinds than that are not kept */

struct px_welcome {
    px_welcome *next;
    char *key;
    char *values[PARAMETERS];
};

static px_welcome *find(px_worker *worker, const char *key)
{
    for (px_welcome *w = worker->welcomes; w != NULL; w = w->next)
        if (strcmp(w->key, key) == 0)
            return w;
    return NULL;
}

static void clear(px_welcome *welcome)
{
    for (size_t i = 0; i < PARAMETERS; i++) {
        free(welcome->values[i]);
        welcome->values[i] = NULL;
    }
}

void px_welcome_keep(px_worker *worker, px_link *link)
{
    const char *key = px_link_identity(link)->key;
    px_welcome *welcome = find(worker, key);
    if (welcome == NULL) {
        size_t kinds = 0;
        for (px_welcome *w = worker->welcomes; w != NULL; w = w->next)
            kinds++;
        if (kinds >= KINDS)
            px_welcomes_free(worker);
        welcome = pgw_calloc(1, sizeof *welcome);
        welcome->key = pgw_strndup(key, strlen(key));
        welcome->next = worker->welcomes;
        worker->welcomes = welcome;
    }
    clear(welcome);
    for (size_t i = 0; i < PARAMETERS && px_link_parameters[i] != NULL; i++) {
        const char *value = px_link_parameter(link, px_link_parameters[i]);
        if (value != NULL)
            welcome->values[i] = pgw_strndup(value, strlen(value));
    }
}

bool px_welcome_write(px_worker *worker, const px_identity *identity, pgw_buf *out)
{
    px_welcome *welcome = find(worker, identity->key);
    if (welcome == NULL)
        return false;
    pgw_write_authentication_ok(out);
    for (size_t i = 0; i < PARAMETERS && px_link_parameters[i] != NULL; i++) {
        pgw_slice name = pgw_slice_str(px_link_parameters[i]);
        pgw_slice value = pgw_slice_str(welcome->values[i]);
        if (pgw_slice_eq_str(name, "application_name"))
            value = pgw_slice_str(identity->application ? identity->application : "");
        else if (welcome->values[i] == NULL)
            continue;
        pgw_write_parameter_status(name, value, out);
    }
    return true;
}

const char *px_welcome_value(px_worker *worker, const px_identity *identity, const char *name)
{
    px_welcome *welcome = find(worker, identity->key);
    for (size_t i = 0; welcome != NULL && i < PARAMETERS && px_link_parameters[i] != NULL; i++)
        if (strcmp(px_link_parameters[i], name) == 0)
            return welcome->values[i];
    return NULL;
}

void px_welcomes_free(px_worker *worker)
{
    while (worker->welcomes != NULL) {
        px_welcome *welcome = worker->welcomes;
        worker->welcomes = welcome->next;
        clear(welcome);
        free(welcome->key);
        free(welcome);
    }
}
