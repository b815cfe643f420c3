#include "protocol/options.h"

#include <string.h>

#define BLANKS " \t\n\r\f\v"

/* PostgreSQL 15's process_postgres_switches(); those with a colon take a value. */
#define SWITCHES "B:bc:C:D:d:EeFf:h:ijk:lN:nOPp:r:S:sTt:v:W:-:"

static bool is_blank(char c)
{
    return c != '\0' && strchr(BLANKS, c) != NULL;
}

/* Takes the next word, without its escapes, in `word`; false: there is none. */
static bool take_word(pgw_slice *rest, pgw_buf *word)
{
    pgw_buf_clear(word);
    while (rest->len > 0 && is_blank(rest->ptr[0]))
        *rest = (pgw_slice){rest->ptr + 1, rest->len - 1};
    if (rest->len == 0)
        return false;
    bool escaped = false;
    size_t i = 0;
    for (; i < rest->len && (escaped || !is_blank(rest->ptr[i])); i++) {
        escaped = !escaped && rest->ptr[i] == '\\';
        if (!escaped)
            pgw_buf_add_byte(word, rest->ptr[i]);
    }
    *rest = (pgw_slice){rest->ptr + i, rest->len - i};
    return true;
}

static void add_escaped(pgw_slice text, pgw_buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        if (is_blank(text.ptr[i]) || text.ptr[i] == '\\')
            pgw_buf_add_byte(out, '\\');
        pgw_buf_add_byte(out, text.ptr[i]);
    }
}

static void add_word(pgw_slice word, pgw_buf *out)
{
    if (out->len > 0)
        pgw_buf_add_byte(out, ' ');
    add_escaped(word, out);
}

typedef enum word_kind {
    WHOLE,
    HALF, /* the word is a switch whose value is the next word */
    END,  /* the word ends the switches */
    WRONG
} word_kind;

static word_kind kind_of(pgw_slice word)
{
    if (word.len < 2 || word.ptr[0] != '-')
        return WRONG;
    if (pgw_slice_eq_str(word, "--"))
        return END;
    for (size_t i = 1; i < word.len; i++) {
        const char *known =
            word.ptr[i] != ':' && word.ptr[i] != '\0' ? strchr(SWITCHES, word.ptr[i]) : NULL;
        if (known == NULL)
            return WRONG;
        if (known[1] == ':') /* the rest of the word is the switch's value */
            return i + 1 < word.len ? WHOLE : HALF;
    }
    return WHOLE;
}

/* Writes the words; false as pgw_options_add() has it. */
static bool add_words(pgw_slice rest, pgw_buf *word, pgw_buf *out)
{
    while (take_word(&rest, word)) {
        word_kind kind = kind_of(pgw_slice_buf(word));
        if (kind == WRONG || (kind == END && take_word(&rest, word)))
            return false;
        if (kind == END)
            return true;
        add_word(pgw_slice_buf(word), out);
        if (kind == HALF && (!take_word(&rest, word) || word->len == 0))
            return false;
        if (kind == HALF)
            add_word(pgw_slice_buf(word), out);
    }
    return true;
}

bool pgw_options_add(pgw_slice text, pgw_buf *out)
{
    pgw_buf word = {0};
    size_t before = out->len;
    bool good = add_words(text, &word, out);
    if (!good) {
        out->len = before;
        pgw_buf_add_str(out, before > 0 ? " " : "");
        pgw_buf_add_slice(out, text);
    }
    pgw_buf_free(&word);
    return good;
}

void pgw_options_set(pgw_slice name, pgw_slice value, pgw_buf *out)
{
    pgw_buf_add_str(out, out->len > 0 ? " -c " : "-c ");
    add_escaped(name, out);
    pgw_buf_add_byte(out, '=');
    add_escaped(value, out);
}
