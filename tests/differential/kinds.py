"""kinds: what sequences may hold, by name, and which of it is switched off."""
KINDS = {
    "settings", "output", "startup", "functions", "search_path", "user_schema", "temporary", "role",
    "alter_role", "trigger", "rule", "policy", "ddl", "past", "discard", "sql_prepare", "changed_key",
    "bad", "inner_transactions", "copy", "flush", "sessions", "together", "goodbye",
    # Not what is sent but what is compared: an error's position, its context.
    "positions", "contexts",
    "late_errors",       # a wrong or refused key behind other statements of the same text
    "parse_errors",      # a wrong key among the constants of a text that is prepared
    "wrong_parameters",  # parameters that cannot be read
    "parameter_counts",  # more or fewer than the statement has
    "bind_only",         # a Bind that nobody executes
    "odd_strings",       # string constants that the lexer refuses, or reads by a setting
    "timeouts"}          # statement_timeout

# Off until what it waits for is there.
WAITING = {}
