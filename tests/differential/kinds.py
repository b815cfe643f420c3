"""kinds: what sequences may hold, by name, and which of it is switched off."""
KINDS = {
    "settings", "output", "startup", "functions", "search_path", "user_schema", "temporary", "role",
    "alter_role", "trigger", "rule", "policy", "ddl", "past", "discard", "sql_prepare", "changed_key",
    "bad", "inner_transactions", "flush", "sessions", "together", "goodbye",
    # Not what is sent but what is compared: an error's position, its context.
    "positions", "contexts",
    # A wrong or refused key behind other statements of the same text.
    "late_errors",
    # A Bind that nobody executes.
    "bind_only"}

# Off until what it waits for is mended.
WAITING = {"positions": 1, "contexts": 1, "late_errors": 1, "bind_only": 1}
