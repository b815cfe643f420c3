#include "proxy/backend/base/dsn.h"

#include "protocol/bytes.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

char *px_dsn_value(const char *dsn, const char *keyword)
{
    PQconninfoOption *options = PQconninfoParse(dsn, NULL);
    char *value = NULL;
    for (PQconninfoOption *o = options; o != NULL && o->keyword != NULL && value == NULL; o++)
        if (strcmp(o->keyword, keyword) == 0 && o->val != NULL && o->val[0] != '\0')
            value = pgw_strndup(o->val, strlen(o->val));
    PQconninfoFree(options);
    return value;
}

bool px_dsn_names(const char *dsn, const char *keyword)
{
    char *value = px_dsn_value(dsn, keyword);
    free(value);
    return value != NULL;
}
