/*
 * phrases: what many transcripts say word for word, by a name. A line "@ name a 1" of a transcript
 * stands for the lines of that phrase in tests/vectors/conversations/phrases, with the parties `a`
 * and `1` instead of those of the phrase, in their order, which is that in which they first say
 * something there.
 */
#ifndef TEST_PHRASES_H
#define TEST_PHRASES_H

#include "tests/proxy/parties.h"

enum { PHRASES = 64, PHRASE_LINES = 128, PHRASE_PARTIES = 8 };

typedef struct phrase {
    char name[64], parties[PHRASE_PARTIES + 1];
    char *lines[PHRASE_LINES];
    size_t count;
} phrase;

static struct {
    phrase all[PHRASES];
    size_t count;
    char *text;
} phrases;

/* The text of a file; to be freed. */
static char *read_text(const char *path)
{
    size_t size = 0;
    char *text = NULL;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    return text;
}

/* The line at `*at`, without its end; `*at` is then behind it. */
static char *cut_line(char **at)
{
    char *line = *at;
    *at += strcspn(*at, "\n");
    if (**at == '\n')
        *(*at)++ = '\0';
    return line;
}

/* "@ name a 1" becomes "name" and "a1". */
static void read_call(const char *line, char *name, char *parties)
{
    int used = 0;
    assert_int_equal(sscanf(line, "@ %63s%n", name, &used), 1);
    for (line += used; *line != '\0'; line += 2) {
        assert_true(line[0] == ' ' && line[1] != '\0' && strlen(parties) < PHRASE_PARTIES);
        strncat(parties, line + 1, 1);
    }
}

/* What stands in front of the first phrase is about the file. */
static void read_phrases(const char *path)
{
    memset(&phrases, 0, sizeof phrases);
    phrases.text = read_text(path);
    for (char *at = phrases.text; *at != '\0';) {
        char *line = cut_line(&at);
        phrase *last = phrases.count > 0 ? &phrases.all[phrases.count - 1] : NULL;
        if (line[0] == '@') {
            assert_true(phrases.count < PHRASES);
            last = &phrases.all[phrases.count++];
            read_call(line, last->name, last->parties);
        } else if (last != NULL && line[0] != '#') {
            assert_true(last->count < PHRASE_LINES);
            last->lines[last->count++] = line;
        }
    }
    for (phrase *p = phrases.all; p < phrases.all + phrases.count; p++)
        while (p->count > 0 && p->lines[p->count - 1][0] == '\0')
            p->count--;
}

static void free_phrases(void)
{
    free(phrases.text);
}

static const phrase *phrase_named(const char *name)
{
    const phrase *p = phrases.all;
    while (p < phrases.all + phrases.count && strcmp(p->name, name) != 0)
        p++;
    if (p == phrases.all + phrases.count)
        fail_msg("there is no phrase %s", name);
    return p;
}

/* The lines that "@ name a 1" stands for. */
static void say_phrase(const char *call, pgw_buf *out)
{
    char name[64], parties[PHRASE_PARTIES + 1] = "";
    read_call(call, name, parties);
    const phrase *p = phrase_named(name);
    assert_int_equal(strlen(parties), strlen(p->parties));
    for (size_t i = 0; i < p->count; i++) {
        const char *line = p->lines[i];
        const char *of = line[0] != '\0' ? strchr(p->parties, line[0]) : NULL;
        if (of != NULL)
            pgw_buf_add_byte(out, parties[of - p->parties]);
        pgw_buf_addf(out, "%s\n", of != NULL ? line + 1 : line);
    }
}

/* Whether the lines are those of the phrase, as said by `parties`, which are found out. */
static bool is_phrase(const phrase *p, char *const *lines, size_t count, char *parties)
{
    memset(parties, '\0', PHRASE_PARTIES + 1);
    for (size_t i = 0; i < p->count; i++) {
        const char *of = p->lines[i][0] != '\0' ? strchr(p->parties, p->lines[i][0]) : NULL;
        if (i >= count ||
            strcmp(lines[i] + (of != NULL && lines[i][0] != '\0'), p->lines[i] + (of != NULL)) != 0)
            return false;
        if (of == NULL)
            continue;
        char *who = &parties[of - p->parties];
        if (*who == '\0' && strchr(parties, lines[i][0]) == NULL)
            *who = lines[i][0];
        if (*who != lines[i][0])
            return false;
    }
    return true;
}

/* Prints a transcript with phrases instead of their lines; of several that fit, the first of the
 * file. */
static void print_short(char *text)
{
    size_t count = 0, max = 1;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        max++;
    char **lines = pgw_calloc(max, sizeof *lines);
    for (char *at = text; *at != '\0';)
        lines[count++] = cut_line(&at);
    for (size_t i = 0; i < count;) {
        const phrase *p = phrases.all;
        char parties[PHRASE_PARTIES + 1];
        while (p < phrases.all + phrases.count && !is_phrase(p, lines + i, count - i, parties))
            p++;
        if (p == phrases.all + phrases.count) {
            printf("%s\n", lines[i++]);
            continue;
        }
        printf("@ %s", p->name);
        for (const char *who = parties; *who != '\0'; who++)
            printf(" %c", *who);
        printf("\n");
        i += p->count;
    }
    free(lines);
}

#endif
