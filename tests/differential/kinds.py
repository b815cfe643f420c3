"""kinds: what sequences may hold, by name, and which of it is switched off."""
KINDS = {
    "settings", "output", "startup", "functions", "search_path", "user_schema", "temporary", "role",
    "alter_role", "trigger", "rule", "policy", "ddl", "past", "discard", "sql_prepare", "changed_key",
    "bad", "inner_transactions", "flush", "sessions", "together", "goodbye",
    # Not what is sent but what is compared: an error's position, its context.
    "positions", "contexts",
    "late_errors",       # a wrong or refused key behind other statements of the same text
    "parse_errors",      # a wrong key among the constants of a text that is prepared
    "wrong_parameters",  # parameters that cannot be read
    "bind_only",         # a Bind that nobody executes
    "odd_strings",       # string constants that the lexer refuses, or reads by a setting
    "timeouts"}          # statement_timeout

# Off until what it waits for is there.
WAITING = {
    "search_path": "names that are resolved",
    "user_schema": "names that are resolved",
    "temporary": "names that are resolved",
    "functions": "settings asked of the session instead of guessed",
    "role": "the session's role asked instead of guessed",
    "alter_role": "greetings and links that age",
    "startup": "greetings and links that age",
    "output": "settings that change what is stored",
    "trigger": "counts that are checked before they are committed",
    "rule": "counts that are checked before they are committed",
    "policy": "counts that are checked before they are committed",
    "ddl": "a catalog that hears of DDL",
    "past": "a catalog that hears of DDL",
    "odd_strings": "errors of the lexer in the server's words",
    "timeouts": "units of statement_timeout",
}
