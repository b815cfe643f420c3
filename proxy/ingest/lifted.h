/*
 * lifted: a text's lone row as an execution of a prepared statement, with its constants as
 * parameters: the backend plans it, with its guard, once a link instead of once a row.
 */
#ifndef PX_LIFTED_H
#define PX_LIFTED_H

#include "proxy/backend/base/write_group.h"
#include "proxy/ingest/plan.h"
#include "proxy/ingest/text.h"

/* Gives the write group, which is otherwise complete, this form as well, if its text can have it
 * and one like it has come before. Returns the plan of its prepared statement, not counted; NULL:
 * it has none. */
const px_plan *px_lift(px_worker *worker, const px_text *text, px_write_group *write_group);

#endif
