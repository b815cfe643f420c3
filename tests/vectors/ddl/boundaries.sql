-- public.cut: k_hash holds xxh3 of (k)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE `cut` (
    `k` pguuid NOT NULL,
    `k_hash` pgint8 NOT NULL,
    PRIMARY KEY (`k_hash`, `k`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 2,
    PARTITION_AT_KEYS = (0)
);

-- public.whole: k_hash holds xxh3 of (k)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        no expression does; keyspread verify counts wrong ones
CREATE TABLE `whole` (
    `k` pguuid NOT NULL,
    `k_hash` pgint8 NOT NULL,
    PRIMARY KEY (`k_hash`, `k`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 1
);
