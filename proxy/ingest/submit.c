#include "proxy/ingest/submit.h"

#include "proxy/ingest/lifted.h"
#include "proxy/ingest/split.h"
#include "proxy/ingest/units.h"
#include "rewrite/insert/render.h"
#include "rewrite/statement/script/script.h"

#include <string.h>

/* ---- the outcome ---- */

static void answer(px_owner *owner, const px_unit *unit)
{
    bool failed = unit->outcome == PX_UNIT_FAILED;
    px_outcome outcome = {.statements = unit->statements,
                          .statement_count = unit->statement_count,
                          .completed = failed ? unit->completed : unit->statement_count,
                          .notices = pgw_slice_buf(&unit->notices),
                          .returned = pgw_slice_buf(&unit->returned)};
    if (failed) {
        outcome.error = pgw_slice_buf(&unit->error);
        outcome.kind = px_classify(outcome.error);
        outcome.failure = unit->failure;
    }
    if (owner->ops->answered(owner, &outcome) && failed)
        px_owner_note_failure(owner, unit);
}

static void on_done(px_unit *unit)
{
    px_owner *owner = unit->session;
    if (owner != NULL) { /* NULL: the client has left */
        owner->unit = NULL;
        if (owner->text != NULL && (unit->outcome != PX_UNIT_COMMITTED || unit->notices.len > 0))
            px_text_read(owner->worker, owner->text, &unit->identity->env);
        px_owner_note_time(owner, unit);
        px_owner_note_locks(owner, unit);
        owner->rerouted = owner->rerouted || unit->outcome == PX_UNIT_REROUTED;
        if (unit->outcome != PX_UNIT_REROUTED)
            answer(owner, unit);
        px_owner_drop_statement(owner);
        if (unit->outcome == PX_UNIT_REROUTED)
            owner->ops->rerouted(owner);
    }
    px_unit_free(unit);
}

static void submit(px_owner *owner, px_unit *unit)
{
    owner->unit = unit;
    unit->done = on_done;
    px_batcher_submit(unit);
}

/* ---- text ---- */

void px_submit_script(px_owner *owner, const px_standing *standing, px_text *text)
{
    if (px_split_script(owner, standing, text))
        return;
    px_unit *unit = px_unit_of_text(owner, standing, text, (px_chosen){0});
    const px_plan *plan = px_lift(owner->worker, text, unit);
    px_template_learn(owner->worker, text, unit, plan);
    px_text_take(text);
    owner->text = text;
    submit(owner, unit);
}

bool px_submit_alike(px_owner *owner, const px_standing *standing, px_likeness *of,
                     const px_alike_asked *asked, const pgw_env *env)
{
    px_text *text;
    px_unit *unit = px_alike_unit(owner, standing, of, env, asked, &text);
    if (unit == NULL)
        return false;
    owner->text = text;
    submit(owner, unit);
    return true;
}

/* ---- parameters ---- */

/* Whether the server would tell the error of the Bind: class 22 or 08. */
static bool is_of_bind(const pgw_error *error)
{
    return memcmp(error->sqlstate, "22", 2) == 0 || memcmp(error->sqlstate, "08", 2) == 0;
}

static px_submission refuse(const pgw_error *error, bool alone, px_unfit *unfit)
{
    unfit->error = *error;
    unfit->at_bind = is_of_bind(error);
    return alone ? PX_SUBMIT_REFUSED : PX_SUBMIT_ON_LINK; /* others may fail before this one */
}

static px_submission add_bound(px_owner *owner, px_unit *unit, px_execution execution,
                               const px_bound *bound, pgw_error *error)
{
    if (!px_unit_add_bound(unit, execution, bound, error))
        return PX_SUBMIT_REFUSED;
    if (unit->prepared_count > owner->plan_count)
        px_owner_add_plan(owner, execution.plan);
    return PX_SUBMITTED;
}

/* A lone statement that makes a key twice is prepared without the rows that do not count. */
static px_submission add_good(px_owner *owner, px_unit *unit, px_execution execution, bool alone,
                              const px_bound *bound, pgw_error *error)
{
    px_plan *less = px_plan_for_bind(execution.plan, bound->keys);
    if (less != NULL && alone)
        execution.plan = less;
    px_submission what = less != NULL && !alone ? PX_SUBMIT_ON_LINK
                                                : add_bound(owner, unit, execution, bound, error);
    px_plan_drop(less);
    return what;
}

static px_submission add_execution(px_owner *owner, const px_standing *standing, px_unit *unit,
                                   const px_executions *executions, px_unfit *unfit)
{
    px_execution execution = executions->all[unfit->execution];
    bool alone = executions->count == 1;
    px_bound bound;
    pgw_error error;
    if (!px_bind_keys(owner->worker, execution.plan, execution.bind, &standing->identity->env,
                      &unit->arena, &bound)) {
        /* The INSERT may be sent to the server to fail, which may find another error first. */
        bool earlier = rw_insert_may_fail(execution.plan->insert);
        return refuse(&bound.error, alone && !earlier, unfit);
    }
    if (alone && px_split_bound(owner, standing, &execution, bound.keys))
        return PX_SUBMITTED;
    px_submission what = add_good(owner, unit, execution, alone, &bound, &error);
    return what == PX_SUBMIT_REFUSED ? refuse(&error, alone, unfit) : what;
}

static size_t count_rows(const px_executions *executions)
{
    size_t rows = 0;
    for (size_t i = 0; i < executions->count; i++)
        rows += executions->all[i].plan->insert->row_count;
    return rows;
}

px_submission px_submit_bound(px_owner *owner, const px_standing *standing,
                              const px_executions *executions, px_unfit *unfit)
{
    px_unit *unit = px_unit_of_plan(owner, standing, executions->all[0].plan, executions->count,
                                    count_rows(executions));
    px_submission what = PX_SUBMITTED;
    for (size_t i = 0; i < executions->count && what == PX_SUBMITTED; i++) {
        unfit->execution = i;
        what = add_execution(owner, standing, unit, executions, unfit);
    }
    if (what == PX_SUBMITTED && owner->split == NULL) {
        submit(owner, unit);
        return what;
    }
    px_unit_free(unit); /* the unit is not used: there are several, or none */
    if (owner->split == NULL) {
        px_owner_drop_statement(owner);
        owner->since = 0;
    }
    return what;
}

/* ---- what is under way ---- */

bool px_submitted(const px_owner *owner)
{
    return owner->unit != NULL || owner->split != NULL;
}

void px_submit_withdraw(px_owner *owner)
{
    if (owner->unit != NULL)
        px_batcher_withdraw(owner->worker, owner->unit, owner->unit->ticket);
    if (owner->split != NULL)
        px_split_withdraw(owner);
}

void px_submit_leave(px_owner *owner)
{
    if (owner->unit != NULL) {
        owner->unit->session = NULL;
        px_batcher_withdraw(owner->worker, owner->unit, owner->unit->ticket);
    }
    if (owner->split != NULL)
        px_split_leave(owner);
    owner->unit = NULL;
    px_owner_drop_statement(owner);
}
