/*
 * words: a reader of SQL for tests of the server's half: statements are cut at every semicolon and
 * known by their first word. A first word that there is none of is a syntax error. Of orders:
 * prepare NAME [OID …] as TEXT, execute NAME [ARGUMENT …], deallocate NAME|all, declare NAME
 * [binary] cursor for TEXT, fetch|move ROWS|all NAME, close NAME|all, discard all|plans; "scroll"
 * in any is refused (0A000).
 */
#ifndef TESTS_WORDS_H
#define TESTS_WORDS_H

#include "ydb/server/command.h"

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
        {"set", PGW_COMMAND_SESSION},
        {"get", PGW_COMMAND_SESSION},
        {"prepare", PGW_COMMAND_PREPARE},
        {"execute", PGW_COMMAND_EXECUTE},
        {"deallocate", PGW_COMMAND_DEALLOCATE},
        {"declare", PGW_COMMAND_DECLARE},
        {"fetch", PGW_COMMAND_FETCH},
        {"move", PGW_COMMAND_MOVE},
        {"close", PGW_COMMAND_CLOSE},
        {"discard", PGW_COMMAND_DISCARD},
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

/* The next word of the rest, which moves on. */
static inline pgw_slice words_next(pgw_slice *rest)
{
    *rest = words_trim(*rest);
    size_t len = 0;
    while (len < rest->len && rest->ptr[len] != ' ')
        len++;
    pgw_slice word = {rest->ptr, len};
    *rest = (pgw_slice){rest->ptr + len, rest->len - len};
    return word;
}

static inline uint32_t words_number(pgw_slice word)
{
    uint32_t number = 0;
    for (size_t i = 0; i < word.len && word.ptr[i] >= '0' && word.ptr[i] <= '9'; i++)
        number = number * 10 + (uint32_t)(word.ptr[i] - '0');
    return number;
}

/* What is behind the name: types up to "as", arguments, "binary", a query behind "for". */
static inline void words_order_rest(pgw_slice rest, pgw_command command, pgw_arena *arena,
                                    pgw_order *out)
{
    uint32_t *types = pgw_arena_alloc(arena, rest.len * sizeof *types + 1);
    pgw_slice *arguments = pgw_arena_alloc(arena, rest.len * sizeof *arguments + 1);
    for (pgw_slice word; (word = words_next(&rest)).len > 0;) {
        out->binary = out->binary || pgw_slice_eq_str(word, "binary");
        if (pgw_slice_eq_str(word, "as") || pgw_slice_eq_str(word, "for")) {
            out->text = words_trim(rest);
            break;
        }
        if (command == PGW_COMMAND_PREPARE)
            types[out->count++] = words_number(word);
        if (command == PGW_COMMAND_EXECUTE)
            arguments[out->count++] = word;
    }
    out->types = types;
    out->arguments = arguments;
}

static inline const pgw_order *words_order(pgw_slice text, pgw_command command, pgw_arena *arena)
{
    pgw_order *out = pgw_arena_alloc(arena, sizeof *out);
    pgw_error *refusal = pgw_arena_alloc(arena, sizeof *refusal);
    pgw_slice rest = text;
    words_next(&rest);
    if (command == PGW_COMMAND_FETCH || command == PGW_COMMAND_MOVE)
        out->rows = words_number(words_next(&rest));
    pgw_slice name = words_next(&rest);
    out->all = pgw_slice_eq_str(name, "all");
    out->name = out->all ? (pgw_slice){NULL, 0} : name;
    words_order_rest(rest, command, arena, out);
    if (!words_command(out->text, &out->command))
        out->command = PGW_COMMAND_READ;
    if (pgw_slice_eq_str(rest, " scroll")) {
        pgw_fail(refusal, "0A000", "no");
        out->refusal = refusal;
    }
    return out;
}

static inline bool words_add(pgw_slice text, pgw_arena *arena, pgw_piece *piece, pgw_error *error)
{
    *piece = (pgw_piece){.text = text};
    if (!words_command(text, &piece->command))
        return pgw_fail(error, "42601", "syntax error at or near \"%.*s\"", (int)(text.len % 100),
                        text.ptr);
    if (pgw_command_has_order(piece->command))
        piece->order = words_order(text, piece->command, arena);
    if (pgw_command_is_savepoint(piece->command)) {
        pgw_slice rest = text;
        for (pgw_slice word; (word = words_next(&rest)).len > 0;)
            piece->name = word; /* the last one */
    }
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
        if (piece.len > 0 && !words_add(piece, arena, &pieces[out->count++], error))
            return false;
        at = stop + 1;
    }
    return true;
}

#endif
