-- app.events: h holds cityhash64 of (day, id)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE "app"."events" (
    "id" text NOT NULL,
    "day" date NOT NULL,
    "k" numeric(6,2) NOT NULL,
    "note" character varying(30),
    "h" numeric(20,0) NOT NULL,
    PRIMARY KEY ("h", "id", "day", "k")
) PARTITION BY RANGE ("h");
CREATE TABLE "app"."events_p0" PARTITION OF "app"."events" FOR VALUES FROM (MINVALUE) TO (1);
CREATE TABLE "app"."events_p1" PARTITION OF "app"."events" FOR VALUES FROM (1) TO (9223372036854775808);
CREATE TABLE "app"."events_p2" PARTITION OF "app"."events" FOR VALUES FROM (9223372036854775808) TO (18446744073709551615);
CREATE TABLE "app"."events_p3" PARTITION OF "app"."events" FOR VALUES FROM (18446744073709551615) TO (MAXVALUE);

-- public.signed: k_hash holds numeric_hash of (k)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        FromBytes(ToBytes(Digest::NumericHash(FromBytes(ToBytes(CAST(FromPg(`k`) AS Int64)), Uint64))), Int64)
CREATE TABLE "public"."signed" (
    "k" integer NOT NULL,
    "k_hash" bigint NOT NULL,
    PRIMARY KEY ("k", "k_hash")
) PARTITION BY RANGE ("k_hash");
CREATE TABLE "public"."signed_p0" PARTITION OF "public"."signed" FOR VALUES FROM (MINVALUE) TO (-9223372036854775807);
CREATE TABLE "public"."signed_p1" PARTITION OF "public"."signed" FOR VALUES FROM (-9223372036854775807) TO (-1);
CREATE TABLE "public"."signed_p2" PARTITION OF "public"."signed" FOR VALUES FROM (-1) TO (0);
CREATE TABLE "public"."signed_p3" PARTITION OF "public"."signed" FOR VALUES FROM (0) TO (9223372036854775807);
CREATE TABLE "public"."signed_p4" PARTITION OF "public"."signed" FOR VALUES FROM (9223372036854775807) TO (MAXVALUE);

-- public.virtual: k_hash holds pg_hash of (k)
-- recompute the hash in PostgreSQL: hash_record_extended(ROW("k"), 0)
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE "public"."virtual" (
    "k" smallint NOT NULL,
    "l" character(5) NOT NULL,
    "k_hash" bigint NOT NULL,
    PRIMARY KEY ("k", "l", "k_hash"),
    CHECK ("k_hash" = hash_record_extended(ROW("k"), 0))
);

-- odd ".name.`t\x: k"`_hash holds xxh3 of (k"`)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE "odd "".name"."`t\x" (
    "k""`" uuid NOT NULL,
    "k""`_hash" bigint NOT NULL,
    PRIMARY KEY ("k""`", "k""`_hash")
) PARTITION BY RANGE ("k""`_hash");
CREATE TABLE "odd "".name"."`t\x_p0" PARTITION OF "odd "".name"."`t\x" FOR VALUES FROM (MINVALUE) TO (-3074457345618258602);
CREATE TABLE "odd "".name"."`t\x_p1" PARTITION OF "odd "".name"."`t\x" FOR VALUES FROM (-3074457345618258602) TO (3074457345618258603);
CREATE TABLE "odd "".name"."`t\x_p2" PARTITION OF "odd "".name"."`t\x" FOR VALUES FROM (3074457345618258603) TO (MAXVALUE);

-- public.plain: a_hash holds xxh3 of (a)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        FromBytes(ToBytes(Digest::XXH3(CAST(FromPg(`a`) AS String))), Int64)
CREATE TABLE "public"."plain" (
    "a" bytea NOT NULL,
    "b" boolean NOT NULL,
    "c" double precision,
    "d" real,
    "e" timestamp(3) with time zone,
    "f" timestamp without time zone,
    "g" numeric,
    "i" numeric(20,0),
    "j" jsonb,
    "plain_a_hash" bigint,
    "a_hash" bigint NOT NULL,
    PRIMARY KEY ("a", "a_hash")
);

-- public.one: k_hash holds pg_hash of (k)
-- recompute the hash in PostgreSQL: hash_record_extended(ROW("k"), 0)
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE "public"."one" (
    "k" bigint NOT NULL,
    "k_hash" bigint NOT NULL,
    PRIMARY KEY ("k", "k_hash"),
    CHECK ("k_hash" = hash_record_extended(ROW("k"), 0))
);

-- public.unsigned: l_hash holds numeric_hash of (l)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        Digest::NumericHash(FromBytes(ToBytes(CAST(`l` AS Int64)), Uint64))
CREATE TABLE "public"."unsigned" (
    "k" text NOT NULL,
    "l" bigint NOT NULL,
    "l_hash" numeric(20,0) NOT NULL,
    PRIMARY KEY ("k", "l", "l_hash")
) PARTITION BY RANGE ("l_hash");
CREATE TABLE "public"."unsigned_p0" PARTITION OF "public"."unsigned" FOR VALUES FROM (MINVALUE) TO (4611686018427387904);
CREATE TABLE "public"."unsigned_p1" PARTITION OF "public"."unsigned" FOR VALUES FROM (4611686018427387904) TO (9223372036854775808);
CREATE TABLE "public"."unsigned_p2" PARTITION OF "public"."unsigned" FOR VALUES FROM (9223372036854775808) TO (13835058055282163712);
CREATE TABLE "public"."unsigned_p3" PARTITION OF "public"."unsigned" FOR VALUES FROM (13835058055282163712) TO (MAXVALUE);

-- public.words: k_hash holds xxh3 of (k)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        Digest::XXH3(CAST(`k` AS String))
CREATE TABLE "public"."words" (
    "k" character varying NOT NULL,
    "k_hash" numeric(20,0) NOT NULL,
    PRIMARY KEY ("k", "k_hash")
);

-- public.several: m_hash holds pg_hash of (m, k)
-- recompute the hash in PostgreSQL: hash_record_extended(ROW("m", "k"), 0)
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE "public"."several" (
    "k" bigint NOT NULL,
    "l" bigint NOT NULL,
    "m" text NOT NULL,
    "m_hash" bigint NOT NULL,
    PRIMARY KEY ("k", "l", "m", "m_hash"),
    CHECK ("m_hash" = hash_record_extended(ROW("m", "k"), 0))
);

-- public.expiring: userid_hash holds xxh3 of (userid)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        FromBytes(ToBytes(Digest::XXH3(ToBytes(CAST(FromPg(`userid`) AS Int64)))), Int64)
CREATE TABLE "public"."expiring" (
    "userid" bigint NOT NULL,
    "ts" timestamp without time zone NOT NULL,
    "city`" text,
    "userid_hash" bigint NOT NULL,
    PRIMARY KEY ("userid", "ts", "userid_hash")
);

-- public.counted: k_hash holds xxh3 of (k)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        Digest::XXH3(ToBytes(CAST(`k` AS Int64)))
CREATE TABLE "public"."counted" (
    "k" bigint NOT NULL,
    "at" bigint,
    "k_hash" numeric(20,0) NOT NULL,
    PRIMARY KEY ("k", "k_hash")
);

-- public.gathered: k_hash holds pg_hash of (k) modulo 10
-- recompute the hash in PostgreSQL: mod(mod(hash_record_extended(ROW("k"), 0) + 18446744073709551616, 18446744073709551616), 10)
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE "public"."gathered" (
    "k" bigint NOT NULL,
    "k_hash" smallint NOT NULL,
    PRIMARY KEY ("k", "k_hash"),
    CHECK ("k_hash" = mod(mod(hash_record_extended(ROW("k"), 0) + 18446744073709551616, 18446744073709551616), 10))
) PARTITION BY RANGE ("k_hash");
CREATE TABLE "public"."gathered_p0" PARTITION OF "public"."gathered" FOR VALUES FROM (MINVALUE) TO (4);
CREATE TABLE "public"."gathered_p1" PARTITION OF "public"."gathered" FOR VALUES FROM (4) TO (7);
CREATE TABLE "public"."gathered_p2" PARTITION OF "public"."gathered" FOR VALUES FROM (7) TO (MAXVALUE);

-- public.wide: k_hash holds xxh3 of (k) modulo 16
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        CAST(Digest::XXH3(ToBytes(CAST(FromPg(`k`) AS Int64))) % 16ul AS Int32)
CREATE TABLE "public"."wide" (
    "k" bigint NOT NULL,
    "k_hash" integer NOT NULL,
    PRIMARY KEY ("k", "k_hash")
);
