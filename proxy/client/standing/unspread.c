#include "proxy/client/standing/unspread.h"

#include "proxy/base/log.h"
#include "proxy/client/core/session.h"
#include "rewrite/statement/define/define_pattern.h"

void px_unspread_warn(px_session *session, unsigned number)
{
    const char *why = rw_define_warning(number);
    pgw_error warning;
    pgw_buf out = {0};
    pgw_fail(&warning, "01000", "this table is not spread, but made as an ordinary one: %s",
             why);
    pgw_error_hint(&warning, "It has the name of a pattern of keyspread's configuration.");
    pgw_notice_write(&warning, "WARNING", &out);
    px_session_put(session, &out);
    pgw_buf_free(&out);
    px_log(CFG_LOG_WARN, "table_made_ordinary", "reason=%s", why);
}
