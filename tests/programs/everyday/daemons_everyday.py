"""rsyslog's and syslog-ng's first days: syslog-ng makes its table by itself, and each goes on when its connections are ended."""
import os
import sys
import time

import psycopg2

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import daemon  # noqa: E402

RSYSLOG = """
module(load="imuxsock" SysSock.Use="off")
module(load="ompgsql")
global(workDirectory="{folder}")
input(type="imuxsock" Socket="{folder}/socket" RateLimit.Interval="0")
template(name="items" type="string" option.stdsql="on" string="INSERT INTO items (label) VALUES ('%msg:2:$%')")
action(type="ompgsql" server="{PGHOST}" port="{PGPORT}" user="{PGUSER}" pass="none" db="{PGDATABASE}" template="items"
  action.resumeRetryCount="-1" action.resumeInterval="1")
"""
SYSLOG_NG = """@version: 3.38
source lines {{ unix-dgram("{folder}/socket"); }};
destination logs {{ sql(type(pgsql) host("{PGHOST}") port("{PGPORT}") username("{PGUSER}") password("none") database("{PGDATABASE}")
  table("logs") columns("userid bigint", "ts timestamptz", "label text") values("$(substr $MSG 10 3)", "$ISODATE", "$MSG")
  indexes("userid")); }};
log {{ source(lines); destination(logs); }};
options {{ time-reopen(1); }};
"""


def ask(text):
    connection = psycopg2.connect("")
    connection.autocommit = True
    with connection, connection.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchall() if cursor.description else None


def count(table):
    try:
        return ask(f"select count(distinct label) from {table}")[0][0]
    except psycopg2.errors.UndefinedTable:
        return 0


def wait_for(table, rows):
    deadline = time.monotonic() + daemon.PATIENCE
    while (found := count(table)) < rows:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{found} of {rows} rows in {table}")
        time.sleep(0.05)


def play(name, table, command, text):
    with daemon.running(lambda folder: (command(folder), text.format(folder=folder, **os.environ))) as path:
        for first in (100, 200):
            daemon.send(path, name, first)
            wait_for(table, first // 100 * daemon.COUNT)
            # Those that it has idle, as a network does that forgets.
            ask("select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
            print(name, count(table))
    print(ask(f"select column_name, data_type from information_schema.columns where table_name = '{table}' order by ordinal_position"))
    print(ask(f"select * from {table} where label like '{name} 10_ %' order by label"))


ask("create table items (id bigserial primary key, label text)")
play("rsyslog", "items", lambda folder: ["/usr/local/sbin/rsyslogd", "-n", "-M/usr/local/lib/rsyslog", f"-i{folder}/pid", f"-f{folder}/conf"], RSYSLOG)
play("syslog-ng", "logs", lambda folder: ["/usr/sbin/syslog-ng", "-F", "--no-caps", f"--cfgfile={folder}/conf", f"--persist-file={folder}/persist",
                                          f"--pidfile={folder}/pid", f"--control={folder}/control"], SYSLOG_NG)
