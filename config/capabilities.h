/*
 * capabilities: what the ydb dialect assumes about YDB's PostgreSQL endpoint where it can do
 * without, and the evidence for it. `backend.capabilities` overrides each assumption.
 */
#ifndef CFG_CAPABILITIES_H
#define CFG_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The capabilities and their names in the configuration file. */
#define CFG_CAPABILITY_LIST(ROW)                                                                   \
    ROW(UPDATE_FROM, "update_from")                                                                \
    ROW(RETURNING, "returning")                                                                    \
    ROW(RETURNING_UNLISTED, "returning_unlisted")                                                  \
    ROW(FOR_UPDATE, "for_update")                                                                  \
    ROW(START_TRANSACTION, "start_transaction")                                                    \
    ROW(SAVEPOINTS, "savepoints")                                                                  \
    ROW(DDL_IN_TRANSACTION, "ddl_in_transaction")                                                  \
    ROW(DESCRIBE, "describe")                                                                      \
    ROW(MINIMUM_INT8, "minimum_int8")                                                              \
    ROW(TYPMODS, "typmods")                                                                        \
    ROW(VARCHAR_KEYS, "varchar_keys")                                                              \
    ROW(UUID_KEYS, "uuid_keys")                                                                    \
    ROW(HASH_FUNCTIONS, "hash_functions")                                                          \
    ROW(NATIVE_WRITES, "native_writes")                                                            \
    ROW(COLUMN_TABLES, "column_tables")                                                            \
    ROW(PGINT8_BOUNDARIES, "pgint8_boundaries")

typedef enum cfg_capability {
#define CFG_CAPABILITY_ENUM(row, name) CFG_CAN_##row,
    CFG_CAPABILITY_LIST(CFG_CAPABILITY_ENUM)
#undef CFG_CAPABILITY_ENUM
        CFG_CAPABILITIES
} cfg_capability;

/* Where a capability's default is from; none was seen on a running server. */
typedef enum cfg_evidence {
    CFG_EVIDENCE_DOCUMENTED, /* a page of YDB's documentation says it */
    CFG_EVIDENCE_SOURCE,     /* YDB's source shows it */
    CFG_EVIDENCE_REPORTED,   /* an issue of YDB or of another program reports it */
    CFG_EVIDENCE_INFERRED    /* other facts about YDB suggest it */
} cfg_evidence;

typedef struct cfg_capability_row {
    const char *name;
    bool otherwise; /* the value where the file gives none */
    cfg_evidence evidence;
    const char *where; /* page, file or issue of the evidence */
    const char *what;  /* what is true where the value is yes */
} cfg_capability_row;

extern const cfg_capability_row cfg_capability_rows[CFG_CAPABILITIES];

enum { CFG_MAX_MESSAGE = 3 << 19 }; /* 1.5 MiB, below the 2 MiB where YDB closes the connection */

/* The values in force. `written`: the file says so, which is as good as confirmed. */
typedef struct cfg_capabilities {
    bool can[CFG_CAPABILITIES], written[CFG_CAPABILITIES];
    uint64_t max_message; /* bytes of a message to the endpoint */
    bool max_message_written;
} cfg_capabilities;

/* Lists the values that the file does not confirm: "for_update=no uuid_keys=no
 * max_message=1572864", or "". To be freed. */
char *cfg_capabilities_unconfirmed(const cfg_capabilities *capabilities);

#endif
