INSERT INTO made (v) SELECT 'x'
INSERT INTO made (v, id) OVERRIDING USER VALUE SELECT a, b FROM o
INSERT INTO made (v, id, at) OVERRIDING SYSTEM VALUE SELECT a, b, now() FROM o WHERE b IN (1, 2) ORDER BY 1 LIMIT 5
INSERT INTO made SELECT * FROM o
INSERT INTO made (id, v) VALUES (DEFAULT, 'x'), (DEFAULT, $1)
INSERT INTO made (id, v) OVERRIDING USER VALUE VALUES (7, 'x'), (nextval('s'), 'y')
INSERT INTO made (id, at) OVERRIDING SYSTEM VALUE VALUES (7, '2026-01-01'), ($1, $2), (8, now())
INSERT INTO made DEFAULT VALUES RETURNING *
INSERT INTO made (v[1], w.a) VALUES ('x', 'y') ON CONFLICT DO NOTHING
INSERT INTO made (v, w) WITH a AS (SELECT 1), b AS (TABLE o) SELECT a.*, b.* FROM a, b UNION ALL VALUES ('x', 'y')
INSERT INTO made AS m (v) VALUES ('x') ON CONFLICT (id, at) DO UPDATE SET v = EXCLUDED.v, w = m.w || 'x', at = DEFAULT WHERE m.v <> '' RETURNING m.id, m.*
INSERT INTO twins (v) VALUES ('x')
INSERT INTO twins (v, n) OVERRIDING USER VALUE VALUES ('x', 5)
INSERT INTO twins (v, n, id) OVERRIDING USER VALUE SELECT a, b, c FROM o
INSERT INTO twins (n, nope) OVERRIDING USER VALUE SELECT a, b FROM o
INSERT INTO twins (id, n, v, g) OVERRIDING SYSTEM VALUE VALUES (1, 2, 'x', DEFAULT), (DEFAULT, DEFAULT, 'y', DEFAULT)
INSERT INTO twins VALUES (DEFAULT, 5, 'x'), (DEFAULT, DEFAULT)
INSERT INTO twins (v, g) VALUES (lower('x'), 'y'), ((SELECT max(a) FROM o), DEFAULT)
UPSERT INTO twins (id, v) VALUES (5, 'x'), (6, 'y')
REPLACE INTO twins (id, v) VALUES ($1, $2)
INSERT INTO kinds VALUES (true, '\x00ff', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '2026-01-01', '2026-01-01 00:00:00', '2026-01-01 00:00:00+00', 1.005, 1e10, 'abc  ', 'ab', 7, -7)
INSERT INTO kinds VALUES ('t', E'\\x0', '{a0eebc999c0b4ef8bb6d6bb9bd380a11}', 'infinity', '-infinity', 'epoch', 'NaN', '-0', 'abcdef', 'abcdefg', 40000, '2147483648')
INSERT INTO kinds VALUES (1, 'a\000', 'x', '2026-02-30', '2026-01-01 24:00:00', '2026-01-01', 99999.995, 'inf', 'é', U&'\00e9', 1.5, 2.5::float8)
INSERT INTO kinds VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
INSERT INTO kinds VALUES ($1::bool, $2::bytea, $3::uuid, $4::date, $5::timestamp(3), $6::timestamptz, $7::numeric(4,1), $8::float4, $9::text, $10::varchar(2), $11::int8, $12::text::int4)
INSERT INTO kinds VALUES ('on'::bool, bytea 'x', uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', date '2026-01-01', timestamp '2026-01-01', timestamptz '2026-01-01 00:00+05', numeric '1e2', float8 '1e-320', 'a'::varchar(1), 'b'::"char", '5'::int2, '6'::bigint)
INSERT INTO kinds VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
INSERT INTO kinds (b, i2) VALUES (false, 5), (DEFAULT, 6), (NOT true, - 7)
INSERT INTO kinds (i4, n, f, c) VALUES (+5, -.5, - 1.50, 'a' || 'b'), (0005, 1e-3, 1.0, $$x$$), (9999999999, 123456, 'x', N'y'), (-2147483648, 0.004, 5, B'101'), (X'1f', '1_0', 0x1f, e'\n')
INSERT INTO kinds (tz, ts, d) VALUES ('2026-01-01 00:00:00.1234565', '2026-01-01T00:00:00Z', '2026-01-01 23:59'), ('now', 'today', 'Jan 1 2026'), ('294277-01-01', '4714-01-01 BC', '5874898-01-01'), (CURRENT_TIMESTAMP, LOCALTIMESTAMP, CURRENT_DATE)
INSERT INTO kinds (d, c, p) SELECT d, c, p FROM kinds WHERE c = 'a' AND p = 'b' AND d = '2026-01-01'
UPDATE kinds SET c = 'ab ', n = 1.005, d = '2026-01-01' WHERE c = 'x' AND n = 5
UPDATE kinds SET c = $1 WHERE b = true AND y = 'a' AND u = 'b' AND d = 'c' AND ts = 'd' AND tz = 'e' AND n = 1 AND f = 2 AND c = $1 AND p = 'g' AND i2 = 3 AND i4 = 4
DELETE FROM kinds WHERE (b, y, u, d, ts, tz) = (true, '\x00', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '2026-01-01', '2026-01-01 00:00:00', '2026-01-01 00:00:00+00') AND n = 1.50 AND f = 1.5 AND c = 'abc' AND p = 'ab   ' AND i2 = 7 AND i4 IN (1, 2)
SELECT * FROM kinds JOIN kinds k USING (b, y, u, d, ts, tz, n, f, c, p, i2, i4) WHERE k.i2 = 5
PREPARE p AS SELECT v FROM narrow WHERE i IN ($1, 5)
PREPARE p AS SELECT v FROM narrow WHERE i IN ($1, 99999999999)
PREPARE p AS SELECT v FROM narrow WHERE i IN (-99999999999, $1, '7')
PREPARE p (int8, int4) AS DELETE FROM narrow WHERE i IN ($1, $2, $3, -7) RETURNING *
PREPARE p (bigint[]) AS UPDATE narrow SET v = 'x' WHERE i = ANY ($1) OR i = $2::int8
PREPARE p AS SELECT * FROM narrow a JOIN narrow b USING (i) LEFT JOIN narrow c ON c.i = a.i AND c.v = b.v WHERE b.i = $1 AND a.v = $2
PREPARE p AS SELECT * FROM narrow AS a (x, y) JOIN narrow b ON a.y = b.i WHERE a.y = 5
PREPARE p AS SELECT * FROM narrow a, narrow b WHERE a.i = b.i AND EXISTS (SELECT FROM narrow c WHERE c.i = a.i AND c.i = $1)
PREPARE p AS DELETE FROM kinds k USING narrow n WHERE k.i2 = n.i AND n.i = $1::int2
SELECT * FROM narrow a JOIN narrow b ON b.i = a.i WHERE a.i = 5 OR a.i IN (6, 7) AND b.v = 'x'
SELECT * FROM narrow WHERE i = 40000 OR i = -32768 OR i = '32767' OR i = 5.5 OR i = 7::int8 OR i = NULL
UPDATE narrow SET i = $1, v = $2 WHERE i = $3
UPDATE narrow SET i = 5, v = DEFAULT WHERE i = 5
UPDATE narrow SET (v, i) = ROW ('x', 40000) WHERE i = 7
INSERT INTO narrow VALUES ('x', 5), ('y', 32768), ('z', '-32768'), ('a', 5.5), ('b', $1)
INSERT INTO narrow (i) VALUES ($1::int8), (5::int4), (length('x')), ('7'::text::int2)
UPSERT INTO narrow (i, v) VALUES (5, 'x'), (5, 'y'), (6, 'z')
PREPARE p AS SELECT 1 FROM pairs WHERE (a, b) IN ((5, $1), ($2, 6))
PREPARE p AS SELECT 1 FROM pairs WHERE (a, b) IN ((1, 2), ($1, 3), (99999999999, 4))
PREPARE p AS SELECT 1 FROM pairs WHERE (b, a) IN ((99999999999, 1), ($1, $2), (7, 8))
PREPARE p AS SELECT 1 FROM pairs WHERE (a, b) IN ((1, $1), (2, 3), (4, 9999999999))
PREPARE p AS SELECT 1 FROM pairs WHERE (a, b) IN ((1, $1), (99999999999, 3), (4, 5)) OR a = $2 AND b = 99999999999
PREPARE p (int2, int8) AS DELETE FROM pairs WHERE (a, b) = ($1, $2) OR (a, b) = ($2, $1) OR (a, b) = ($3, 5)
PREPARE p AS SELECT 1 FROM pairs p JOIN pairs q USING (a, b) WHERE q.a = $1 AND p.b IN ($2, 5, 99999999999)
UPDATE pairs SET a = $1, b = $2 WHERE a = $2 AND b = $1
UPDATE pairs SET b = b + 1 WHERE (a, b) IN ((1, 2), (3, 4))
INSERT INTO pairs (b, a) VALUES (1, 2), (3, 40000), ($1, $2), (5, DEFAULT)
