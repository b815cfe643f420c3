-- The tables of insert-spellings, as PostgreSQL has them behind keyspread. All are configured with
-- hash_function xxh3, hash_type int8, hash_column "h", and the key without h; hash_key is the first
-- column, and both columns of pairs. Without the column h, and h in the key, they are what the
-- clients believe in.
CREATE TABLE events (h int8 NOT NULL, userid bigint, ts timestamptz, event text, PRIMARY KEY (h, userid, ts));
CREATE TABLE smalls (h int8 NOT NULL, id smallint, n int DEFAULT 0, PRIMARY KEY (h, id, n));
CREATE TABLE ints (h int8 NOT NULL, id int, n int DEFAULT 0, PRIMARY KEY (h, id, n));
CREATE TABLE texts (h int8 NOT NULL, name text, n int DEFAULT 0, PRIMARY KEY (h, name, n));
CREATE TABLE varchars (h int8 NOT NULL, name varchar(5), n int DEFAULT 0, PRIMARY KEY (h, name, n));
CREATE TABLE chars (h int8 NOT NULL, name char(5), n int DEFAULT 0, PRIMARY KEY (h, name, n));
CREATE TABLE amounts (h int8 NOT NULL, amount numeric(6, 2), n int DEFAULT 0, PRIMARY KEY (h, amount, n));
CREATE TABLE numbers (h int8 NOT NULL, number numeric, n int DEFAULT 0, PRIMARY KEY (h, number, n));
CREATE TABLE uuids (h int8 NOT NULL, id uuid, n int DEFAULT 0, PRIMARY KEY (h, id, n));
CREATE TABLE bytes (h int8 NOT NULL, data bytea, n int DEFAULT 0, PRIMARY KEY (h, data, n));
CREATE TABLE flags (h int8 NOT NULL, flag boolean, n int DEFAULT 0, PRIMARY KEY (h, flag, n));
CREATE TABLE days (h int8 NOT NULL, day date, n int DEFAULT 0, PRIMARY KEY (h, day, n));
CREATE TABLE moments (h int8 NOT NULL, at timestamptz, n int DEFAULT 0, PRIMARY KEY (h, at, n));
CREATE TABLE times (h int8 NOT NULL, at timestamp(3), n int DEFAULT 0, PRIMARY KEY (h, at, n));
CREATE TABLE reals (h int8 NOT NULL, x float8, n int DEFAULT 0, PRIMARY KEY (h, x, n));
CREATE TABLE pairs (h int8 NOT NULL, a int, b text, c text, PRIMARY KEY (h, a, b));
CREATE TABLE serials (h int8 NOT NULL, userid bigint, pk bigserial, note text, PRIMARY KEY (h, userid, pk));
