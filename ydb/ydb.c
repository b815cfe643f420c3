#include "ydb/ydb.h"

#include "ydb/command/advice.h"
#include "ydb/command/yql.h"
#include "ydb/command/yql_column.h"
#include "ydb/endpoint/endpoint.h"
#include "ydb/places/discovery.h"

const px_backend *px_ydb_backend(void)
{
    return &px_backend_ydb;
}

const px_discovery_kind *px_ydb_places(void)
{
    return &px_ydb_discovery;
}

void px_ydb_print_table(const cfg_config *config, const cfg_table *written, const rw_table *table,
                        const char *margin, FILE *out)
{
    px_yql yql = {table, &written->ydb, &config->backend.capabilities, margin};
    px_yql_print(&yql, out);
}

void px_ydb_print_columnar(const cfg_config *config, const cfg_table *table, FILE *out,
                           FILE *errors)
{
    px_yql_column_advise(config, table, errors);
    px_yql_column_print(config, table, out);
}

void px_ydb_advise_table(const cfg_config *config, const cfg_table *written, const rw_table *table,
                         FILE *errors)
{
    px_advice_print(config, written, table, errors);
}

void px_ydb_advise(const cfg_config *config, FILE *errors)
{
    px_advice_check(config, errors);
}
