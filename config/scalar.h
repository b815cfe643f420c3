/*
 * scalar: the values that YAML knows only as text: sizes, addresses, names of tables, hashes.
 * Each function returns NULL, or what would be right, for the end of a message.
 */
#ifndef CFG_SCALAR_H
#define CFG_SCALAR_H

#include "config/config.h"
#include "config/must_check.h"

enum { CFG_MAX_NAME = 63 }; /* bytes of a name in PostgreSQL: NAMEDATALEN - 1 */

/* "1MiB", "2KiB", "1GiB", "500" (bytes). */
CFG_MUST_CHECK const char *cfg_parse_size(const char *text, uint64_t *bytes);
/* Reads a decimal number in the range of the type, as its bit pattern. */
CFG_MUST_CHECK const char *cfg_parse_hash(const char *text, cfg_hash_type type, uint64_t *hash);
/* "host:port", "[v6]:port", "/path". Fills owned strings; on a mistake there is nothing to free. */
CFG_MUST_CHECK const char *cfg_parse_listen(const char *text, cfg_listen *listen);
/* Permission bits as chmod writes them: "0700". */
CFG_MUST_CHECK const char *cfg_parse_mode(const char *text, uint32_t *mode);
/* "name" or "schema.name" as PostgreSQL stores them; a part with a dot or blank stands in double
 * quotes; a `*` behind it, or alone, makes it a pattern. Fills owned strings, also the label's; on
 * a mistake there is nothing to free. */
CFG_MUST_CHECK const char *cfg_parse_table_name(const char *text, cfg_table *table);
/* How long, as ISO 8601 writes it: "P30D", "PT1H30M". */
CFG_MUST_CHECK const char *cfg_parse_interval(const char *text);
/* Whether the address can be reached from this machine only. */
bool cfg_is_local(const cfg_listen *listen);

#endif
