/*
 * replay: what was done in the transaction of a group of statements, to be done once more if YDB
 * takes it back: the programs, and of all that came of each a digest. What comes of them then must
 * be the same, for the client may have seen it.
 */
#ifndef PX_YDB_REPLAY_H
#define PX_YDB_REPLAY_H

#include "ydb/plain/program.h"

typedef struct px_replayed {
    rw_program *program;
    pgw_arena arena; /* of its text */
    uint64_t digest;
} px_replayed;

/* All zero: there is none. */
typedef struct px_replay {
    bool kept;         /* all that was done is here; it is not, if that was too much, … */
    bool owed;         /* … but for the last program, which is not handed over yet */
    bool due;          /* it is to be done once more, from the program `at` on */
    px_replayed *done; /* in order */
    size_t count, room, at;
    size_t bytes;    /* of programs and arenas */
    uint64_t digest; /* of the program that runs */
    pgw_error cause; /* for which it is done once more */
} px_replay;

/* A transaction was begun, of which all is kept. */
void px_replay_begin(px_replay *replay);
void px_replay_forget(px_replay *replay);

/* What comes of the program that runs; it begins with its columns, if it has any. */
void px_replay_anew(px_replay *replay);
void px_replay_columns(px_replay *replay, pgw_slice columns);
void px_replay_row(px_replay *replay, const pgw_slice *cells, size_t count);
void px_replay_tag(px_replay *replay, const char *tag); /* … through */

/* The program that ran last is through. Takes it over, and the memory of its text; false: it
 * does not, for nothing is kept. */
PGW_MUST_CHECK bool px_replay_keep(px_replay *replay, rw_program *program, pgw_arena *arena);

/* The transaction was taken back. */
void px_replay_rewind(px_replay *replay, const pgw_error *cause);
/* The program to be done next, from its first step on; NULL: all were, and none is due any more. */
PGW_MUST_CHECK rw_program *px_replay_next(px_replay *replay);
/* It is through. False: something else has come of it than before. */
PGW_MUST_CHECK bool px_replay_agrees(px_replay *replay);

/* Nothing of it would be left out. */
static inline bool px_replay_is_whole(const px_replay *replay)
{
    return replay->kept && !replay->owed;
}

/* The program that is being done once more; NULL: none is. */
static inline rw_program *px_replay_program(const px_replay *replay)
{
    return replay->due && replay->at < replay->count ? replay->done[replay->at].program : NULL;
}

#endif
