#include "config/capabilities.h"

#include <inttypes.h>
#include <stdlib.h>

#include "config/document.h"

const cfg_capability_row cfg_capability_rows[CFG_CAPABILITIES] = {
    [CFG_CAN_UPDATE_FROM] = {"update_from", false, CFG_EVIDENCE_SOURCE, "pg_sql.cpp: UpdateStmt",
                             "UPDATE … FROM changes the rows that it joins"},
    [CFG_CAN_RETURNING] = {"returning", true, CFG_EVIDENCE_SOURCE, "pg_sql.cpp: ParseReturningList",
                           "INSERT, UPDATE and DELETE return the columns that they wrote"},
    [CFG_CAN_RETURNING_UNLISTED] = {"returning_unlisted", false, CFG_EVIDENCE_REPORTED,
                                    "ydb#15551, ydb#7634",
                                    "INSERT returns the columns that it does not list, too"},
    [CFG_CAN_FOR_UPDATE] = {"for_update", false, CFG_EVIDENCE_INFERRED, "stroppy PR 66 removed it",
                            "SELECT … FOR UPDATE is accepted"},
    [CFG_CAN_START_TRANSACTION] = {"start_transaction", false, CFG_EVIDENCE_SOURCE,
                                   "pgwire: words by their first 20 characters",
                                   "START TRANSACTION opens a transaction, as BEGIN does"},
    [CFG_CAN_SAVEPOINTS] = {"savepoints", true, CFG_EVIDENCE_SOURCE, "pg_sql.cpp: TransactionStmt",
                            "SAVEPOINT and RELEASE are accepted, and do nothing"},
    [CFG_CAN_DDL_IN_TRANSACTION] = {"ddl_in_transaction", false, CFG_EVIDENCE_SOURCE,
                                    "pgwire: DDL goes without transaction control",
                                    "CREATE TABLE belongs to the transaction it stands in"},
    [CFG_CAN_DESCRIBE] = {"describe", true, CFG_EVIDENCE_SOURCE, "pgwire: Parse explains",
                          "Parse and Describe tell a statement's columns without running it"},
    [CFG_CAN_MINIMUM_INT8] = {"minimum_int8", false, CFG_EVIDENCE_INFERRED,
                              "pg_sql.cpp: integer constants",
                              "-9223372036854775808 may be written into an int8 without quotes"},
    [CFG_CAN_TYPMODS] = {"typmods", false, CFG_EVIDENCE_INFERRED, "pg_sql.cpp: CreateStmt",
                         "a varchar(20) column takes no more than 20 characters"},
    [CFG_CAN_VARCHAR_KEYS] = {"varchar_keys", false, CFG_EVIDENCE_SOURCE,
                              "kqp_pg_ut.cpp: IsKey=false", "varchar may be in a key"},
    [CFG_CAN_UUID_KEYS] = {"uuid_keys", false, CFG_EVIDENCE_SOURCE, "kqp_pg_ut.cpp: IsKey=false",
                           "uuid may be in a key"},
    [CFG_CAN_HASH_FUNCTIONS] = {"hash_functions", false, CFG_EVIDENCE_INFERRED,
                                "pg_proc has them for the types' own use",
                                "hashint8extended() and its like may be called"},
    [CFG_CAN_NATIVE_WRITES] = {"native_writes", false, CFG_EVIDENCE_INFERRED,
                               "interoperability.md tells of reads alone",
                               "INSERT into a table of YDB's own types works, as into Uint64"},
    [CFG_CAN_COLUMN_TABLES] = {"column_tables", false, CFG_EVIDENCE_INFERRED,
                               "nothing tells of them over this endpoint",
                               "INSERT into a column-oriented table works"},
    [CFG_CAN_PGINT8_BOUNDARIES] = {"pgint8_boundaries", false, CFG_EVIDENCE_INFERRED, "ydb#11023",
                                   "PARTITION_AT_KEYS of YQL takes a key that begins with pgint8"},
};

char *cfg_capabilities_unconfirmed(const cfg_capabilities *capabilities)
{
    char *text = cfg_copy("");
    for (size_t i = 0; i < CFG_CAPABILITIES; i++) {
        if (capabilities->written[i])
            continue;
        char *longer = cfg_printf("%s%s%s=%s", text, *text ? " " : "", cfg_capability_rows[i].name,
                                  capabilities->can[i] ? "yes" : "no");
        free(text);
        text = longer;
    }
    if (capabilities->max_message_written)
        return text;
    char *longer =
        cfg_printf("%s%smax_message=%" PRIu64, text, *text ? " " : "", capabilities->max_message);
    free(text);
    return longer;
}
