#include "proxy/backend/postgres/inheritance.h"

#include "protocol/backend.h"
#include "protocol/error.h"
#include "protocol/frontend.h"
#include "proxy/backend/base/timeouts.h"

#include <xxhash.h>

enum {
    OWN_CELLS = 4,
    MAX_MESSAGE = 1024 * 1024,
    TIMEOUT_SINCE = 140000 /* idle_session_timeout */
};

/* Nothing in the question depends on search_path. It takes a tenth of the time that pg_settings
 * takes. */
#define EQUALS " operator(pg_catalog.=) "
#define QUESTION                                                                                   \
    "select s.setdatabase, s.setrole, s.setconfig from pg_catalog.pg_db_role_setting s"            \
    " where (s.setdatabase" EQUALS "'0'::pg_catalog.oid or s.setdatabase" EQUALS                   \
    "(select d.oid from pg_catalog.pg_database d"                                                  \
    " where d.datname" EQUALS "pg_catalog.current_database()))"                                    \
    " and (s.setrole" EQUALS "'0'::pg_catalog.oid or s.setrole" EQUALS                             \
    "(select r.oid from pg_catalog.pg_roles r where r.rolname" EQUALS "session_user))"             \
    " order by s.setdatabase, s.setrole"
/* Settings that say how constants are read and shown and are never reported; the server may set
 * them. Statements that are prepared on a link were read by them. */
#define VALUE(name) ", pg_catalog.current_setting('" name "')"
#define UNTOLD                                                                                     \
    "; select ''" VALUE("array_nulls") VALUE("backslash_quote") VALUE("bytea_output")              \
        VALUE("default_text_search_config") VALUE("extra_float_digits") VALUE("lc_monetary")       \
            VALUE("lc_numeric") VALUE("lc_time") VALUE("timezone_abbreviations")                   \
                VALUE("transform_null_equals") VALUE("xmlbinary") VALUE("xmloption")

/* Four cells that are no part of `settings`: batch links have no timeouts. */
#define OWN                                                                                        \
    "; select pg_catalog.current_setting('statement_timeout'),"                                    \
    " pg_catalog.current_setting('tcp_user_timeout', true)" VALUE("default_transaction_isolation") \
        VALUE("default_transaction_read_only")

void px_inheritance_ask(px_link *link, int server_version, bool shared)
{
    pgw_buf text = {0}, message = {0};
    if (shared && server_version >= TIMEOUT_SINCE)
        pgw_buf_add_str(&text, "set idle_session_timeout = 0; ");
    pgw_buf_add_str(&text, shared ? QUESTION UNTOLD : QUESTION UNTOLD OWN);
    pgw_certainly(pgw_write_query(pgw_slice_buf(&text), &message));
    px_link_send_buf(link, &message);
    pgw_buf_free(&text);
    pgw_buf_free(&message);
}

static void take_row(px_link *link, pgw_slice body)
{
    pgw_slice cells[OWN_CELLS];
    bool nulls[OWN_CELLS];
    if (link->settings == 0)
        return;
    if (pgw_data_row_decode(body, cells, nulls, OWN_CELLS) == OWN_CELLS) {
        link->statement_timeout = px_timeouts_read(cells[0]);
        link->user_timeout = nulls[1] ? 0 : px_timeouts_read(cells[1]);
        link->has_modes =
            !pgw_slice_eq_str(cells[2], "read committed") || !pgw_slice_eq_str(cells[3], "off");
        return;
    }
    link->settings = XXH3_64bits_withSeed(body.ptr, body.len, link->settings);
}

px_inheritance px_inheritance_read(px_link *link)
{
    for (;;) {
        pgw_frame frame;
        pgw_slice message;
        pgw_frame_result result = px_link_message(link, MAX_MESSAGE, &frame, &message);
        if (result != PGW_FRAME_OK)
            return result == PGW_FRAME_MORE ? PX_INHERITANCE_MORE : PX_INHERITANCE_BROKEN;
        pgw_slice body = pgw_frame_body(message, frame);
        if (frame.type == 'D')
            take_row(link, body);
        if (frame.type == 'E') {
            link->settings = 0;
            link->has_modes = true; /* nobody knows */
        }
        px_link_consume(link, frame.size);
        if (frame.type == 'Z')
            return PX_INHERITANCE_KNOWN;
    }
}
