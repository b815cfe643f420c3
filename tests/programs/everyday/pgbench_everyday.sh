#!/bin/bash
# pgbench: its own transactions like TPC-B's in each protocol; what it has counted up agrees in all of its tables. It would add their
# keys when they are filled, and none to its history.
set -euo pipefail
PATH=$PATH:$(pg_config --bindir)
psql -qc 'create table pgbench_branches (bid int primary key, bbalance int, filler char(88));
  create table pgbench_tellers (tid int primary key, bid int, tbalance int, filler char(84));
  create table pgbench_accounts (aid int primary key, bid int, abalance int, filler char(84));
  create table pgbench_history (id bigserial primary key, tid int, bid int, aid int, delta int, mtime timestamp, filler char(22))'
pgbench --initialize --init-steps=g --quiet 2>/dev/null
psql -Atc 'select count(*) from pgbench_accounts' -c 'select count(*) from pgbench_tellers'
for mode in simple extended prepared; do
  pgbench --no-vacuum --client 4 --transactions 20 --protocol $mode 2>/dev/null | grep -E '^(transaction type|query mode|number of trans|number of failed)'
  psql -Atc 'select count(*), sum(delta) = (select sum(abalance) from pgbench_accounts), sum(delta) = (select sum(tbalance) from
    pgbench_tellers), sum(delta) = (select sum(bbalance) from pgbench_branches) from pgbench_history'
done
