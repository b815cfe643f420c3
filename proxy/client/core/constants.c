#include "proxy/client/core/constants.h"

#include "proxy/backend/schema/schema.h"
#include "proxy/client/core/session.h"

bool px_constants_are_others(const px_session *session, const px_statement *statement)
{
    return statement->plan != NULL && px_statement_reads(statement) &&
           !px_identity_reads_alike(statement->plan->identity, session->who.identity);
}

bool px_constants_stay(const px_session *session, const px_statement *statement,
                       const px_catalog *catalog)
{
    const rw_table *table = statement->plan->insert->table;
    bool same = false;
    for (size_t i = 0; i < catalog->count && !same; i++)
        same = catalog->tables[i]->oid == table->oid && px_schema_same(catalog->tables[i], table);
    return same && statement->generation == session->known.generation &&
           px_plan_is_in_zone(statement->plan, session->who.identity) &&
           px_statements_on_link(&session->names.statements, statement);
}

void px_constants_refuse(pgw_error *error)
{
    pgw_fail(
        error, "0A000",
        "DateStyle, IntervalStyle or TimeZone is another than when the statement was prepared");
    pgw_error_hint(error, "Prepare it again, or give its dates and times as parameters.");
}
