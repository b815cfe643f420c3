-- public.rows: k_hash holds xxh3 of (k)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        FromBytes(ToBytes(Digest::XXH3(ToBytes(CAST(FromPg(`k`) AS Int64)))), Int64)
CREATE TABLE `rows` (
    `k` pgint8 NOT NULL, -- set yourself: DEFAULT nextval('rows_k_seq')
    `place` pgtext, -- point: choose a type -- set yourself: DEFAULT point(1, 2)
    `k_hash` pgint8 NOT NULL,
    PRIMARY KEY (`k_hash`, `k`)
) WITH (
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 1
);

-- ad_events: column-oriented. Nobody has confirmed that it can be written over the PostgreSQL endpoint.
CREATE TABLE `ad_events` (
    `user_id` Utf8 NOT NULL,
    `event_timestamp` Timestamp64 NOT NULL,
    `event_id` Int64,
    `campaign_id` Int64 NOT NULL,
    `event_type` Utf8 NOT NULL,
    `od\`d` Utf8, -- point: choose a type
    PRIMARY KEY (`event_timestamp`, `user_id`, `campaign_id`)
) PARTITION BY HASH(`user_id`, `event_timestamp`) WITH (
    STORE = COLUMN,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 200,
    TTL = Interval("P30D") ON `event_timestamp`
);

-- app.moments: column-oriented. Nobody has confirmed that it can be written over the PostgreSQL endpoint.
CREATE TABLE `moments` (
    `at` Timestamp64 NOT NULL,
    `k` Bool NOT NULL,
    PRIMARY KEY (`at`, `k`)
) PARTITION BY HASH(`at`) WITH (
    STORE = COLUMN,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 64
);

-- sides: column-oriented. Nobody has confirmed that it can be written over the PostgreSQL endpoint.
CREATE TABLE `sides` (
    `at` Date32 NOT NULL,
    `side` Bool NOT NULL, -- set yourself: DEFAULT true
    PRIMARY KEY (`at`, `side`)
) PARTITION BY HASH(`side`) WITH (
    STORE = COLUMN,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 128
);
