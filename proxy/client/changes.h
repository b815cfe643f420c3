/*
 * changes: what a session did to the schema: its own transaction may see other tables than all
 * others do, and when it ends everybody is to look again.
 */
#ifndef PX_CHANGES_H
#define PX_CHANGES_H

#include <stdbool.h>

struct px_session;

/* What has these effects is being sent: what is known of configured tables may be wrong then. */
void px_changes_note(struct px_session *session, unsigned effects);
/* In the group at hand the tables may have been changed, and they cannot be asked before Sync. */
bool px_changes_unseen(const struct px_session *session);
/* What this session did to the schema is done, or perhaps it is. */
void px_changes_end(struct px_session *session);
/* What its own transaction has made of the tables is not known any more. */
void px_changes_forget(struct px_session *session);

#endif
