#include "proxy/backend/inheritance.h"

#include "protocol/error.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"

#include <xxhash.h>

enum { MAX_MESSAGE = 1024 * 1024, TIMEOUT_SINCE = 140000 /* idle_session_timeout */ };

/* Nothing in it depends on search_path. It takes a tenth of what pg_settings takes. */
#define EQUALS " operator(pg_catalog.=) "
#define QUESTION                                                                                   \
    "select s.setdatabase, s.setrole, s.setconfig from pg_catalog.pg_db_role_setting s"            \
    " where (s.setdatabase" EQUALS "'0'::pg_catalog.oid or s.setdatabase" EQUALS                   \
    "(select d.oid from pg_catalog.pg_database d"                                                  \
    " where d.datname" EQUALS "pg_catalog.current_database()))"                                    \
    " and (s.setrole" EQUALS "'0'::pg_catalog.oid or s.setrole" EQUALS                             \
    "(select r.oid from pg_catalog.pg_roles r where r.rolname" EQUALS "session_user))"             \
    " order by s.setdatabase, s.setrole"

void px_inheritance_ask(px_stream *stream, int server_version, bool shared)
{
    pgw_buf text = {0}, message = {0};
    if (shared && server_version >= TIMEOUT_SINCE)
        pgw_buf_add_str(&text, "set idle_session_timeout = 0; ");
    pgw_buf_add_str(&text, QUESTION);
    pgw_certainly(pgw_write_query(pgw_slice_buf(&text), &message));
    px_stream_put_buf(stream, &message);
    pgw_buf_free(&text);
    pgw_buf_free(&message);
}

px_inheritance px_inheritance_read(px_stream *stream, uint64_t *number)
{
    for (;;) {
        pgw_slice input = px_stream_input(stream);
        pgw_frame frame;
        pgw_frame_result result = pgw_frame_next(input, &frame);
        if (result == PGW_FRAME_MORE)
            return PX_INHERITANCE_MORE;
        if (result == PGW_FRAME_BAD || frame.size > MAX_MESSAGE)
            return PX_INHERITANCE_BROKEN;
        if (input.len < frame.size) {
            px_stream_expect(stream, frame.size);
            return PX_INHERITANCE_MORE;
        }
        pgw_slice body = pgw_frame_body(input, frame);
        if (frame.type == 'D' && *number != 0)
            *number = XXH3_64bits_withSeed(body.ptr, body.len, *number);
        if (frame.type == 'E')
            *number = 0;
        px_stream_consume(stream, frame.size);
        if (frame.type == 'Z')
            return PX_INHERITANCE_KNOWN;
    }
}
