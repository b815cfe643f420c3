#include "proxy/ingest/submit.h"

#include "proxy/ingest/lifted.h"
#include "proxy/ingest/split.h"
#include "proxy/ingest/write_groups.h"
#include "rewrite/insert/render.h"
#include "rewrite/statement/script/script.h"

#include <string.h>

/* ---- the outcome ---- */

static void answer(px_submitter *submitter, const px_write_group *write_group)
{
    bool failed = write_group->outcome == PX_WRITE_GROUP_FAILED;
    px_outcome outcome = {.statements = write_group->statements,
                          .statement_count = write_group->statement_count,
                          .completed =
                              failed ? write_group->completed : write_group->statement_count,
                          .notices = pgw_slice_buf(&write_group->notices),
                          .returned = pgw_slice_buf(&write_group->returned)};
    if (failed) {
        outcome.error = pgw_slice_buf(&write_group->error);
        outcome.kind = px_classify(outcome.error);
        outcome.failure = write_group->failure;
    }
    if (submitter->ops->answered(submitter, &outcome) && failed)
        px_submitter_note_failure(submitter, write_group);
}

static void on_done(px_write_group *write_group)
{
    px_submitter *submitter = write_group->session;
    if (submitter != NULL) { /* NULL: the client has left */
        submitter->write_group = NULL;
        if (submitter->text != NULL &&
            (write_group->outcome != PX_WRITE_GROUP_COMMITTED || write_group->notices.len > 0))
            px_text_read(submitter->worker, submitter->text, &write_group->identity->env);
        px_submitter_note_time(submitter, write_group);
        px_submitter_note_locks(submitter, write_group);
        submitter->rerouted =
            submitter->rerouted || write_group->outcome == PX_WRITE_GROUP_REROUTED;
        if (write_group->outcome == PX_WRITE_GROUP_REROUTED)
            submitter->ops->rerouted(submitter);
        else
            answer(submitter, write_group);
        px_submitter_drop_statement(submitter);
    }
    px_write_group_free(write_group);
}

static void submit(px_submitter *submitter, px_write_group *write_group)
{
    submitter->write_group = write_group;
    write_group->done = on_done;
    px_batcher_submit(write_group);
}

/* ---- text ---- */

void px_submit_script(px_submitter *submitter, const px_standing *standing, px_text *text)
{
    if (px_split_script(submitter, standing, text))
        return;
    px_write_group *write_group = px_write_group_of_text(submitter, standing, text, (px_chosen){0});
    const px_plan *plan = px_lift(submitter->worker, text, write_group);
    px_template_learn(submitter->worker, text, write_group, plan);
    px_text_take(text);
    submitter->text = text;
    submit(submitter, write_group);
}

bool px_submit_alike(px_submitter *submitter, const px_standing *standing, px_likeness *of,
                     const px_alike_asked *asked, const pgw_env *env)
{
    px_text *text;
    px_write_group *write_group = px_alike_write_group(submitter, standing, of, env, asked, &text);
    if (write_group == NULL)
        return false;
    submitter->text = text;
    submit(submitter, write_group);
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

static px_submission add_bound(px_submitter *submitter, px_write_group *write_group,
                               px_execution execution, const px_bound *bound, pgw_error *error)
{
    if (!px_write_group_add_bound(write_group, execution, bound, error))
        return PX_SUBMIT_REFUSED;
    if (write_group->prepared_count > submitter->plan_count)
        px_submitter_add_plan(submitter, execution.plan);
    return PX_SUBMITTED;
}

/* A lone statement that makes a key twice is prepared without the rows that do not count. */
static px_submission add_good(px_submitter *submitter, px_write_group *write_group,
                              px_execution execution, bool alone, const px_bound *bound,
                              pgw_error *error)
{
    px_plan *less = px_plan_for_bind(execution.plan, bound->keys);
    if (less != NULL && alone)
        execution.plan = less;
    px_submission what = less != NULL && !alone
                             ? PX_SUBMIT_ON_LINK
                             : add_bound(submitter, write_group, execution, bound, error);
    px_plan_drop(less);
    return what;
}

static px_submission add_execution(px_submitter *submitter, const px_standing *standing,
                                   px_write_group *write_group, const px_executions *executions,
                                   px_unfit *unfit)
{
    px_execution execution = executions->all[unfit->execution];
    bool alone = executions->count == 1;
    px_bound bound;
    pgw_error error;
    if (!px_bind_keys(submitter->worker, execution.plan, execution.bind, &standing->identity->env,
                      &write_group->arena, &bound)) {
        /* The INSERT may be sent to the server to fail, which may find another error first. */
        bool earlier = rw_insert_may_fail(execution.plan->insert);
        return refuse(&bound.error, alone && !earlier, unfit);
    }
    if (alone && px_split_bound(submitter, standing, &execution, bound.keys))
        return PX_SUBMITTED;
    px_submission what = add_good(submitter, write_group, execution, alone, &bound, &error);
    return what == PX_SUBMIT_REFUSED ? refuse(&error, alone, unfit) : what;
}

static size_t count_rows(const px_executions *executions)
{
    size_t rows = 0;
    for (size_t i = 0; i < executions->count; i++)
        rows += executions->all[i].plan->insert->row_count;
    return rows;
}

px_submission px_submit_bound(px_submitter *submitter, const px_standing *standing,
                              const px_executions *executions, px_unfit *unfit)
{
    px_write_group *write_group = px_write_group_of_plan(
        submitter, standing, executions->all[0].plan, executions->count, count_rows(executions));
    px_submission what = PX_SUBMITTED;
    for (size_t i = 0; i < executions->count && what == PX_SUBMITTED; i++) {
        unfit->execution = i;
        what = add_execution(submitter, standing, write_group, executions, unfit);
    }
    if (what == PX_SUBMITTED && submitter->split == NULL) {
        submit(submitter, write_group);
        return what;
    }
    px_write_group_free(write_group); /* the write group is not used: there are several, or none */
    if (submitter->split == NULL) {
        px_submitter_drop_statement(submitter);
        submitter->since = 0;
    }
    return what;
}

/* ---- what is under way ---- */

bool px_submitted(const px_submitter *submitter)
{
    return submitter->write_group != NULL || submitter->split != NULL;
}

void px_submit_withdraw(px_submitter *submitter)
{
    if (submitter->write_group != NULL)
        px_batcher_withdraw(submitter->worker, submitter->write_group,
                            submitter->write_group->ticket);
    if (submitter->split != NULL)
        px_split_withdraw(submitter);
}

void px_submit_leave(px_submitter *submitter)
{
    if (submitter->write_group != NULL) {
        submitter->write_group->session = NULL;
        px_batcher_withdraw(submitter->worker, submitter->write_group,
                            submitter->write_group->ticket);
    }
    if (submitter->split != NULL)
        px_split_leave(submitter);
    submitter->write_group = NULL;
    px_submitter_drop_statement(submitter);
}
