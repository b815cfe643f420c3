/*
 * settle: what a session has on its own link is asked for, not guessed. What is sent there leaves
 * doubt, unless it is proven harmless; before the next write of a configured table the link itself
 * is asked, unseen by the client. Who does not write one is asked nothing.
 */
#ifndef PX_SETTLE_H
#define PX_SETTLE_H

#include "proxy/backend/catalog.h"
#include "proxy/backend/state.h"
#include "proxy/client/statements.h"
#include "rewrite/read/statement.h"

struct px_session;
struct px_reply;
struct px_worker;

/* Of a session. `doubt` and its kin are of rw_effect. */
typedef struct px_state {
    unsigned doubt;   /* what the link was told since it was asked last */
    unsigned here;    /* what it was told in this transaction, whose end may take it back */
    unsigned touched; /* what it was ever told (since DISCARD ALL): no proof that nothing is kept */
    unsigned bound;   /* what the portals do that are none of ours */
    bool known;       /* `now` was answered */
    px_answer now, base; /* the latter: as at the start; empty: not known */
    uint64_t epoch, at;  /* of the catalog that it goes with, 0: of any; px_worker_now() scale */
    const struct cfg_config *config; /* whose tables were asked for */
    unsigned generation;             /* grows when names come to mean others */
    bool odd;                        /* settings that cannot be followed are not as at the start */
    rw_meaning *guess;               /* in doubt: what could be ours is taken for ours */
    size_t guessed;                  /* how many fit */
    bool everything;                 /* what is being asked */
    bool asking;
    bool quiet;      /* the catalog was when it was asked */
    pgw_buf failure; /* the ErrorResponse that came instead */
    bool failed;
    px_foreign parsed;  /* the statement that is being prepared */
    px_foreign unnamed; /* the unnamed one */
    px_foreign by_sql;  /* all that PREPARE made */
    bool moving;        /* one of them, or of the named ones, is */
} px_state;

/* What a text may do that nobody has looked into. */
enum {
    PX_UNREAD = RW_EFFECT_SETTINGS | RW_EFFECT_NAMES | RW_EFFECT_CALLS | RW_EFFECT_RUNS |
                RW_EFFECT_STATE | RW_EFFECT_OUTPUT | RW_EFFECT_WRITES | RW_EFFECT_TRANSACTION
};

/* What is sent to the own link has these effects. */
void px_state_note(struct px_session *session, unsigned effects);
/* A Bind or Execute of something that is none of ours is sent there. `message` may be cut off. */
void px_state_note_bind(struct px_session *session, pgw_slice message);
void px_state_note_execute(struct px_session *session);
/* The statement that a name means, if it is none of ours; NULL: ours, or nothing. */
const px_foreign *px_state_foreign(struct px_session *session, pgw_slice name);
/* Whether a text that is none of ours would be refused or rewritten if names meant all configured
 * tables. */
bool px_state_would_write(const struct px_session *session, pgw_slice text,
                          const px_catalog *catalog);
/* An SQL PREPARE is sent; it may be such a text. */
void px_state_note_prepare(struct px_session *session, pgw_slice text, const px_catalog *catalog);
/* Names came to mean others since this was prepared, and it may write a configured table now:
 * PostgreSQL looks names up again. The error says so. */
bool px_state_has_moved(const struct px_session *session, const px_foreign *foreign,
                        pgw_error *error);
/* A new link: nothing was sent to it. */
void px_state_forget(struct px_session *session);
/* DISCARD ALL was answered. */
void px_state_discard(struct px_session *session);
void px_state_free(px_state *state);
/* ReadyForQuery: a transaction that has ended may have taken back what was answered inside. */
void px_state_ended(struct px_session *session);

/* The view for texts: what names mean, or in doubt that all may be ours. */
void px_state_view(struct px_session *session, const px_catalog *catalog, rw_catalog *view);
/* Whether the view is no guess, and units of this session are what its link would do. False: the
 * session waits, and the message is looked at again. */
bool px_settle(struct px_session *session, const px_catalog *catalog);
/* Once a minute for each kind of session, a link that nothing was done on is asked, so that others
 * of its kind need no link to write. False: the session waits. */
bool px_settle_kind(struct px_session *session, const px_catalog *catalog);
/* Whether nothing was ever sent to the link that cannot be made again elsewhere. */
bool px_state_is_replaceable(const struct px_session *session);

/* The link's answers: its row, its end, an error in their place. */
void px_settle_row(struct px_session *session, pgw_slice body);
void px_settle_answered(struct px_session *session);
void px_settle_failed(struct px_session *session, pgw_slice body);
/* An error before it in a group without Sync: the question is skipped. */
void px_settle_skipped(struct px_session *session);
/* ReadyForQuery of the question. True: it failed, the message at hand was answered with the error,
 * and ReadyForQuery is the client's. */
bool px_settle_ready(struct px_session *session);

#endif
