\set n :n + 1
\set userid :base + :n * :clients + :client_id
\set userhash hash(:userid)
insert into events (userhash, userid, ts, event) values (:userhash, :userid, '2026-01-01 00:00:00+00', 'click');
