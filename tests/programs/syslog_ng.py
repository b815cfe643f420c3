"""syslog-ng's sql(): each message by itself, or several in a transaction (explicit-commits)."""
import os

import daemon

CONFIGURATION = """@version: 3.38
source lines {{ unix-dgram("{folder}/socket"); }};
filter create {{ message("^create"); }};
filter transaction {{ message("^transaction"); }};
"""
ACTION = """
log {{ source(lines); filter({step}); destination {{ sql(type(pgsql) host("{PGHOST}") port("{PGPORT}")
  username("{PGUSER}") password("none") database("{PGDATABASE}") table("{table}")
  columns("label text", "amount int"{column}) values("$MSG", "{number}"{value}) indexes()
  flags(dont-create-tables{flags}) batch-lines({lines}) batch-timeout(100)
  persist-name("{table} {step}")); }}; }};
"""


def configure(folder):
    text = CONFIGURATION.format(folder=folder)
    number = "$(substr $MSG {start} 3)"
    for table in daemon.TABLES:
        for step, flags, lines in (("create", "", 1), ("transaction", " explicit-commits", 8)):
            found = number.format(start=len(step) + 1)
            column, value = (', "userid bigint"', f', "{found}"') if table == "events" else ("", "")
            text += ACTION.format(table=table, step=step, flags=flags, lines=lines, number=found,
                                  column=column, value=value, **os.environ)
    return ["/usr/sbin/syslog-ng", "-F", "--no-caps", f"--cfgfile={folder}/conf",
            f"--persist-file={folder}/persist", f"--pidfile={folder}/pid",
            f"--control={folder}/control"], text


daemon.run(configure, {"create": 100, "transaction": 300})
