#include "ydb/endpoint/replay.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MOST_PROGRAMS = 1024, MOST_BYTES = 16 * 1024 * 1024, FIRST_ROOM = 8 };

void px_replay_begin(px_replay *replay)
{
    px_replay_forget(replay);
    replay->kept = true;
}

void px_replay_forget(px_replay *replay)
{
    for (size_t i = 0; i < replay->count; i++) {
        rw_program_free(replay->done[i].program);
        pgw_arena_free(&replay->done[i].arena);
    }
    free(replay->done);
    *replay = (px_replay){0};
}

/* ---- what comes of a program ---- */

void px_replay_anew(px_replay *replay)
{
    replay->digest = 0;
}

/* Bytes are added with their length: the digest of "a", "b" is not that of "ab". */
static void add(px_replay *replay, const char *ptr, uint64_t len)
{
    replay->digest = XXH3_64bits_withSeed(&len, sizeof len, replay->digest);
    if (ptr != NULL)
        replay->digest = XXH3_64bits_withSeed(ptr, len, replay->digest);
}

void px_replay_columns(px_replay *replay, pgw_slice columns)
{
    if (replay->kept)
        add(replay, columns.ptr, columns.len);
}

void px_replay_row(px_replay *replay, const pgw_slice *cells, size_t count)
{
    if (!replay->kept)
        return;
    add(replay, NULL, count);
    for (size_t i = 0; i < count; i++)
        add(replay, cells[i].ptr, cells[i].ptr != NULL ? cells[i].len : UINT64_MAX);
}

void px_replay_tag(px_replay *replay, const char *tag)
{
    if (!replay->kept)
        return;
    add(replay, tag, strlen(tag));
    replay->owed = !replay->due;
}

/* ---- what was done ---- */

static px_replayed *make_room(px_replay *replay)
{
    if (replay->count == replay->room) {
        replay->room = replay->room > 0 ? 2 * replay->room : FIRST_ROOM;
        replay->done = pgw_realloc(replay->done, replay->room * sizeof *replay->done);
    }
    return &replay->done[replay->count++];
}

bool px_replay_keep(px_replay *replay, rw_program *program, pgw_arena *arena)
{
    if (!replay->kept)
        return false;
    replay->bytes += arena->bytes + rw_program_bytes(program);
    if (replay->count == MOST_PROGRAMS || replay->bytes > MOST_BYTES) {
        px_replay_forget(replay);
        return false;
    }
    *make_room(replay) = (px_replayed){program, *arena, replay->digest};
    *arena = (pgw_arena){0};
    replay->owed = false;
    return true;
}

void px_replay_rewind(px_replay *replay, const pgw_error *cause)
{
    replay->due = true;
    replay->at = 0;
    replay->cause = *cause;
}

rw_program *px_replay_next(px_replay *replay)
{
    rw_program *program = px_replay_program(replay);
    replay->due = program != NULL;
    px_replay_anew(replay);
    if (program != NULL)
        rw_program_rewind(program);
    return program;
}

bool px_replay_agrees(px_replay *replay)
{
    return replay->done[replay->at++].digest == replay->digest;
}
