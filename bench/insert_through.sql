\set n :n + 1
\set userid :base + :n * :clients + :client_id
insert into events (userid, ts, event) values (:userid, '2026-01-01 00:00:00+00', 'click');
