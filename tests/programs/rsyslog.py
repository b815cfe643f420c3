"""rsyslog's ompgsql, with templates of its own: several messages are one transaction."""
import os

import daemon

CONFIGURATION = """
module(load="imuxsock" SysSock.Use="off")
module(load="ompgsql")
global(workDirectory="{folder}")
input(type="imuxsock" Socket="{folder}/socket" RateLimit.Interval="0")
"""
ACTION = """
template(name="{table}" type="string" option.stdsql="on"
  string="INSERT INTO {table} (label, amount{column}) VALUES ('%msg:2:$%', %msg:F,32:3%{value})")
action(type="ompgsql" server="{PGHOST}" port="{PGPORT}" user="{PGUSER}" pass="none" db="{PGDATABASE}"
  template="{table}")
"""


def configure(folder):
    text = CONFIGURATION.format(folder=folder)
    for table in daemon.TABLES:
        column, value = (", userid", ", %msg:F,32:3%") if table == "events" else ("", "")
        text += ACTION.format(table=table, column=column, value=value, **os.environ)
    return ["/usr/local/sbin/rsyslogd", "-n", "-M/usr/local/lib/rsyslog", f"-i{folder}/pid",
            f"-f{folder}/conf"], text


daemon.run(configure, {"create": 100})
