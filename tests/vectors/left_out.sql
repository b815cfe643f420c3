CREATE OR REPLACE FUNCTION pg_temp.f(OUT response "events", OUT e text) RETURNS RECORD AS $b$ BEGIN INSERT INTO "events" ("userid","ts","event") VALUES (5,now(),'x') RETURNING * INTO response; EXCEPTION WHEN unique_violation THEN GET STACKED DIAGNOSTICS e = PG_EXCEPTION_DETAIL; END $b$ LANGUAGE plpgsql; SELECT (f.response)."userid", f.e FROM pg_temp.f(); DROP FUNCTION IF EXISTS pg_temp.f();
CREATE FUNCTION pg_temp.f(OUT response "events", OUT e text) RETURNS RECORD AS $b$ BEGIN INSERT INTO public.events (userid, ts, event) VALUES (-5, '2026-01-01'::timestamp with time zone, lower('x'::character varying(3))); END; $b$ LANGUAGE plpgsql; SELECT f.e FROM pg_temp.f(); DROP FUNCTION pg_temp.f();
INSERT INTO events (userid, ts, event) VALUES (5, '2026-01-01 00:00:00+00', 'x') ON CONFLICT (userid, ts) DO UPDATE SET event = EXCLUDED.event, ts = EXCLUDED.ts WHERE events.event <> 'y' RETURNING userid, ts AS at, *
INSERT INTO events AS e (userid, ts, event) VALUES (5, '2026-01-01 00:00:00+00', 'x'), (6, DEFAULT, $1) ON CONFLICT ON CONSTRAINT events_pkey DO UPDATE SET (event, ts) = (EXCLUDED.event, EXCLUDED.ts) RETURNING e.*
INSERT INTO "Odd"."Mixed ""Case""" ("Text ""Id""", n) OVERRIDING SYSTEM VALUE VALUES (E'a\n', 1.5e3), (U&'\0061', -.5), ($1::text, +7::numeric(6,2)) ON CONFLICT DO NOTHING
INSERT INTO events (userid, ts, event) WITH w AS (SELECT 1 AS a), v (b) AS MATERIALIZED (SELECT 2) SELECT a, now(), b::text FROM w JOIN v ON a < b ORDER BY a LIMIT 3 OFFSET 1
INSERT INTO events (userid, ts, event) SELECT DISTINCT ON (a) a, b AS b, c FROM other o WHERE a IN (1, 2) GROUP BY a, b, c HAVING count(*) > 1 UNION ALL SELECT 1, now(), 'x'
WITH w AS (INSERT INTO events (userid, ts) VALUES (1, now()) RETURNING userid, *) SELECT * FROM w, events e WHERE e.userid = w.userid
UPDATE events SET userid = 5, (ts, event) = ('2026-01-01 00:00:00+00', DEFAULT), event = upper(event) || 'x' FROM other o WHERE events.userid = o.id AND o.id = 7 RETURNING events.*
UPDATE ONLY public.events AS e SET (userid, ts) = ROW (7, '2026-01-01'), event = $1 WHERE e.userid = $2 AND (e.ts = $3 OR e.event IS NULL)
UPDATE events SET userid = $1, event = $2 WHERE userid = $1 AND ts = $3
UPDATE events SET (userid, event) = (SELECT a, b FROM other WHERE c = 1) WHERE userid = 5
DELETE FROM events e USING other o WHERE e.userid = 5 AND o.id = e.userid AND e.ts > now() - interval '1 day' RETURNING e.userid, o.*
SELECT e.*, (e).event, e FROM events e LEFT JOIN loose l USING (userid) WHERE e.userid = 5 AND e.ts BETWEEN now() AND $1 ORDER BY 1 FOR UPDATE OF e
SELECT count(*), userid FROM public.events WHERE (userid, ts) = (5, '2026-01-01 00:00:00+00') OR (userid = 6 AND ts = now()) GROUP BY userid HAVING max(event) > 'x'
SELECT * FROM events WHERE userid = ANY ('{1,2,3}'::bigint[]) AND ts = ANY (ARRAY['2026-01-01 00:00:00+00'::timestamptz, now()]) LIMIT 5
SELECT * FROM (SELECT * FROM events WHERE userid IN ($1, $2, 7)) q NATURAL JOIN loose, LATERAL (SELECT event.* FROM events event WHERE event.userid = q.userid) z
SELECT a.* FROM events a JOIN events b ON a.userid = b.userid AND a.ts = b.ts JOIN filed c ON c.userid = b.userid WHERE a.userid = 9
SET LOCAL search_path TO "a B", public
SET TIME ZONE INTERVAL '1' HOUR TO MINUTE
SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY
RESET datestyle
BEGIN ISOLATION LEVEL SERIALIZABLE
SAVEPOINT s
SET bytea_output = 'escape'
ROLLBACK TO SAVEPOINT s
SELECT set_config('timezone', 'UTC', false), pg_advisory_lock(1)
COMMIT AND CHAIN
PREPARE p (bigint, text) AS INSERT INTO events (userid, ts, event) VALUES ($1, now(), $2)
EXECUTE p (1, 'x')
DEALLOCATE PREPARE p
DISCARD ALL
DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT * FROM events WHERE userid = 5
FETCH FORWARD 3 FROM c
MOVE ALL IN c
CLOSE c
LISTEN x
NOTIFY x, 'y'
UNLISTEN *
CREATE TEMPORARY TABLE IF NOT EXISTS t (LIKE events INCLUDING ALL, x int DEFAULT nextval('s')) ON COMMIT DROP
CREATE TABLE a AS TABLE events WITH NO DATA
SELECT * INTO TEMP b FROM events
COPY events (userid, ts, event) FROM STDIN WITH (FORMAT csv, HEADER true)
COPY (SELECT * FROM events) TO STDOUT
COPY events TO STDOUT
MERGE INTO events e USING other o ON e.userid = o.id WHEN MATCHED AND o.x > 1 THEN UPDATE SET event = o.y WHEN NOT MATCHED THEN INSERT (userid, ts) VALUES (o.id, now())
ALTER TABLE IF EXISTS ONLY public.events ADD COLUMN x int NOT NULL DEFAULT 5, DROP CONSTRAINT events_pkey CASCADE, ALTER COLUMN event TYPE text USING event::text, RENAME TO other
TRUNCATE TABLE events, other RESTART IDENTITY CASCADE
EXPLAIN (ANALYZE, VERBOSE, FORMAT json) SELECT * FROM events WHERE userid = 5
EXPLAIN ANALYZE INSERT INTO events (userid, ts) VALUES (1, now())
DO $$ BEGIN PERFORM 1 END $$
CALL p(1)
GRANT SELECT (event), UPDATE ON events TO PUBLIC WITH GRANT OPTION
LOCK TABLE events IN ACCESS EXCLUSIVE MODE NOWAIT
COMMENT ON COLUMN events.userhash IS 'x'
REINDEX TABLE events
CLUSTER events USING events_pkey
SELECT nextval('s'), currval('s'), lastval(), setval('s', 5, false), pg_try_advisory_xact_lock(1), pg_notify('x', 'y'), txid_current(), dblink('x'), "pg_temp".f(1), obscure.g(2)
UPDATE events SET userid = true, event = 'x' WHERE userid = true AND ts = now()
UPDATE events SET userid = 1.5 WHERE userid = 1.5
UPDATE events SET userid = b'1' WHERE userid = b'1'
UPDATE events SET ts = 'a' WHERE ts = 'a' AND userid = NULL
UPDATE events SET (userid, ts) = ($1, $2) WHERE (userid, ts) = ($1, $2)
UPDATE events SET (ts, userid) = ROW (DEFAULT, 5) WHERE ts = $1 AND 5 = userid
UPDATE events SET userid = events.userid, ts = "events".ts
UPDATE drawn SET pk = DEFAULT, userid = 7 WHERE pk = 5 RETURNING *
UPDATE "Odd"."Mixed ""Case""" m SET n = m.n + 1, "Text ""Id""" = 'x' || "Text ""Id""" WHERE m.n = 1 AND "Text ""Id""" IN ('a', 'b')
SELECT * FROM events WHERE userid = ANY (ARRAY[1, 2]::bigint[]) AND ts = '2026-01-01 00:00:00+00'::timestamptz OR userid = ANY ('{3,4}'::int8[]::bigint[]) AND ts = CAST($1 AS timestamp with time zone)
SELECT event FROM events WHERE $1::bigint = userid AND (ts) = (timestamptz '2026-01-01 00:00:00+00')
SELECT 1 FROM loose WHERE userid = -5 AND ts IS NOT NULL
SELECT 1 FROM events WHERE userid = - 5::bigint
DELETE FROM ONLY events * WHERE NOT (userid <> 5) OR userid IS NOT DISTINCT FROM 5 OR userid = 5 AND userid = 6
DELETE FROM events WHERE userid = (SELECT 5) RETURNING (SELECT max(f.userid) FROM filed f), (events).event, (SELECT events.*), events
INSERT INTO events VALUES (5, '2026-01-01 00:00:00+00') RETURNING (events).*, events, (SELECT e FROM events e WHERE e.userid = 5), row(events.*), count(events.*), events.event AS userhash
SELECT userhash FROM events
SELECT e.userhash, f.userhash FROM events e JOIN filed f USING (userid, ts)
SELECT userhash FROM events, filed
SELECT userhash FROM events, other
SELECT q.userhash FROM (SELECT * FROM events) q
SELECT c.relname, d.oid FROM pg_class c, pg_catalog.pg_class d WHERE c.oid = d.oid AND d.relname = 'events'
SELECT pg_class.relname, pg_catalog.pg_attribute.attname FROM pg_class JOIN pg_catalog.pg_attribute ON attrelid = pg_class.oid WHERE attnum > 0 ORDER BY attnum
SELECT db.pg_catalog.pg_class.relname FROM db.pg_catalog.pg_class
SELECT a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a LEFT JOIN pg_attrdef d ON (a.attrelid, a.attnum) = (d.adrelid, d.adnum) WHERE a.attrelid = 'events'::regclass
SELECT pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(c.oid), indkey FROM pg_index i JOIN pg_constraint c ON c.conindid = i.indexrelid WHERE i.indisprimary
SELECT column_name FROM information_schema.columns WHERE table_name = 'events' ORDER BY ordinal_position
CREATE TABLE IF NOT EXISTS public.events (userid bigint NOT NULL, ts timestamptz, event text DEFAULT 'x', CONSTRAINT its_key PRIMARY KEY (userid, ts)) PARTITION BY RANGE (userid) WITH (fillfactor = 70) TABLESPACE pg_default
CREATE TABLE filed (userid bigint PRIMARY KEY, ts timestamptz REFERENCES events (userid, ts) ON DELETE CASCADE, event text UNIQUE, CHECK (userid > 0), EXCLUDE USING gist (event WITH =)) INHERITS (other)
CREATE UNLOGGED TABLE events AS SELECT * FROM other
CREATE TABLE events PARTITION OF other FOR VALUES FROM (1) TO (2)
CREATE TABLE loose (LIKE events INCLUDING INDEXES EXCLUDING DEFAULTS, x int)
CREATE VIEW w AS SELECT * FROM events WITH CHECK OPTION
ALTER TABLE events DROP CONSTRAINT IF EXISTS its_pkey, ADD PRIMARY KEY (userid, ts), ADD CONSTRAINT u UNIQUE (event) DEFERRABLE, ADD FOREIGN KEY (userid, ts) REFERENCES filed
ALTER TABLE events RENAME userhash TO x
ALTER TABLE events DROP COLUMN userhash
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON ONLY events USING btree (event COLLATE "C" DESC NULLS LAST, lower(event)) INCLUDE (ts) WHERE event IS NOT NULL
DROP INDEX i, j CASCADE
DROP TABLE IF EXISTS events, public.filed RESTRICT
SELECT DISTINCT ON (userid) userid, event, count(*) OVER (PARTITION BY ts) FROM events GROUP BY GROUPING SETS ((userid), (ts), ()), event HAVING true WINDOW w AS (ORDER BY ts) FETCH FIRST 3 ROWS WITH TIES
SELECT userid, ts, event FROM events GROUP BY userid, ts
SELECT e.*, count(*) FROM events e GROUP BY 1, 2
SELECT e.event FROM events e JOIN filed f ON f.userid = e.userid GROUP BY e.userid, e.ts, f.userid ORDER BY max(f.event)
(SELECT * FROM events EXCEPT ALL TABLE filed) INTERSECT (SELECT * FROM loose ORDER BY userid LIMIT 1) ORDER BY 1
SELECT * FROM events TABLESAMPLE system (10), ROWS FROM (f(1), g(2)) WITH ORDINALITY r, (VALUES (1)) v
INSERT INTO events (userid, ts, event) VALUES ($1, $2::timestamptz, upper($3)), ((5), ('2026-01-01 00:00:00+00'), NULL), (+5, date '2026-01-01', 'a' 'b'), (5::int4::int8, "now"(), $$x$$), (CAST(5 AS bigint), CURRENT_TIMESTAMP, 'é')
INSERT INTO serials VALUES (5, 'a', DEFAULT), (6, 'b', nextval('s')), (7, 'c', (SELECT 1))
INSERT INTO drawn (userid, pk) OVERRIDING USER VALUE VALUES (1, 2)
INSERT INTO ignoring DEFAULT VALUES
INSERT INTO forwarding (event) VALUES ('x')
UPSERT INTO events (userid, ts, event) VALUES (5, '2026-01-01 00:00:00+00', 'x'), (5, '2026-01-01 00:00:00+00', 'y')
REPLACE INTO events (userid, ts) VALUES (5, $1) RETURNING event
UPSERT INTO "Odd"."Mixed ""Case""" VALUES ('a', 1)
INSERT INTO events (userid, ts, userhash) VALUES (5, '2026-01-01 00:00:00+00', -8213464378072455284)
INSERT INTO broken (userid) VALUES (5)
INSERT INTO nullable (userid, ts) VALUES (NULL, NULL), ($1, $2)
INSERT INTO events (userid, ts[1], event.x) VALUES (1, 2, 3)
WITH RECURSIVE w (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 5), u AS (UPDATE events SET event = 'x' WHERE userid IN (SELECT n FROM w) RETURNING *) SELECT u.*, (u).userid FROM u
WITH d AS (DELETE FROM events WHERE userid = 5 RETURNING *) INSERT INTO events SELECT * FROM d
INSERT INTO ignoring (userid) VALUES (5); INSERT INTO drawn (userid) VALUES (5); SELECT 1; INSERT INTO drawn (userid) VALUES (6); SELECT 2
BEGIN; INSERT INTO drawn (userid) VALUES (5); INSERT INTO drawn (userid, pk) VALUES (5, f(1)); UPDATE events SET event = 'x' WHERE userid = 5; COMMIT
INSERT INTO drawn (userid) VALUES (5); INSERT INTO drawn (userid) VALUES (6), (7); INSERT INTO events (userid, ts) VALUES (5, '2026-01-01 00:00:00+00')
PREPARE q (bigint, timestamptz) AS SELECT a.event FROM events a JOIN filed b USING (userid) WHERE b.userid = $1 AND a.ts > $2
PREPARE q AS SELECT a.event FROM events a JOIN events b ON a.userid = b.userid AND b.ts = a.ts WHERE a.userid IN (5, -6, 7)
PREPARE q (text, bigint[]) AS DELETE FROM events USING filed f WHERE events.userid = f.userid AND f.userid = '5' RETURNING *
PREPARE q AS UPDATE filed SET event = $2 WHERE userid = $1 OR userid = -7 AND ts = '2026-01-01 00:00:00+00'
PREPARE q (pg_catalog.int8, public.t, text[], setof int) AS SELECT 1 FROM events WHERE userid = 5 AND ts = $2
PREPARE q AS SELECT 1 FROM "Odd"."Mixed ""Case""" m JOIN "Odd"."Mixed ""Case""" o USING ("Text ""Id""", n) WHERE o.n = -1.5 AND o."Text ""Id""" = 'a''b' OR m.n = $1 AND m."Text ""Id""" = $2
PREPARE as (int) AS SELECT 1 FROM (SELECT * FROM drawn WHERE pk = $1) q JOIN drawn d ON q.pk = d.pk WHERE d.pk = ANY ('{5,6}')
SELECT userhash FROM events e, (SELECT 1 AS userhash) s WHERE e.userhash = 5 AND s.userhash = 6 ORDER BY userhash
SELECT events.userhash, userhash::text, (e).userhash FROM events JOIN filed e USING (userid) JOIN other o ON o.userhash = userhash
UPDATE nullable SET userid = 5, ts = DEFAULT, event = 'x' WHERE userid = $1 RETURNING userid, *
UPDATE nullable SET userid = DEFAULT WHERE ts = now()
UPDATE ignoring SET (userid, pk) = (7, DEFAULT) WHERE userid = 7
UPDATE forwards SET userid = $1::bigint + 1 WHERE userid = $1::bigint + 1
INSERT INTO nullable (userid, ts, event) VALUES (5, now(), 'x'), ($1, $2, lower($3)), (DEFAULT, DEFAULT, DEFAULT) ON CONFLICT (userid, ts) DO UPDATE SET userid = EXCLUDED.userid, ts = nullable.ts WHERE nullable.event IS NULL RETURNING *
INSERT INTO forwards (event, userid, ts) VALUES ('x', f(5), now()), ('y', 6, '2026-01-01 00:00:00+00')
INSERT INTO triggered VALUES (5, '2026-01-01 00:00:00+00', 'a\b'), (6, '2026-01-01 00:00:00+00')
INSERT INTO loose (ts, userid) SELECT now(), userid FROM events WHERE userid = 5
ALTER TABLE filed ADD COLUMN IF NOT EXISTS x bigint REFERENCES events (userid, ts) ON UPDATE CASCADE, ALTER COLUMN userid SET DATA TYPE int, ALTER COLUMN ts DROP DEFAULT, ALTER COLUMN event SET DEFAULT 'x'
ALTER TABLE nullable SET SCHEMA other; ALTER TABLE events ATTACH PARTITION x FOR VALUES IN (1); SELECT * FROM nullable WHERE userid = 5
CREATE TABLE nullable (LIKE events, FOREIGN KEY (userid, ts) REFERENCES events ON UPDATE SET NULL); INSERT INTO nullable (userid, ts) VALUES (1, now())
SET search_path TO x; INSERT INTO events (userid, ts) VALUES (5, '2026-01-01 00:00:00+00'); SELECT * FROM public.events WHERE userid = 5 AND ts = '2026-01-01 00:00:00+00'
CREATE TABLE other (id bigint PRIMARY KEY, x text NOT NULL); INSERT INTO other (id, x) VALUES (5, 'x'); SELECT * FROM other o WHERE id = 5
WITH others AS (SELECT 1) SELECT o.x, current_timestamp, a.current_date FROM other o JOIN others USING (id), a WHERE o.id = $1 LIMIT 5
ALTER TABLE other RENAME TO othello; UPDATE othello SET x = 'y' WHERE id = 5; DROP TABLE othello, other
INSERT INTO other (id) VALUES (5) RETURNING *; DELETE FROM other WHERE id IN (5, 6)
CREATE TABLE othera (x int, y int, PRIMARY KEY (y, x)); CREATE TABLE otherb (LIKE othera INCLUDING ALL)
SELECT x INTO TABLE other FROM events WHERE userid = 5; CREATE TYPE events AS ENUM ('a'); CREATE DOMAIN filed AS int CHECK (VALUE > 5)
DROP SCHEMA IF EXISTS public CASCADE; ALTER TYPE events ADD ATTRIBUTE x int; CREATE TEMPORARY VIEW v AS SELECT * FROM events
