/* Two workers on threads of their own, sessions that write, fail, cancel and share keys: every
 * write group comes back once, on its home's thread, and no key is on two links at one time. */
#include "fake_backend.h"

#include <sched.h>
#include <stdatomic.h>

enum { SESSIONS = 12, WRITE_GROUPS = 400, KEYS = 24 };

/* One of a worker's writers, which has one write group at a time. */
typedef struct session {
    px_worker *worker;
    pthread_t thread;
    unsigned random;
    int left;
    px_write_group *write_group;
} session;

static struct {
    session sessions[FAKE_WORKERS][SESSIONS];
    _Atomic int busy;          /* sessions that are not done yet */
    _Atomic int on_link[KEYS]; /* keys of write groups that were written and not answered */
    _Atomic int committed, failed, rerouted;
} stress;

static void must(bool holds)
{
    if (!holds)
        abort(); /* cmocka's asserts belong to its own thread */
}

static void submit_next(session *s);

static void on_done(px_write_group *write_group)
{
    session *s = write_group->session;
    must(s->write_group == write_group && pthread_equal(s->thread, pthread_self()));
    s->write_group = NULL;
    atomic_fetch_add(write_group->outcome == PX_WRITE_GROUP_COMMITTED ? &stress.committed
                     : write_group->outcome == PX_WRITE_GROUP_FAILED  ? &stress.failed
                                                                      : &stress.rerouted,
                     1);
    px_write_group_free(write_group);
    if (--s->left > 0)
        submit_next(s);
    else
        atomic_fetch_sub(&stress.busy, 1);
}

static void submit_next(session *s)
{
    told unused;
    unsigned r = (unsigned)rand_r(&s->random);
    uint64_t key = r % KEYS;
    px_write_group *write_group = rows_write_group(&unused, (uint32_t)(r / 64 % 6), key);
    write_group->home = s->worker;
    write_group->keys[0].hash = key % 5;
    write_group->keys[0].constant = r % 11 != 0;
    write_group->ticket = (uint64_t)(s - &stress.sessions[0][0]) << 32 | (unsigned)s->left;
    write_group->session = s;
    write_group->done = on_done;
    s->write_group = write_group;
    px_batcher_submit(write_group);
    if (r % 5 == 0 && s->write_group == write_group)
        px_batcher_withdraw(s->worker, write_group, write_group->ticket);
}

/* ---- a backend that answers each link's messages, sometimes badly ---- */

/* A row: '(' and the number that is its key. */
static bool begins_row(pgw_slice text, size_t at)
{
    return text.ptr[at] == '(' && text.ptr[at + 1] >= '0' && text.ptr[at + 1] <= '9';
}

static void mark_keys(pgw_slice text, int more)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!begins_row(text, i))
            continue;
        int key = atoi(text.ptr + i + 1);
        int before = atomic_fetch_add(&stress.on_link[key], more);
        must(before == (more > 0 ? 0 : 1));
    }
}

static void answer_query(fake_link *link, pgw_slice text, unsigned random)
{
    static const char *const errors[] = {"E23505 Z", "E55P03 Z", "E40001 Z"};
    if (random % 6 == 0) {
        fake_say(link, errors[random / 6 % 3]);
        return;
    }
    bool merged = text.ptr[0] == 'w';
    for (size_t i = 0; i < text.len; i++)
        if (merged ? i == 0 : begins_row(text, i))
            fake_say(link, "C1");
    fake_say(link, "Z");
}

/* What was written is on the link; then it is answered, and the keys are free. */
static bool serve(fake_link *link, unsigned *random)
{
    pgw_buf sent = link->out;
    if (sent.len == 0)
        return false;
    link->out = (pgw_buf){0};
    for (int pass = 0; pass < 2; pass++) {
        pgw_slice out = pgw_slice_buf(&sent);
        for (pgw_frame frame; pgw_frame_next(out, &frame) == PGW_FRAME_OK;) {
            pgw_slice text = pgw_frame_body(out, frame);
            mark_keys(text, pass == 0 ? 1 : -1);
            if (pass == 1)
                answer_query(link, text, (unsigned)rand_r(random));
            out.ptr += frame.size;
            out.len -= frame.size;
        }
        sched_yield();
    }
    pgw_buf_free(&sent);
    if (rand_r(random) % 100 == 0)
        link->link->ops->on_lost(link->link, "test");
    else
        link->link->ops->on_message(link->link);
    return true;
}

static bool serve_links(px_worker *worker, unsigned *random)
{
    bool any = false;
    for (size_t i = 0;; i++) {
        pthread_mutex_lock(&fake.links_lock);
        fake_link *link = i < fake.link_count ? fake.links[i] : NULL;
        pthread_mutex_unlock(&fake.links_lock);
        if (link == NULL)
            return any;
        if (link->worker != worker || link->closed)
            continue;
        if (!link->ready) {
            fake_be_ready(link);
            any = true;
        }
        if (!link->closed)
            any |= serve(link, random);
    }
}

static void *run_worker(void *argument)
{
    px_worker *worker = argument;
    unsigned random = worker->index + 7;
    for (size_t i = 0; i < SESSIONS; i++) {
        session *s = &stress.sessions[worker->index][i];
        *s = (session){worker, pthread_self(), worker->index * 100 + (unsigned)i, WRITE_GROUPS,
                       NULL};
        submit_next(s);
    }
    while (atomic_load(&stress.busy) > 0 || !px_register_all_idle()) {
        bool any = fake_receive(worker);
        any |= serve_links(worker, &random);
        px_batcher_turn(worker->batcher);
        if (!any)
            sched_yield();
    }
    return NULL;
}

static void test_stress(void **state)
{
    (void)state;
    pthread_t threads[FAKE_WORKERS];
    stress.busy = FAKE_WORKERS * SESSIONS;
    for (size_t i = 0; i < FAKE_WORKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_worker, &fake.workers[i]), 0);
    for (size_t i = 0; i < FAKE_WORKERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(stress.committed + stress.failed + stress.rerouted,
                     FAKE_WORKERS * SESSIONS * WRITE_GROUPS);
    assert_true(stress.committed > 0 && stress.failed > 0 && stress.rerouted > 0);
    fake_turn();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stress, fake_setup, fake_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
