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
-- The table starts as one partition. Nobody has confirmed that a pgint8 key takes boundaries; if yours
-- does, say so (backend.capabilities: { pgint8_boundaries: yes }), and the table starts cut, by
-- PARTITION_AT_KEYS = (-9223372036854775807, -1, 0, 9223372036854775807)
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
-- The table starts as one partition. Nobody has confirmed that a pgint8 key takes boundaries; if yours
-- does, say so (backend.capabilities: { pgint8_boundaries: yes }), and the table starts cut, by
-- PARTITION_AT_KEYS = (-3074457345618258602, 3074457345618258603)
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

-- public.expiring: userid_hash holds xxh3 of (userid)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        FromBytes(ToBytes(Digest::XXH3(ToBytes(CAST(FromPg(`userid`) AS Int64)))), Int64)
CREATE TABLE `expiring` (
    `userid` pgint8 NOT NULL,
    `ts` pgtimestamp NOT NULL,
    `city\`` pgtext,
    `userid_hash` pgint8 NOT NULL,
    INDEX `by_city` GLOBAL ASYNC ON (`city\``, `ts`),
    INDEX `by_ts` GLOBAL SYNC ON (`ts`),
    PRIMARY KEY (`userid_hash`, `userid`, `ts`)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = DISABLED,
    AUTO_PARTITIONING_BY_LOAD = DISABLED,
    AUTO_PARTITIONING_PARTITION_SIZE_MB = 512,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 4,
    AUTO_PARTITIONING_MAX_PARTITIONS_COUNT = 100,
    TTL = Interval("P30DT1H30M") ON `ts`
);

-- public.counted: k_hash holds xxh3 of (k)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        Digest::XXH3(ToBytes(CAST(`k` AS Int64)))
CREATE TABLE `counted` (
    `k` Int64 NOT NULL,
    `at` Int64,
    `k_hash` Uint64 NOT NULL,
    PRIMARY KEY (`k_hash`, `k`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 51,
    AUTO_PARTITIONING_MAX_PARTITIONS_COUNT = 102,
    TTL = Interval("PT0S") ON `at` AS MILLISECONDS
);

-- public.gathered: k_hash holds pg_hash of (k) modulo 10
-- recompute the hash in PostgreSQL: mod(mod(hash_record_extended(ROW("k"), 0) + 18446744073709551616, 18446744073709551616), 10)
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
-- The table starts as one partition. Nobody has confirmed that a pgint2 key takes boundaries; if yours
-- does, say so (backend.capabilities: { pgint8_boundaries: yes }), and the table starts cut, by
-- PARTITION_AT_KEYS = (4, 7)
CREATE TABLE `gathered` (
    `k` pgint8 NOT NULL,
    `k_hash` pgint2 NOT NULL,
    PRIMARY KEY (`k_hash`, `k`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 3
);

-- public.wide: k_hash holds xxh3 of (k) modulo 16
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        CAST(Digest::XXH3(ToBytes(CAST(FromPg(`k`) AS Int64))) % 16ul AS Int32)
CREATE TABLE `wide` (
    `k` pgint8 NOT NULL,
    `k_hash` pgint4 NOT NULL,
    PRIMARY KEY (`k_hash`, `k`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 1
);
