"""kinds: what sequences may hold, by name, and which of it is switched off."""
KINDS = {
    "settings", "output", "startup", "functions", "search_path", "user_schema", "temporary", "role",
    "alter_role", "trigger", "rule", "policy", "ddl", "past", "discard", "sql_prepare", "changed_key",
    "bad", "inner_transactions", "flush", "sessions", "together", "goodbye"}

# Off until what it waits for is mended.
WAITING = {}
