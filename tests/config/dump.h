/*
 * dump: all that a configuration holds, as text.
 */
#ifndef TEST_DUMP_H
#define TEST_DUMP_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"

static inline const char *dump_text(const char *text)
{
    return text != NULL ? text : "-";
}

static inline void dump_list(FILE *out, char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %s", dump_text(list[i]));
    fputs(";", out);
}

static inline void dump_listen(FILE *out, const cfg_listen *listen, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %s %u %s", dump_text(listen[i].host), listen[i].port,
                dump_text(listen[i].path));
    fputs("\n", out);
}

static inline void dump_partitions(FILE *out, const cfg_partitions *it)
{
    fprintf(out, " %u %u %d", it->uniform, it->buckets, it->discover);
    for (size_t i = 0; i < it->at_count; i++)
        fprintf(out, " %" PRIu64, it->at[i]);
}

static inline void dump_ydb(FILE *out, const cfg_ydb *it)
{
    fprintf(out, " %d%d %u %u %u %s %s %d", it->by_size, it->by_load, it->partition_size_mb,
            it->min_partitions, it->max_partitions, dump_text(it->ttl_column),
            dump_text(it->ttl_after), it->ttl_unit);
    for (size_t i = 0; i < it->index_count; i++) {
        fprintf(out, " %s %d", it->indexes[i].name, it->indexes[i].sync);
        dump_list(out, it->indexes[i].columns, it->indexes[i].column_count);
    }
}

static inline void dump_table(FILE *out, const cfg_table *it)
{
    fprintf(out, "%s %s %s %d %s %d %d %d %zu %u:", dump_text(it->schema), it->name,
            dump_text(it->label), it->pattern, dump_text(it->hash_column), it->hash_function,
            it->hash_type, it->key_order, it->place, it->line);
    if (it->hash_buckets > 0)
        fprintf(out, " hash_buckets %u", it->hash_buckets);
    dump_list(out, it->primary_key, it->primary_key_count);
    dump_list(out, it->hash_key, it->hash_key_count);
    dump_list(out, it->partition_key, it->partition_key_count);
    for (size_t i = 0; i < it->column_count; i++)
        fprintf(out, " %s %s %s %d", it->columns[i].name, it->columns[i].type,
                dump_text(it->columns[i].by_default), it->columns[i].not_null);
    dump_partitions(out, &it->partitions);
    fprintf(out, " %d%d%d%d%d%d%d%d%d %u", it->uncomputable, it->null_key, it->hide,
            it->hide_in_catalog, it->lookups, it->atomicity, it->transactions, it->repeat_upserts,
            it->sequences, it->block);
    fprintf(out, " %u %" PRIu64 " %u %u %u %u", it->batch.rows, it->batch.bytes, it->batch.wait_ms,
            it->batch.target_ms, it->batch.lock_wait_ms, it->batch.max_wait_ms);
    dump_ydb(out, &it->ydb);
    fputs("\n", out);
}

static inline void dump_backend(FILE *out, const cfg_config *it)
{
    const cfg_capabilities *capabilities = &it->backend.capabilities;
    char *unconfirmed = cfg_capabilities_unconfirmed(capabilities);
    for (size_t i = 0; i < CFG_CAPABILITIES; i++)
        fprintf(out, "%d%d", capabilities->can[i], capabilities->written[i]);
    fprintf(out, " %" PRIu64 " %d %s\n", capabilities->max_message,
            capabilities->max_message_written, unconfirmed);
    free(unconfirmed);
    fprintf(out, "%s %u %d %s %u %d", dump_text(it->backend.dsn), it->backend.dsn_line,
            it->backend.dialect, dump_text(it->backend.monitoring), it->backend.monitoring_s,
            it->backend.links);
    fprintf(out, " %u %u %u %u %u %u", it->backend.max_links, it->backend.batch_links,
            it->backend.link_wait_ms, it->backend.link_age_s, it->backend.connect_ms,
            it->backend.catalog_s);
    fprintf(out, " %d%d%d %" PRIu64 " %u %u\n", it->backend.allow_cleartext,
            it->backend.exact_counts, it->backend.insert_first, it->backend.max_message,
            it->backend.keepalive_s, it->backend.retry_ms);
}

static inline void dump_limits(FILE *out, const cfg_config *it)
{
    fprintf(out, "%" PRIu64 " %" PRIu64 " %d %u %u %u %u %u", it->limits.row_bytes,
            it->limits.key_bytes, it->limits.enforce, it->limits.clients,
            it->limits.unauthenticated, it->limits.unauthenticated_per_address,
            it->limits.clients_per_address, it->limits.startup_ms);
    fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            it->limits.incomplete_bytes, it->limits.unread_bytes, it->limits.prepared_bytes,
            it->limits.queue_bytes, it->limits.lazy_bytes);
}

static inline void dump_config(FILE *out, const cfg_config *it)
{
    dump_listen(out, it->listen, it->listen_count);
    fprintf(out, "%u %o %d %s %s %s %u %u %u %d", it->workers, it->unix_socket_mode,
            it->client_tls.mode, dump_text(it->client_tls.cert), dump_text(it->client_tls.key),
            dump_text(it->client_tls.ca), it->client_tls.cert_line, it->client_tls.key_line,
            it->client_tls.ca_line, it->client_tls.verify);
    fprintf(out, " %d %s %u %d %d %d", it->auth.mode, dump_text(it->auth.users_file),
            it->auth.users_file_line, it->auth.allow_remote_trust, it->admin.allow_remote,
            it->log_level);
    dump_listen(out, it->admin.listen, it->admin.listen != NULL);
    dump_backend(out, it);
    dump_limits(out, it);
    for (size_t i = 0; i < it->table_count + it->pattern_count + it->columnar_count; i++)
        dump_table(out, &it->tables[i]);
}

#endif
