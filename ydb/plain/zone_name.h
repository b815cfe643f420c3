/*
 * zone_name: which values of TimeZone PostgreSQL may know.
 */
#ifndef RW_ZONE_NAME_H
#define RW_ZONE_NAME_H

#include "protocol/bytes.h"

/* Whether PostgreSQL may know the zone; false: it would refuse the value. A value with a digit may
 * be an offset or a rule (`<+03>-3`, `CET-1CEST`): it is not looked at any further. */
bool rw_zone_may_be(pgw_slice value);

#endif
