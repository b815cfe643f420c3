#include "rewrite/statement/words/setting_kind.h"

#include <string.h>

/* Every setting that SET takes, but for those that pg_settings does not show: role,
 * session_authorization, seed. What only some versions have says from which, and up to which;
 * 0: any. tests/integration/test_setting_kinds.py compares this with the servers that are there. */
static const struct setting {
    const char *name;
    rw_setting_kind kind;
    unsigned char since, until;
} settings[] = {
    /* Each session's own: followed, and set on the links of batches, or kept here as a deadline. */
    {"client_encoding", RW_SETTING_TRACKED, 0, 0},
    {"datestyle", RW_SETTING_TRACKED, 0, 0},
    {"intervalstyle", RW_SETTING_TRACKED, 0, 0},
    {"lock_timeout", RW_SETTING_TRACKED, 0, 0},
    {"search_path", RW_SETTING_PATH, 0, 0},
    {"standard_conforming_strings", RW_SETTING_TRACKED, 0, 0},
    {"statement_timeout", RW_SETTING_TRACKED, 0, 0},
    {"synchronous_commit", RW_SETTING_TRACKED, 0, 0},
    {"timezone", RW_SETTING_TRACKED, 0, 0},

    /* Settings of the text that is made of a value. */
    {"bytea_output", RW_SETTING_OUTPUT, 0, 0},
    {"extra_float_digits", RW_SETTING_OUTPUT, 0, 0},
    {"xmlbinary", RW_SETTING_OUTPUT, 0, 0},

    /* Settings of how a plan is chosen: rows of VALUES have only one plan. */
    {"constraint_exclusion", RW_SETTING_PLAIN, 0, 0},
    {"cpu_index_tuple_cost", RW_SETTING_PLAIN, 0, 0},
    {"cpu_operator_cost", RW_SETTING_PLAIN, 0, 0},
    {"cpu_tuple_cost", RW_SETTING_PLAIN, 0, 0},
    {"cursor_tuple_fraction", RW_SETTING_PLAIN, 0, 0},
    {"debug_parallel_query", RW_SETTING_PLAIN, 16, 0},
    {"effective_cache_size", RW_SETTING_PLAIN, 0, 0},
    {"enable_async_append", RW_SETTING_PLAIN, 0, 0},
    {"enable_bitmapscan", RW_SETTING_PLAIN, 0, 0},
    {"enable_distinct_reordering", RW_SETTING_PLAIN, 18, 0},
    {"enable_gathermerge", RW_SETTING_PLAIN, 0, 0},
    {"enable_group_by_reordering", RW_SETTING_PLAIN, 17, 0},
    {"enable_hashagg", RW_SETTING_PLAIN, 0, 0},
    {"enable_hashjoin", RW_SETTING_PLAIN, 0, 0},
    {"enable_incremental_sort", RW_SETTING_PLAIN, 0, 0},
    {"enable_indexonlyscan", RW_SETTING_PLAIN, 0, 0},
    {"enable_indexscan", RW_SETTING_PLAIN, 0, 0},
    {"enable_material", RW_SETTING_PLAIN, 0, 0},
    {"enable_memoize", RW_SETTING_PLAIN, 0, 0},
    {"enable_mergejoin", RW_SETTING_PLAIN, 0, 0},
    {"enable_nestloop", RW_SETTING_PLAIN, 0, 0},
    {"enable_parallel_append", RW_SETTING_PLAIN, 0, 0},
    {"enable_parallel_hash", RW_SETTING_PLAIN, 0, 0},
    {"enable_partition_pruning", RW_SETTING_PLAIN, 0, 0},
    {"enable_partitionwise_aggregate", RW_SETTING_PLAIN, 0, 0},
    {"enable_partitionwise_join", RW_SETTING_PLAIN, 0, 0},
    {"enable_presorted_aggregate", RW_SETTING_PLAIN, 16, 0},
    {"enable_self_join_elimination", RW_SETTING_PLAIN, 18, 0},
    {"enable_seqscan", RW_SETTING_PLAIN, 0, 0},
    {"enable_sort", RW_SETTING_PLAIN, 0, 0},
    {"enable_tidscan", RW_SETTING_PLAIN, 0, 0},
    {"force_parallel_mode", RW_SETTING_PLAIN, 0, 15},
    {"from_collapse_limit", RW_SETTING_PLAIN, 0, 0},
    {"geqo", RW_SETTING_PLAIN, 0, 0},
    {"geqo_effort", RW_SETTING_PLAIN, 0, 0},
    {"geqo_generations", RW_SETTING_PLAIN, 0, 0},
    {"geqo_pool_size", RW_SETTING_PLAIN, 0, 0},
    {"geqo_seed", RW_SETTING_PLAIN, 0, 0},
    {"geqo_selection_bias", RW_SETTING_PLAIN, 0, 0},
    {"geqo_threshold", RW_SETTING_PLAIN, 0, 0},
    {"jit", RW_SETTING_PLAIN, 0, 0},
    {"jit_above_cost", RW_SETTING_PLAIN, 0, 0},
    {"jit_dump_bitcode", RW_SETTING_PLAIN, 0, 0},
    {"jit_expressions", RW_SETTING_PLAIN, 0, 0},
    {"jit_inline_above_cost", RW_SETTING_PLAIN, 0, 0},
    {"jit_optimize_above_cost", RW_SETTING_PLAIN, 0, 0},
    {"jit_tuple_deforming", RW_SETTING_PLAIN, 0, 0},
    {"join_collapse_limit", RW_SETTING_PLAIN, 0, 0},
    {"max_parallel_workers", RW_SETTING_PLAIN, 0, 0},
    {"max_parallel_workers_per_gather", RW_SETTING_PLAIN, 0, 0},
    {"min_parallel_index_scan_size", RW_SETTING_PLAIN, 0, 0},
    {"min_parallel_table_scan_size", RW_SETTING_PLAIN, 0, 0},
    {"parallel_leader_participation", RW_SETTING_PLAIN, 0, 0},
    {"parallel_setup_cost", RW_SETTING_PLAIN, 0, 0},
    {"parallel_tuple_cost", RW_SETTING_PLAIN, 0, 0},
    {"plan_cache_mode", RW_SETTING_PLAIN, 0, 0},
    {"random_page_cost", RW_SETTING_PLAIN, 0, 0},
    {"recursive_worktable_factor", RW_SETTING_PLAIN, 0, 0},
    {"seq_page_cost", RW_SETTING_PLAIN, 0, 0},

    /* Memory and speed. */
    {"backend_flush_after", RW_SETTING_PLAIN, 0, 0},
    {"commit_delay", RW_SETTING_PLAIN, 0, 0},
    {"commit_siblings", RW_SETTING_PLAIN, 0, 0},
    {"deadlock_timeout", RW_SETTING_PLAIN, 0, 0},
    {"debug_discard_caches", RW_SETTING_PLAIN, 0, 0},
    {"effective_io_concurrency", RW_SETTING_PLAIN, 0, 0},
    {"gin_pending_list_limit", RW_SETTING_PLAIN, 0, 0},
    {"hash_mem_multiplier", RW_SETTING_PLAIN, 0, 0},
    {"io_combine_limit", RW_SETTING_PLAIN, 17, 0},
    {"logical_decoding_work_mem", RW_SETTING_PLAIN, 0, 0},
    {"maintenance_io_concurrency", RW_SETTING_PLAIN, 0, 0},
    {"maintenance_work_mem", RW_SETTING_PLAIN, 0, 0},
    {"max_parallel_maintenance_workers", RW_SETTING_PLAIN, 0, 0},
    {"temp_buffers", RW_SETTING_PLAIN, 0, 0},
    {"temp_file_limit", RW_SETTING_PLAIN, 0, 0},
    {"wal_compression", RW_SETTING_PLAIN, 0, 0},
    {"wal_consistency_checking", RW_SETTING_PLAIN, 0, 0},
    {"wal_init_zero", RW_SETTING_PLAIN, 0, 0},
    {"wal_recycle", RW_SETTING_PLAIN, 0, 0},
    {"wal_skip_threshold", RW_SETTING_PLAIN, 0, 0},
    {"work_mem", RW_SETTING_PLAIN, 0, 0},

    /* Settings of the server's log and statistics. Notices of batched rows are counted, and no
     * client gets them. */
    {"application_name", RW_SETTING_PLAIN, 0, 0},
    {"backtrace_functions", RW_SETTING_PLAIN, 0, 0},
    {"client_min_messages", RW_SETTING_PLAIN, 0, 0},
    {"compute_query_id", RW_SETTING_PLAIN, 0, 0},
    {"debug_pretty_print", RW_SETTING_PLAIN, 0, 0},
    {"debug_print_parse", RW_SETTING_PLAIN, 0, 0},
    {"debug_print_plan", RW_SETTING_PLAIN, 0, 0},
    {"debug_print_rewritten", RW_SETTING_PLAIN, 0, 0},
    {"log_duration", RW_SETTING_PLAIN, 0, 0},
    {"log_error_verbosity", RW_SETTING_PLAIN, 0, 0},
    {"log_executor_stats", RW_SETTING_PLAIN, 0, 0},
    {"log_lock_failures", RW_SETTING_PLAIN, 18, 0},
    {"log_lock_waits", RW_SETTING_PLAIN, 0, 0},
    {"log_min_duration_sample", RW_SETTING_PLAIN, 0, 0},
    {"log_min_duration_statement", RW_SETTING_PLAIN, 0, 0},
    {"log_min_error_statement", RW_SETTING_PLAIN, 0, 0},
    {"log_min_messages", RW_SETTING_PLAIN, 0, 0},
    {"log_parameter_max_length", RW_SETTING_PLAIN, 0, 0},
    {"log_parameter_max_length_on_error", RW_SETTING_PLAIN, 0, 0},
    {"log_parser_stats", RW_SETTING_PLAIN, 0, 0},
    {"log_planner_stats", RW_SETTING_PLAIN, 0, 0},
    {"log_replication_commands", RW_SETTING_PLAIN, 0, 0},
    {"log_statement", RW_SETTING_PLAIN, 0, 0},
    {"log_statement_sample_rate", RW_SETTING_PLAIN, 0, 0},
    {"log_statement_stats", RW_SETTING_PLAIN, 0, 0},
    {"log_temp_files", RW_SETTING_PLAIN, 0, 0},
    {"log_transaction_sample_rate", RW_SETTING_PLAIN, 0, 0},
    {"stats_fetch_consistency", RW_SETTING_PLAIN, 0, 0},
    {"trace_notify", RW_SETTING_PLAIN, 0, 0},
    {"trace_sort", RW_SETTING_PLAIN, 0, 0},
    {"track_activities", RW_SETTING_PLAIN, 0, 0},
    {"track_cost_delay_timing", RW_SETTING_PLAIN, 18, 0},
    {"track_counts", RW_SETTING_PLAIN, 0, 0},
    {"track_functions", RW_SETTING_PLAIN, 0, 0},
    {"track_io_timing", RW_SETTING_PLAIN, 0, 0},
    {"track_wal_io_timing", RW_SETTING_PLAIN, 0, 0},
    {"update_process_title", RW_SETTING_PLAIN, 0, 0},

    /* Settings of the connection, and of what ends it while it is idle: they stay with the
     * session's own link. */
    {"client_connection_check_interval", RW_SETTING_PLAIN, 0, 0},
    {"idle_in_transaction_session_timeout", RW_SETTING_PLAIN, 0, 0},
    {"idle_session_timeout", RW_SETTING_PLAIN, 0, 0},
    /* These two count when a session begins. */
    {"local_preload_libraries", RW_SETTING_PLAIN, 0, 0},
    {"session_preload_libraries", RW_SETTING_PLAIN, 0, 0},
    {"tcp_keepalives_count", RW_SETTING_PLAIN, 0, 0},
    {"tcp_keepalives_idle", RW_SETTING_PLAIN, 0, 0},
    {"tcp_keepalives_interval", RW_SETTING_PLAIN, 0, 0},
    {"tcp_user_timeout", RW_SETTING_PLAIN, 0, 0},
    {"wal_sender_timeout", RW_SETTING_PLAIN, 0, 0},

    /* Settings of reading tables and of large statements of administration, which an INSERT of
     * VALUES is not. */
    {"default_statistics_target", RW_SETTING_PLAIN, 0, 0},
    {"default_transaction_deferrable", RW_SETTING_PLAIN, 0, 0}, /* counts for READ ONLY */
    {"gin_fuzzy_search_limit", RW_SETTING_PLAIN, 0, 0},
    {"synchronize_seqscans", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_buffer_usage_limit", RW_SETTING_PLAIN, 16, 0},
    {"vacuum_cost_delay", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_cost_limit", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_cost_page_dirty", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_cost_page_hit", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_cost_page_miss", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_failsafe_age", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_freeze_min_age", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_freeze_table_age", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_max_eager_freeze_failure_rate", RW_SETTING_PLAIN, 18, 0},
    {"vacuum_multixact_failsafe_age", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_multixact_freeze_min_age", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_multixact_freeze_table_age", RW_SETTING_PLAIN, 0, 0},
    {"vacuum_truncate", RW_SETTING_PLAIN, 18, 0},

    /* What is made by CREATE and ALTER. */
    {"allow_in_place_tablespaces", RW_SETTING_PLAIN, 0, 0},
    {"allow_system_table_mods", RW_SETTING_PLAIN, 0, 0},
    {"check_function_bodies", RW_SETTING_PLAIN, 0, 0},
    {"createrole_self_grant", RW_SETTING_PLAIN, 16, 0},
    {"debug_logical_replication_streaming", RW_SETTING_PLAIN, 16, 0},
    {"default_table_access_method", RW_SETTING_PLAIN, 0, 0},
    {"default_tablespace", RW_SETTING_PLAIN, 0, 0},
    {"event_triggers", RW_SETTING_PLAIN, 17, 0},
    {"extension_control_path", RW_SETTING_PLAIN, 18, 0},
    {"extension_destdir", RW_SETTING_PLAIN, 0, 0}, /* Debian's own. */
    {"file_copy_method", RW_SETTING_PLAIN, 18, 0},
    {"icu_validation_level", RW_SETTING_PLAIN, 16, 0},
    {"md5_password_warnings", RW_SETTING_PLAIN, 18, 0},
    {"password_encryption", RW_SETTING_PLAIN, 0, 0},
    {"scram_iterations", RW_SETTING_PLAIN, 16, 0},
    {"temp_tablespaces", RW_SETTING_PLAIN, 0, 0},

    /* This setting warns of a backslash in '…' where standard_conforming_strings is off: then
     * nothing is batched anyway. */
    {"escape_string_warning", RW_SETTING_PLAIN, 0, 0},

    /* E'\'' may be an error; x = NULL may be another condition; text may be too deep. */
    {"backslash_quote", RW_SETTING_TEXT, 0, 0},
    {"max_stack_depth", RW_SETTING_TEXT, 0, 0},
    {"transform_null_equals", RW_SETTING_TEXT, 0, 0},

    /* '{NULL}', '1,50 €', '12:00 EST', XML, and what functions make of their arguments; how it is
     * compressed. */
    {"array_nulls", RW_SETTING_VALUE, 0, 0},
    {"default_text_search_config", RW_SETTING_VALUE, 0, 0},
    {"default_toast_compression", RW_SETTING_VALUE, 0, 0},
    {"lc_monetary", RW_SETTING_VALUE, 0, 0},
    {"lc_numeric", RW_SETTING_VALUE, 0, 0},
    {"lc_time", RW_SETTING_VALUE, 0, 0},
    {"quote_all_identifiers", RW_SETTING_VALUE, 0, 0},
    {"timezone_abbreviations", RW_SETTING_VALUE, 0, 0},
    {"xmloption", RW_SETTING_VALUE, 0, 0},

    /* Settings of whether a row may be stored, what triggers do, which errors there are, and in
     * which language. */
    {"default_transaction_isolation", RW_SETTING_CONDUCT, 0, 0},
    {"default_transaction_read_only", RW_SETTING_CONDUCT, 0, 0},
    {"dynamic_library_path", RW_SETTING_CONDUCT, 0, 0},
    {"exit_on_error", RW_SETTING_CONDUCT, 0, 0},
    {"ignore_checksum_failure", RW_SETTING_CONDUCT, 0, 0},
    {"lc_messages", RW_SETTING_CONDUCT, 0, 0},
    {"lo_compat_privileges", RW_SETTING_CONDUCT, 0, 0},
    {"restrict_nonsystem_relation_kind", RW_SETTING_CONDUCT, 0, 0},
    {"row_security", RW_SETTING_CONDUCT, 0, 0},
    {"session_replication_role", RW_SETTING_CONDUCT, 0, 0},
    {"transaction_deferrable", RW_SETTING_CONDUCT, 0, 0},
    {"transaction_isolation", RW_SETTING_CONDUCT, 0, 0},
    {"transaction_read_only", RW_SETTING_CONDUCT, 0, 0},
    {"transaction_timeout", RW_SETTING_CONDUCT, 17, 0},
    {"zero_damaged_pages", RW_SETTING_CONDUCT, 0, 0},
};

rw_setting_kind rw_setting_kind_of(pgw_slice name)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (name.len > 0 && name.ptr[0] == settings[i].name[0] &&
            pgw_slice_eq_str(name, settings[i].name))
            return settings[i].kind;
    return RW_SETTING_OTHER;
}

bool rw_setting_parts(rw_setting_kind kind)
{
    return kind == RW_SETTING_OTHER || kind == RW_SETTING_TEXT || kind == RW_SETTING_VALUE ||
           kind == RW_SETTING_CONDUCT;
}
