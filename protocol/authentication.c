#include "protocol/authentication.h"

#include "protocol/frontend.h"

enum { CODE_CLEARTEXT = 3 };

void pgw_write_authentication_cleartext(pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'R');
    pgw_buf_add_i32(out, CODE_CLEARTEXT);
    pgw_end_small(out, begun);
}

bool pgw_password_decode(pgw_slice body, pgw_slice *password)
{
    pgw_reader reader = pgw_reader_of(body);
    *password = pgw_read_string(&reader);
    return pgw_reader_done(&reader);
}
