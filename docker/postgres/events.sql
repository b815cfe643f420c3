-- public.events: userhash holds xxh3 of (userid)
-- recompute the hash in PostgreSQL: no expression does; keyspread verify counts wrong ones
-- recompute the hash in YQL:        FromBytes(ToBytes(Digest::XXH3(ToBytes(CAST(FromPg(`userid`) AS Int64)))), Int64)
CREATE TABLE "public"."events" (
    "userid" bigint NOT NULL,
    "ts" timestamp with time zone NOT NULL,
    "event" text,
    "userhash" bigint NOT NULL,
    PRIMARY KEY ("userid", "ts", "userhash")
) PARTITION BY RANGE ("userhash");
CREATE TABLE "public"."events_p0" PARTITION OF "public"."events" FOR VALUES FROM (MINVALUE) TO (-8070450532247928832);
CREATE TABLE "public"."events_p1" PARTITION OF "public"."events" FOR VALUES FROM (-8070450532247928832) TO (-6917529027641081856);
CREATE TABLE "public"."events_p2" PARTITION OF "public"."events" FOR VALUES FROM (-6917529027641081856) TO (-5764607523034234880);
CREATE TABLE "public"."events_p3" PARTITION OF "public"."events" FOR VALUES FROM (-5764607523034234880) TO (-4611686018427387904);
CREATE TABLE "public"."events_p4" PARTITION OF "public"."events" FOR VALUES FROM (-4611686018427387904) TO (-3458764513820540928);
CREATE TABLE "public"."events_p5" PARTITION OF "public"."events" FOR VALUES FROM (-3458764513820540928) TO (-2305843009213693952);
CREATE TABLE "public"."events_p6" PARTITION OF "public"."events" FOR VALUES FROM (-2305843009213693952) TO (-1152921504606846976);
CREATE TABLE "public"."events_p7" PARTITION OF "public"."events" FOR VALUES FROM (-1152921504606846976) TO (0);
CREATE TABLE "public"."events_p8" PARTITION OF "public"."events" FOR VALUES FROM (0) TO (1152921504606846976);
CREATE TABLE "public"."events_p9" PARTITION OF "public"."events" FOR VALUES FROM (1152921504606846976) TO (2305843009213693952);
CREATE TABLE "public"."events_p10" PARTITION OF "public"."events" FOR VALUES FROM (2305843009213693952) TO (3458764513820540928);
CREATE TABLE "public"."events_p11" PARTITION OF "public"."events" FOR VALUES FROM (3458764513820540928) TO (4611686018427387904);
CREATE TABLE "public"."events_p12" PARTITION OF "public"."events" FOR VALUES FROM (4611686018427387904) TO (5764607523034234880);
CREATE TABLE "public"."events_p13" PARTITION OF "public"."events" FOR VALUES FROM (5764607523034234880) TO (6917529027641081856);
CREATE TABLE "public"."events_p14" PARTITION OF "public"."events" FOR VALUES FROM (6917529027641081856) TO (8070450532247928832);
CREATE TABLE "public"."events_p15" PARTITION OF "public"."events" FOR VALUES FROM (8070450532247928832) TO (MAXVALUE);
