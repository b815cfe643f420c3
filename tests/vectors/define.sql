-- Tables of the configuration that are made by a client that does not know of the hash.
CREATE TABLE events (userid bigint, ts timestamptz, event text, PRIMARY KEY (userid, ts));
create table if not exists public.events(ts int,userid int,constraint "The Key" primary key(ts,userid)with(fillfactor=70))with(fillfactor=70);
CREATE TABLE events (
    userid bigint NOT NULL, -- who
    ts timestamptz NOT NULL DEFAULT (now()), -- )
    event text CHECK ((event) <> ')')
    -- no key yet
) TABLESPACE x;
CREATE UNLOGGED TABLE "events" ("userid" int, "ts" int, UNIQUE (event), PRIMARY KEY ("userid", "ts") DEFERRABLE, "event" text);
CREATE TABLE events () INHERITS (other);
CREATE TABLE events (LIKE other, PRIMARY KEY (userid, ts)) INHERITS (a, b) PARTITION BY HASH (ts);
CREATE TABLE "Odd"."Mixed ""Case""" ("Text ""Id""" text, n numeric, PRIMARY KEY ("Text ""Id""", "n"));
CREATE TABLE U&"ev\0065nts" (userid int, ts int, PRIMARY KEY (U&"\0075serid", ts));
CREATE TABLE loose (userid int, ts int, event text, PRIMARY KEY (userid, ts));
-- The key stands with its column, and moves behind the list with all that belongs to it.
CREATE TABLE broken (userid bigserial PRIMARY KEY, event text);
CREATE TABLE broken (userid int CONSTRAINT "primary" PRIMARY/* the */KEY NOT NULL DEFAULT 1, CHECK (userid > 0));
CREATE TABLE broken (a int, userid int GENERATED ALWAYS AS IDENTITY PRIMARY KEY WITH (fillfactor = 70) USING INDEX TABLESPACE x NOT DEFERRABLE INITIALLY IMMEDIATE NOT NULL);
CREATE TABLE broken (userid int DEFAULT 5 PRIMARY KEY DEFERRABLE INITIALLY DEFERRED CHECK (true)
  -- the end
);
CREATE TABLE broken (userid int PRIMARY KEY REFERENCES broken (userid) NOT DEFERRABLE, event text UNIQUE);
CREATE TABLE broken (userid int, event text PRIMARY KEY);
-- Another key than that of the configuration.
CREATE TABLE events (userid int PRIMARY KEY, ts int);
CREATE TABLE events (userid int, ts int, PRIMARY KEY (userid));
CREATE TABLE events (userid int, ts int, n int, PRIMARY KEY (userid, ts, n));
CREATE TABLE events (é int, userid int, PRIMARY KEY (userid));
-- Not understood, not to be made so, or not ours.
CREATE TABLE events OF a_type (PRIMARY KEY (userid, ts));
CREATE TABLE events (LIKE other INCLUDING ALL);
CREATE TABLE events (LIKE other INCLUDING INDEXES, n int);
CREATE TABLE events (LIKE other INCLUDING DEFAULTS INCLUDING CONSTRAINTS);
CREATE TABLE events AS SELECT 1 userid;
CREATE TABLE events AS SELECT 1 userid, 2 userhash;
CREATE TABLE filed (userid int, ts int, PRIMARY KEY (userid, ts));
CREATE TABLE events (userid int, ts int, userhash bigint NOT NULL, PRIMARY KEY (userhash, userid, ts));
CREATE TABLE events (userid int PRIMARY KEY, ts int PRIMARY KEY);
CREATE TABLE events (userid int, ts int, PRIMARY KEY (userid, userid));
CREATE TABLE events (userid int, ts int, PRIMARY KEY (userid, nothing));
CREATE TABLE events PARTITION OF other FOR VALUES IN (1);
CREATE TEMP TABLE events (userid int PRIMARY KEY);
CREATE TABLE pg_temp.events (userid int PRIMARY KEY);
CREATE TABLE other (userid int PRIMARY KEY, event int REFERENCES events);
CREATE TABLE "Mixed ""Case""" ("Text ""Id""" text PRIMARY KEY);
CREATE TABLE events (userid int PRIMARY KEY,);
-- What may move the schema that tables are made in, and what does not.
DROP TABLE IF EXISTS events; CREATE TABLE events (userid int, ts int);
SET search_path = other; CREATE TABLE events (userid int, ts int); CREATE TABLE public.events (userid int, ts int);
-- A key that comes later, as pg_dump writes it; and what would take the hash away.
ALTER TABLE ONLY public.events ADD CONSTRAINT events_pkey PRIMARY KEY (userid, ts);
alter table if exists events add primary key(ts, userid) deferrable, add column n int unique, owner to app;
ALTER TABLE broken ADD COLUMN userid serial CONSTRAINT "The Key" PRIMARY KEY NOT NULL, ADD event text -- done
;
ALTER TABLE broken ADD userid serial PRIMARY KEY;
ALTER TABLE events ADD PRIMARY KEY (userid);
ALTER TABLE events ADD PRIMARY KEY (event, nothing);
ALTER TABLE events ADD PRIMARY KEY (userid, userid);
ALTER TABLE events ADD PRIMARY KEY (userhash, userid, ts);
ALTER TABLE events ADD CONSTRAINT k PRIMARY KEY USING INDEX events_index;
ALTER TABLE events DROP CONSTRAINT events_pkey, ADD UNIQUE (userid, ts), ALTER userid SET NOT NULL, ALTER userid SET DEFAULT 1;
ALTER TABLE events ADD COLUMN é int, DROP COLUMN userid;
ALTER TABLE events DROP ts, DROP IF EXISTS event CASCADE;
ALTER TABLE events DROP COLUMN IF EXISTS userhash;
ALTER TABLE events ALTER userhash DROP NOT NULL;
ALTER TABLE events ALTER userhash SET DEFAULT 0;
ALTER TABLE events ALTER userhash TYPE numeric;
ALTER TABLE events ALTER userhash ADD GENERATED ALWAYS AS IDENTITY;
ALTER TABLE events ALTER userhash SET STATISTICS 100, ALTER event TYPE int USING 1;
ALTER TABLE events ALTER COLUMN userid SET DATA TYPE integer;
ALTER TABLE events ALTER userid TYPE smallint, ALTER ts TYPE text;
ALTER TABLE events ALTER userid TYPE bigint USING userid + 1;
ALTER TABLE events ALTER userid TYPE bigint[];
ALTER TABLE events ALTER userid TYPE text;
ALTER TABLE "Odd"."Mixed ""Case""" ALTER "Text ""Id""" TYPE varchar;
ALTER TABLE "Odd"."Mixed ""Case""" ALTER "Text ""Id""" TYPE varchar(3);
ALTER TABLE "Odd"."Mixed ""Case""" ALTER "Text ""Id""" TYPE text COLLATE x;
ALTER TABLE "Odd"."Mixed ""Case""" ALTER n TYPE numeric;
ALTER TABLE events RENAME userid TO other;
ALTER TABLE public.events RENAME COLUMN userhash TO other;
ALTER TABLE events RENAME COLUMN event TO other;
ALTER TABLE events RENAME TO other;
ALTER TABLE events RENAME CONSTRAINT userid TO other;
ALTER TABLE pg_temp.events DROP userid;
ALTER INDEX events RENAME TO userid;
ALTER SEQUENCE events RESTART;
-- Foreign keys that refer to a key: UNIQUE of it comes first; with the table itself, if it is its own.
CREATE TABLE other (id int, broken_id int REFERENCES public . broken /* the key */, more int REFERENCES nothing);
ALTER TABLE other ADD FOREIGN KEY (a, b) REFERENCES events (ts, userid), ADD id int REFERENCES broken (event);
CREATE TABLE public.broken (userid int PRIMARY KEY, parent int REFERENCES broken ON DELETE CASCADE);
-- Cut into partitions, which come behind it; what these do not take.
CREATE UNLOGGED TABLE public.filed (userid int, ts int, CONSTRAINT k PRIMARY KEY (userid, ts) ) TABLESPACE x;
ALTER TABLE ONLY public.filed ADD PRIMARY KEY (userid, ts);
CREATE TABLE public.filed (userid int, ts int UNIQUE);
CREATE TABLE public.filed (userid int, ts int, UNIQUE (ts, userhash));
CREATE TABLE public.filed (userid int, ts int, UNIQUE (ts, userid));
CREATE TABLE public.filed (userid int, ts int, EXCLUDE USING btree (ts WITH =));
CREATE TABLE public.filed (userid int, ts int) INHERITS (a);
CREATE TABLE public.filed (userid int, ts int) PARTITION BY LIST (ts);
CREATE TABLE public.filed (userid int, ts int) WITH (fillfactor = 10);
CREATE TABLE public.filed (userid int, ts int) USING heap;
TRUNCATE events, ONLY public.filed, ONLY (public.filed), ONLY other;
LOCK TABLE ONLY public.filed;
CREATE INDEX ON ONLY public.filed (ts);
-- What LIKE copies of a hash.
CREATE TEMP TABLE other (a int, LIKE public.events INCLUDING ALL);
CREATE TABLE IF NOT EXISTS other (LIKE public.events);
CREATE TABLE public.broken (userid int, LIKE public.events);
