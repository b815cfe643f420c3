#include "tests/ydb_endpoint/faults.h"

#include <string.h>
#include <strings.h>

static const char *const kinds[] = {[YE_FAULT_ANSWER] = "answer",
                                    [YE_FAULT_ANSWER_DONE] = "answer_done",
                                    [YE_FAULT_STALL] = "stall",
                                    [YE_FAULT_DROP_BEFORE] = "drop_before_commit",
                                    [YE_FAULT_DROP_AFTER] = "drop_after_commit",
                                    [YE_FAULT_COMMIT_LATE] = "commit_late"};

bool ye_fault_named(const char *name, ye_fault *fault)
{
    fault->kind = YE_FAULT_ANSWER;
    fault->status = ye_status_named(name);
    if (fault->status != YE_SUCCESS)
        return true;
    for (int i = YE_FAULT_STALL; i <= YE_FAULT_COMMIT_LATE; i++)
        if (strcmp(kinds[i], name) == 0) {
            fault->kind = (ye_fault_kind)i;
            return true;
        }
    return false;
}

bool ye_faults_order(ye_faults *faults, const ye_fault *fault)
{
    pthread_mutex_lock(&faults->lock);
    bool room = faults->count < sizeof faults->orders / sizeof *faults->orders;
    if (room)
        faults->orders[faults->count++] = *fault;
    pthread_mutex_unlock(&faults->lock);
    return room;
}

void ye_faults_clear(ye_faults *faults)
{
    pthread_mutex_lock(&faults->lock);
    faults->count = 0;
    pthread_mutex_unlock(&faults->lock);
}

void ye_faults_write(ye_faults *faults, pgw_buf *out)
{
    pgw_buf_add_byte(out, '[');
    pthread_mutex_lock(&faults->lock);
    for (size_t i = 0; i < faults->count; i++) {
        const ye_fault *order = &faults->orders[i];
        pgw_buf_addf(out, "%s{\"fault\": \"%s\", \"seen\": %ld, \"done\": %ld}", i == 0 ? "" : ", ",
                     order->status != YE_SUCCESS ? ye_status_name(order->status)
                                                 : kinds[order->kind],
                     order->seen, order->done);
    }
    pthread_mutex_unlock(&faults->lock);
    pgw_buf_add_str(out, "]\n");
}

static bool may_strike(const ye_fault *order, pgw_slice text, bool commits)
{
    const size_t length = strlen(order->begins);
    return (commits || order->kind < YE_FAULT_DROP_BEFORE) && text.len >= length &&
           strncasecmp(text.ptr, order->begins, length) == 0;
}

static bool strikes_now(const ye_fault *order)
{
    const long over = order->seen - order->statement;
    if (order->times > 0 && order->done == order->times)
        return false;
    return over == 0 || (order->every > 0 && over > 0 && over % order->every == 0);
}

bool ye_faults_next(ye_faults *faults, pgw_slice text, bool commits, ye_fault *fault)
{
    bool found = false;
    pthread_mutex_lock(&faults->lock);
    for (size_t i = 0; i < faults->count; i++) {
        ye_fault *order = &faults->orders[i];
        if (!may_strike(order, text, commits))
            continue;
        order->seen++;
        if (found || !strikes_now(order))
            continue;
        order->done++;
        *fault = *order;
        found = true;
    }
    pthread_mutex_unlock(&faults->lock);
    return found;
}
