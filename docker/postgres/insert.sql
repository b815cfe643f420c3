-- What compose's `load` repeats: one row an INSERT, with growing keys.
\set n :n + 1
\set userid :n * 16 + :client_id
insert into events (userid, ts, event) values (:userid, now(), 'click');
