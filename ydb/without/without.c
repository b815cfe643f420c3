/* The functions of ydb/ydb.h in a keyspread that was built without YDB. */
#include "ydb/ydb.h"

const px_backend *px_ydb_backend(void)
{
    return NULL;
}

const px_discovery_kind *px_ydb_places(void)
{
    return NULL;
}

void px_ydb_print_table(const cfg_config *config, const cfg_table *written, const rw_table *table,
                        const char *margin, FILE *out)
{
    (void)config, (void)written, (void)table, (void)margin, (void)out;
}

void px_ydb_print_columnar(const cfg_config *config, const cfg_table *table, FILE *out,
                           FILE *errors)
{
    (void)config, (void)table, (void)out, (void)errors;
}

void px_ydb_advise_table(const cfg_config *config, const cfg_table *written, const rw_table *table,
                         FILE *errors)
{
    (void)config, (void)written, (void)table, (void)errors;
}

void px_ydb_advise(const cfg_config *config, FILE *errors)
{
    (void)config, (void)errors;
}
