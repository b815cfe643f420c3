INSERT INTO events (userid, ts, event)
VALUES (5, '2026-01-01 00:00:00+00', 'a\b'), ('5', '2026-01-02 00:00:00+00', 'c');
INSERT INTO events (userid, ts) VALUES ($1, $2);
INSERT INTO events (userid, ts) VALUES (5, $1), ($2, now()) ON CONFLICT DO NOTHING;
INSERT INTO serials (userid, event) VALUES (5, 'x');
INSERT INTO events (userid, ts) VALUES (5, '2026-01-01 00:00:00+00') RETURNING *;
INSERT INTO triggered (userid, ts) VALUES (5, '2026-01-01 00:00:00+00');
INSERT INTO forwards (userid, ts) VALUES (random(), '2026-01-01 00:00:00+00');
UPSERT INTO events (userid, ts, event) VALUES (6, '2026-01-01 00:00:00+00', 'x');
SELECT * FROM events -- as it is
;
UPDATE triggered SET userid = 5;
INSERT INTO events (userid, ts) VALUES (random(), '2026-01-01 00:00:00+00');
INSERT INTO events (userid, ts) VALUES ('five', '2026-01-01 00:00:00+00');
INSERT INTO events (userid, ts) VALUES (NULL, '2026-01-01 00:00:00+00');
INSERT INTO loose (userid, ts) VALUES (NULL, '2026-01-01 00:00:00+00');
INSERT INTO forwards (userhash) SELECT 5;
INSERT INTO events (userid, ts, event) SELECT g, now(), 'x' FROM generate_series(1, 3) g;
UPDATE events SET userid = $1, event = $2 WHERE userid = $3;
INSERT INTO events (userid, ts) VALUES (1, '2026-01-01 00:00:00+00') RETURNING lower(event);
INSERT INTO events (userid, ts, event) VALUES (1, '2026-01-01 00:00:00+00', (SELECT 'x'));
INSERT INTO forwards DEFAULT VALUES;
INSERT INTO events (userid, ts) VALUES ($1, now()), (5, now());
INSERT INTO forwards (userid, ts) VALUES (1 + 1, now()), (5, now());
INSERT INTO triggered (userid, ts) VALUES (1, now());
INSERT INTO serials (userid, event) VALUES (1, 'x');
