-- app.events: h holds cityhash64 of (day, id)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE `events` (
    `id` Utf8 NOT NULL,
    `day` Date32 NOT NULL,
    `k` Decimal(22,9) NOT NULL,
    `note` Utf8,
    `h` Uint64 NOT NULL,
    PRIMARY KEY (`h`, `id`, `day`, `k`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 4,
    PARTITION_AT_KEYS = (1, 9223372036854775808, 18446744073709551615)
);

-- public.signed: k_hash holds numeric_hash of (k)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        FromBytes(ToBytes(Digest::NumericHash(FromBytes(ToBytes(CAST(FromPg(`k`) AS Int64)), Uint64))), Int64)
CREATE TABLE `signed` (
    `k` pgint4 NOT NULL,
    `k_hash` pgint8 NOT NULL,
    PRIMARY KEY (`k_hash`, `k`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 5
);

-- public.virtual: k_hash holds pg_hash of (k)
-- recompute the hash in PostgreSQL: hash_record_extended(ROW("k"), 0)
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE `virtual` (
    `k` pgint2 NOT NULL,
    `l` pgbpchar NOT NULL,
    `k_hash` pgint8 NOT NULL,
    PRIMARY KEY (`k_hash`, `k`, `l`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 1
);

-- odd ".name.`t\x: k"`_hash holds xxh3 of (k"`)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE `\`t\\x` (
    `k"\`` pguuid NOT NULL,
    `k"\`_hash` pgint8 NOT NULL,
    PRIMARY KEY (`k"\`_hash`, `k"\``)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 3
);

-- public.plain: a_hash holds xxh3 of (a)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        FromBytes(ToBytes(Digest::XXH3(CAST(FromPg(`a`) AS String))), Int64)
CREATE TABLE `plain` (
    `a` pgbytea NOT NULL,
    `b` pgbool NOT NULL,
    `c` pgfloat8,
    `d` pgfloat4,
    `e` pgtimestamptz,
    `f` pgtimestamp,
    `g` pgnumeric,
    `i` pgnumeric,
    `j` pgtext, -- jsonb: choose a type
    `plain_a_hash` pgint8,
    `a_hash` pgint8 NOT NULL,
    PRIMARY KEY (`a_hash`, `a`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 1
);

-- public.one: k_hash holds pg_hash of (k)
-- recompute the hash in PostgreSQL: hash_record_extended(ROW("k"), 0)
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE `one` (
    `k` pgint8 NOT NULL,
    `k_hash` pgint8 NOT NULL,
    PRIMARY KEY (`k_hash`, `k`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 1
);

-- public.unsigned: l_hash holds numeric_hash of (l)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        Digest::NumericHash(FromBytes(ToBytes(CAST(`l` AS Int64)), Uint64))
CREATE TABLE `unsigned` (
    `k` Utf8 NOT NULL,
    `l` Int64 NOT NULL,
    `l_hash` Uint64 NOT NULL,
    PRIMARY KEY (`l_hash`, `k`, `l`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 4,
    UNIFORM_PARTITIONS = 4
);

-- public.words: k_hash holds xxh3 of (k)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        Digest::XXH3(CAST(`k` AS String))
CREATE TABLE `words` (
    `k` Utf8 NOT NULL,
    `k_hash` Uint64 NOT NULL,
    PRIMARY KEY (`k_hash`, `k`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 1,
    UNIFORM_PARTITIONS = 1
);

-- public.several: m_hash holds pg_hash of (m, k)
-- recompute the hash in PostgreSQL: hash_record_extended(ROW("m", "k"), 0)
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE `several` (
    `k` pgint8 NOT NULL,
    `l` pgint8 NOT NULL,
    `m` pgtext NOT NULL,
    `m_hash` pgint8 NOT NULL,
    PRIMARY KEY (`m_hash`, `k`, `l`, `m`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 1
);
