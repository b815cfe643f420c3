#include "tests/ydb_endpoint/query.h"

#include "tests/ydb_endpoint/run.h"
#include "tests/ydb_endpoint/split.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"

#include <ctype.h>

static bool is_blank(pgw_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!isspace((unsigned char)text.ptr[i]))
            return false;
    return true;
}

static void write_empty(pgw_buf *out)
{
    pgw_end_small(out, pgw_begin(out, 'I'));
}

void ye_query(ye_session *session, pgw_slice text)
{
    ye_split split = ye_split_of(text);
    pgw_buf piece = {0};
    unsigned count = 0;
    while (!session->closing && ye_split_next(&split, &piece)) {
        const bool blank = is_blank(pgw_slice_buf(&piece));
        pgw_buf_add_byte(&piece, '\0');
        if (!blank)
            ye_run(session, &(ye_request){.text = {piece.ptr, piece.len - 1}});
        else if (count == 0)
            write_empty(&session->out);
        count++;
    }
    pgw_buf_free(&piece);
    if (count == 0 && session->endpoint->options.empty_query_silent)
        return;
    if (count == 0)
        write_empty(&session->out);
    if (!session->closing)
        pgw_write_ready(session->shown, &session->out);
}
