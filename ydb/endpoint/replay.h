/*
 * replay: the programs that were run in a group's transaction, to be run once more if YDB takes the
 * transaction back, with a digest of each one's results. The new results must be the same, for the
 * client may have seen the old ones.
 */
#ifndef PX_YDB_REPLAY_H
#define PX_YDB_REPLAY_H

#include "ydb/plain/program.h"

typedef struct px_replayed {
    rw_program *program;
    pgw_arena arena; /* memory of the program's text */
    uint64_t digest; /* digest of the program's columns, rows and tag */
} px_replayed;

/* All zero: no transaction is kept. */
typedef struct px_replay {
    bool kept;         /* all programs of the transaction are kept; false: none, or too many */
    bool owed;         /* the program that ran last has not been handed over yet */
    bool due;          /* the transaction is being done once more, from the program `at` on */
    px_replayed *done; /* the programs, in the order in which they ran */
    size_t count, room, at;
    size_t bytes;    /* memory of programs and arenas */
    uint64_t digest; /* digest of what has come of the program that runs */
    pgw_error cause; /* why the transaction is done once more */
} px_replay;

/* A transaction begins, and all its programs are kept from now on. */
void px_replay_begin(px_replay *replay);
void px_replay_forget(px_replay *replay);

/* Adds the results of the program that runs to its digest: columns, if it has any, rows and tag. */
void px_replay_anew(px_replay *replay);
void px_replay_columns(px_replay *replay, pgw_slice columns);
void px_replay_row(px_replay *replay, const pgw_slice *cells, size_t count);
void px_replay_tag(px_replay *replay, const char *tag); /* the program has ended */

/* Takes over the program that ran last, and the memory of its text. False: nothing is kept, and
 * both stay the caller's. */
PGW_MUST_CHECK bool px_replay_keep(px_replay *replay, rw_program *program, pgw_arena *arena);

/* YDB has taken the transaction back: all of it is due once more. */
void px_replay_rewind(px_replay *replay, const pgw_error *cause);
/* The program to be run next, from its first step on; NULL: all were, and none is due any more. */
PGW_MUST_CHECK rw_program *px_replay_next(px_replay *replay);
/* The program that was run once more has ended. False: its results are not those of before. */
PGW_MUST_CHECK bool px_replay_agrees(px_replay *replay);

/* Whether the transaction can be done once more without leaving anything out. */
static inline bool px_replay_is_whole(const px_replay *replay)
{
    return replay->kept && !replay->owed;
}

/* The program that is being run once more; NULL: none is. */
static inline rw_program *px_replay_program(const px_replay *replay)
{
    return replay->due && replay->at < replay->count ? replay->done[replay->at].program : NULL;
}

#endif
