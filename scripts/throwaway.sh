# throwaway: a PostgreSQL and a keyspread that live in a temporary folder and die with the script
# that sources this. PostgreSQL listens on a Unix socket in that folder, unless told otherwise; it
# refuses to run as root, so root runs it as `postgres`.
# shellcheck shell=bash

pg_bin=/usr/lib/postgresql/15/bin
pg_port=5432 # names the socket; PostgreSQL listens on TCP only if the script gives a pg_host
pg_host=
folder=$(mktemp -d "${TMPDIR:-/tmp}/keyspread.XXXXXX")
chmod 755 "$folder"
as_postgres=()
if [ "$(id -u)" = 0 ]; then
  as_postgres=(setpriv --reuid=postgres --regid=postgres --init-groups --)
  chown postgres "$folder"
fi
children=() # what is ended by its number when the script ends, last started first

stop_children() {
  local i
  for ((i = ${#children[@]} - 1; i >= 0; i--)); do
    kill "${children[i]}" 2>/dev/null || continue
    wait "${children[i]}" 2>/dev/null || true
  done
  children=()
}

cleanup() {
  trap - EXIT
  stop_children
  if [ -f "$folder/data/postmaster.pid" ]; then
    (cd "$folder" && "${as_postgres[@]}" "$pg_bin/pg_ctl" -s -D data -m immediate stop) || true
  fi
  rm -rf "$folder"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# free_port FIRST: the first port from FIRST on that nobody listens on.
free_port() {
  local port=$1
  while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
  echo "$port"
}

# start_postgres OPTION…: each OPTION is a setting, as name=value.
start_postgres() {
  local option
  cd "$folder"
  "${as_postgres[@]}" "$pg_bin/initdb" -D data -U app -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
    >initdb.log 2>&1 || { cat initdb.log >&2; die "initdb failed"; }
  {
    echo "listen_addresses = '$pg_host'"
    echo "port = $pg_port"
    echo "unix_socket_directories = '$folder'"
    echo "max_connections = 200"
    for option in "$@"; do echo "${option%%=*} = '${option#*=}'"; done
  } >>data/postgresql.conf
  # Job control apart, so that Ctrl-C reaches the script, and PostgreSQL is stopped by cleanup().
  "${as_postgres[@]}" setsid "$pg_bin/pg_ctl" -s -w -t 60 -D data -l "$folder/postgresql.log" start \
    </dev/null >/dev/null || { cat "$folder/postgresql.log" >&2; die "PostgreSQL did not start"; }
  cd - >/dev/null
}

# sql DATABASE [psql's options]: PostgreSQL itself, without keyspread.
sql() {
  local database=$1
  shift
  psql -X -q -v ON_ERROR_STOP=1 -h "$folder" -p "$pg_port" -U app -d "$database" "$@"
}

# start_child NAME PATTERN COMMAND…: starts it with its output in NAME.log, and waits until a line
# there matches PATTERN. In a session of its own, as a service is: Linux shares the processor out by
# session first, so that a server would else have to share its part with the clients of the script.
start_child() {
  local name=$1 pattern=$2 pid tries
  shift 2
  : >"$folder/$name.log"
  setsid "$@" </dev/null >"$folder/$name.log" 2>&1 &
  pid=$!
  children+=("$pid")
  for ((tries = 0; tries < 300; tries++)); do
    grep -q "$pattern" "$folder/$name.log" && return
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  cat "$folder/$name.log" >&2
  die "$name did not start"
}

# build DIR TARGET…: an optimised build without tests; silent unless it fails.
build() {
  local dir=$1
  shift
  { cmake -G Ninja -S . -B "$dir" -DKEYSPREAD_TESTS=OFF && ninja -C "$dir" "$@"; } \
    >"$folder/build.log" 2>&1 || { tail -n 40 "$folder/build.log" >&2; die "the build failed"; }
}

# The table in a keyspread.yaml, less its partitions.
events_table() {
  cat <<'YAML'
  - name: events
    primary_key: [userid, ts]
    hash_key: [userid]
    hash_column: userhash
    hash_function: xxh3
    columns:
      - { name: userid, type: bigint, not_null: true }
      - { name: ts, type: timestamptz, not_null: true }
      - { name: event, type: text }
YAML
}

# events_config PORT DATABASE WORKERS: the keyspread.yaml of the demo and the benchmarks. Its columns
# are there for `keyspread ddl`, which makes the table: 16 partitions by ranges of the hash.
events_config() {
  cat <<YAML
listen: ["127.0.0.1:$1"]
workers: $3
auth: { mode: trust }
backend:
  dsn: "host=${pg_host:-$folder} port=$pg_port user=app dbname=$2"
  dialect: postgres
tables:
$(events_table)
    partitions: { uniform: 16 }
YAML
}

# start_ydb DATABASE OPTION…: the tests' fake of YDB's endpoint on `ydb_port`, before that database of
# PostgreSQL, with `events` cut into 16 partitions by its hash, and `plain`, which has none, by its userid; of OPTIONs
# see tests/ydb_endpoint/options.c.
start_ydb() {
  local database=$1
  shift
  ydb_port=$(free_port 2137)
  ydb_monitoring=$(free_port 8765)
  sql "$database" -c 'create unlogged table events (userhash bigint not null, userid bigint not null,
    ts timestamptz not null, event text, primary key (userid, ts, userhash));
    create unlogged table plain (userid bigint not null, ts timestamptz not null, event text,
    primary key (userid, ts))'
  start_child ydb ready build-release/ydb_endpoint --listen "127.0.0.1:$ydb_port" \
    --monitoring "127.0.0.1:$ydb_monitoring" --table events,column=userhash,position=1,uniform=16 \
    --table plain,column=userid,position=1,uniform=16 \
    --store "host=$folder port=$pg_port user=app dbname=$database" "$@"
}

# ask_ydb METHOD PATH: what the fake's monitoring answers, a JSON object.
ask_ydb() {
  exec 3<>"/dev/tcp/127.0.0.1/$ydb_monitoring"
  printf '%s %s HTTP/1.0\r\nContent-Length: 0\r\n\r\n' "$1" "$2" >&3
  sed '1,/^\r*$/d' <&3
  exec 3<&-
}

# ydb_config ADDRESS BATCH_LINKS BATCH PARTITIONS: the keyspread.yaml before that fake.
ydb_config() {
  cat <<YAML
listen: ["$1"]
workers: 1
auth: { mode: trust }
backend:
  dsn: "host=127.0.0.1 port=$ydb_port user=app dbname=/local sslmode=disable"
  dialect: ydb
  batch_links: $2
tables:
$(events_table)
    partitions: $4
    batch: $3
YAML
}
