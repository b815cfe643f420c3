#include "rewrite/insert/answers.h"

#include "protocol/utf8.h"
#include "rewrite/lex/quote.h"

#include <string.h>

/* A statement that is being filled. */
typedef struct filling {
    const rw_insert *insert;
    const rw_answer *answers; /* the answers to put in; NULL: parameters are put in */
    size_t first;             /* number of the first parameter, where there are no answers */
    pgw_arena *arena;
    pgw_buf text;
    size_t at;   /* offset in the client's text, which is copied up to here */
    size_t next; /* number of the next wanted cell */
    rw_filled *out;
} filling;

static void edit(filling *f, size_t at, size_t removed, size_t begun)
{
    f->out->edits[f->out->count++] = (rw_edit){at, removed, f->text.len - begun};
    f->at = at + removed;
}

static size_t copy_up_to(filling *f, size_t at)
{
    pgw_buf_add(&f->text, f->insert->text.ptr + f->at, at - f->at);
    f->at = at;
    return f->text.len;
}

/* Adds a quoted constant, whose type the column decides as it would for the value itself. */
static void add_value(filling *f, size_t i)
{
    const rw_answer *answer = f->answers != NULL ? &f->answers[i] : NULL;
    if (answer == NULL) {
        f->out->cells[i] = f->text.len;
        pgw_buf_addf(&f->text, "$%zu", f->first + i);
    } else if (answer->null)
        pgw_buf_add_str(&f->text, "NULL");
    else
        rw_add_constant(&f->text, answer->text);
}

static void fill_list(filling *f)
{
    const rw_insert *insert = f->insert;
    size_t begun = copy_up_to(f, insert->list_end);
    for (size_t i = 0; i < insert->appended_count; i++) {
        pgw_buf_add_str(&f->text, ", ");
        rw_add_identifier(&f->text, insert->table->columns[insert->appended[i]].name);
    }
    edit(f, insert->list_end, 0, begun);
}

static void fill_overriding(filling *f)
{
    const rw_insert *insert = f->insert;
    size_t begun = copy_up_to(f, insert->overriding);
    pgw_buf_add_str(&f->text, " OVERRIDING SYSTEM VALUE");
    edit(f, insert->overriding, insert->overriding_end - insert->overriding, begun);
}

/* Which wanted cell of row `row` stands for an appended column; wanted_count: none, the column gets
 * its default. */
static size_t appended_value(const filling *f, size_t row, size_t column)
{
    const rw_insert *insert = f->insert;
    size_t i = f->next;
    while (i < insert->wanted_count && insert->wanted[i].row == row &&
           (insert->wanted[i].column != column || insert->wanted[i].to > 0))
        i++;
    bool found = i < insert->wanted_count && insert->wanted[i].row == row;
    return found ? i : insert->wanted_count;
}

static void add_appended(filling *f, size_t row, const char *comma)
{
    const rw_insert *insert = f->insert;
    for (size_t k = 0; k < insert->appended_count; k++) {
        size_t i = appended_value(f, row, insert->appended[k]);
        pgw_buf_add_str(&f->text, k > 0 ? ", " : comma);
        if (i < insert->wanted_count)
            add_value(f, i);
        else
            pgw_buf_add_str(&f->text, "DEFAULT");
    }
}

/* Fills the cells that the client wrote in a row, in the order of the text. */
static void fill_written(filling *f, size_t row)
{
    const rw_insert *insert = f->insert;
    for (;;) {
        size_t next = insert->wanted_count;
        for (size_t i = f->next; i < insert->wanted_count && insert->wanted[i].row == row; i++)
            if (insert->wanted[i].to > 0 && insert->wanted[i].from >= f->at &&
                (next == insert->wanted_count ||
                 insert->wanted[i].from < insert->wanted[next].from))
                next = i;
        if (next == insert->wanted_count)
            return;
        const rw_wanted *wanted = &insert->wanted[next];
        size_t begun = copy_up_to(f, wanted->from);
        add_value(f, next);
        edit(f, wanted->from, wanted->to - wanted->from, begun);
    }
}

static void fill_row(filling *f, size_t row)
{
    const rw_insert *insert = f->insert;
    fill_written(f, row);
    if (insert->appended_count > 0) {
        size_t begun = copy_up_to(f, insert->rows[row].close);
        add_appended(f, row, ", ");
        edit(f, insert->rows[row].close, 0, begun);
    }
    while (f->next < insert->wanted_count && insert->wanted[f->next].row == row)
        f->next++;
}

static void fill_default_values(filling *f)
{
    const rw_insert *insert = f->insert;
    size_t begun = copy_up_to(f, insert->default_values);
    pgw_buf_add_byte(&f->text, '(');
    for (size_t i = 0; i < insert->appended_count; i++) {
        pgw_buf_add_str(&f->text, i > 0 ? ", " : "");
        rw_add_identifier(&f->text, insert->table->columns[insert->appended[i]].name);
    }
    pgw_buf_addf(&f->text, ") %sVALUES (",
                 insert->overriding > 0 ? "OVERRIDING SYSTEM VALUE " : "");
    add_appended(f, 0, "");
    pgw_buf_add_byte(&f->text, ')');
    edit(f, insert->default_values, insert->default_values_end - insert->default_values, begun);
}

static void fill(filling *f)
{
    const rw_insert *insert = f->insert;
    size_t most = insert->wanted_count + insert->row_count + 2;
    *f->out = (rw_filled){.client = insert->text,
                          .edits = pgw_arena_alloc(f->arena, most * sizeof(rw_edit))};
    if (f->answers == NULL)
        f->out->cells = pgw_arena_alloc(f->arena, insert->wanted_count * sizeof *f->out->cells);
    if (insert->default_values > 0) {
        fill_default_values(f);
    } else {
        if (insert->list_end > 0 && insert->appended_count > 0)
            fill_list(f);
        if (insert->overriding > 0)
            fill_overriding(f);
        for (size_t row = 0; row < insert->row_count; row++)
            fill_row(f, row);
    }
    copy_up_to(f, insert->text.len);
    pgw_buf_add_byte(&f->text, '\0');
    f->out->text = pgw_arena_keep(f->arena, &f->text);
    f->out->text.len--;
}

void rw_fill_parameters(const rw_insert *insert, size_t first, pgw_arena *arena, rw_filled *out)
{
    fill(&(filling){.insert = insert, .first = first, .arena = arena, .out = out});
}

bool rw_fill(const rw_insert *insert, const rw_answer *answers, pgw_arena *arena, rw_filled *out,
             pgw_error *error)
{
    for (size_t i = 0; i < insert->wanted_count; i++)
        if (!rw_answer_check(insert, i, &answers[i], error))
            return false;
    fill(&(filling){.insert = insert, .answers = answers, .arena = arena, .out = out});
    return true;
}

size_t rw_filled_offset(const rw_filled *filled, size_t at)
{
    size_t ours = 0, clients = 0; /* how far the filled text and the client's have come */
    for (size_t i = 0; i < filled->count; i++) {
        const rw_edit *one = &filled->edits[i];
        size_t kept = one->at - clients;
        if (at < ours + kept)
            break;
        if (at < ours + kept + one->added)
            return one->at;
        ours += kept + one->added;
        clients = one->at + one->removed;
    }
    return clients + (at - ours);
}

size_t rw_filled_position(const rw_filled *filled, size_t position, bool utf8)
{
    if (position == 0)
        return 0;
    size_t at = pgw_byte_of(filled->text, position, utf8);
    return pgw_characters(filled->client, rw_filled_offset(filled, at), utf8) + 1;
}

void rw_forgo_constants(rw_insert *insert)
{
    size_t left = 0;
    for (size_t i = 0; i < insert->wanted_count; i++)
        if (!insert->wanted[i].constant)
            insert->wanted[left++] = insert->wanted[i];
    insert->wanted_count = left;
}
