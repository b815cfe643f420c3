/*
 * words: a reader of SQL for tests of the server's half: statements are cut at every semicolon and
 * known by their first word. A first word that there is none of is a syntax error.
 */
#ifndef TESTS_WORDS_H
#define TESTS_WORDS_H

#include "protocol/server/command.h"

#include <string.h>
#include <strings.h>

typedef struct known_word {
    const char *word;
    pgw_command command;
} known_word;

static inline bool words_begin_with(pgw_slice text, const char *word)
{
    size_t len = strlen(word);
    return text.len >= len && strncasecmp(text.ptr, word, len) == 0 &&
           (text.len == len || text.ptr[len] == ' ');
}

static inline bool words_command(pgw_slice text, pgw_command *command)
{
    static const known_word words[] = {
        {"select", PGW_COMMAND_READ},
        {"values", PGW_COMMAND_READ},
        {"show", PGW_COMMAND_READ},
        {"explain", PGW_COMMAND_READ},
        {"insert", PGW_COMMAND_WRITE},
        {"update", PGW_COMMAND_WRITE},
        {"delete", PGW_COMMAND_WRITE},
        {"create", PGW_COMMAND_WRITE},
        {"drop", PGW_COMMAND_WRITE},
        {"vacuum", PGW_COMMAND_ALONE},
        {"begin", PGW_COMMAND_BEGIN},
        {"start", PGW_COMMAND_START},
        {"commit", PGW_COMMAND_COMMIT},
        {"end", PGW_COMMAND_COMMIT},
        {"rollback to", PGW_COMMAND_ROLLBACK_TO},
        {"rollback", PGW_COMMAND_ROLLBACK},
        {"abort", PGW_COMMAND_ROLLBACK},
        {"savepoint", PGW_COMMAND_SAVEPOINT},
        {"release", PGW_COMMAND_RELEASE},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words_begin_with(text, words[i].word)) {
            *command = words[i].command;
            return true;
        }
    }
    return false;
}

static inline pgw_slice words_trim(pgw_slice text)
{
    while (text.len > 0 && strchr(" \n\t", text.ptr[0]) != NULL)
        text = (pgw_slice){text.ptr + 1, text.len - 1};
    while (text.len > 0 && strchr(" \n\t", text.ptr[text.len - 1]) != NULL)
        text.len--;
    return text;
}

static inline bool words_add(pgw_slice text, pgw_piece *piece, pgw_error *error)
{
    *piece = (pgw_piece){.text = text};
    if (!words_command(text, &piece->command))
        return pgw_fail(error, "42601", "syntax error at or near \"%.*s\"", (int)(text.len % 100),
                        text.ptr);
    piece->chain = piece->command >= PGW_COMMAND_COMMIT && text.len > 9 &&
                   strncasecmp(text.ptr + text.len - 9, "and chain", 9) == 0;
    return true;
}

/* A pgw_cut. */
static inline bool words_cut(void *data, pgw_slice text, pgw_arena *arena, pgw_script *out,
                             pgw_error *error)
{
    (void)data;
    size_t most = 1;
    for (size_t i = 0; i < text.len; i++)
        most += text.ptr[i] == ';';
    pgw_piece *pieces = pgw_arena_alloc(arena, most * sizeof *pieces);
    *out = (pgw_script){.pieces = pieces};
    for (const char *at = text.ptr, *end = text.ptr + text.len; at <= end && text.len > 0;) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        pgw_slice piece = words_trim((pgw_slice){at, (size_t)(stop - at)});
        if (piece.len > 0 && !words_add(piece, &pieces[out->count++], error))
            return false;
        at = stop + 1;
    }
    return true;
}

#endif
