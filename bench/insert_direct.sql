\set n :n + 1
\set userid :base + :n * :clients + :client_id
\set userhash random(-9000000000000000000, 9000000000000000000)
insert into events (userhash, userid, ts, event) values (:userhash, :userid, '2026-01-01 00:00:00+00', 'click');
