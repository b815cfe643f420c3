#include "rewrite/statement/define/define_key.h"

#include "protocol/utf8.h"
#include "rewrite/hash/hash_column.h"
#include "rewrite/lex/quote.h"

#include <string.h>

/* --- what is said --- */

bool rw_define_refuse(rw_definer *it, int32_t location, const char *hint)
{
    pgw_error_hint(it->error, "%s", hint);
    if (location >= 0)
        it->error->position = pgw_characters(it->text, (size_t)location, it->env->utf8) + 1;
    return false;
}

const char *rw_define_hash(const rw_table *table)
{
    return table->columns[table->hash_column].name;
}

/* --- tables --- */

const rw_table *rw_define_table(const rw_catalog *catalog, const PgQuery__RangeVar *relation)
{
    bool temporary = relation->relpersistence != NULL && relation->relpersistence[0] == 't';
    return temporary ? NULL
                     : rw_catalog_find(catalog, pgw_slice_str(relation->schemaname),
                                       pgw_slice_str(relation->relname));
}

const rw_table *rw_define_altered(const rw_catalog *catalog, const PgQuery__RangeVar *name)
{
    const rw_table *table = rw_define_table(catalog, name);
    bool made = catalog->planned->moved;
    if (table == NULL)
        return made ? rw_define_table(catalog->planned, name) : NULL;
    bool lacks = table->oid != 0 && table->columns[table->hash_column].attnum == 0;
    return lacks && !made ? NULL : table;
}

/* Whether it is known where a table is made by its name alone. */
static bool has_place(const rw_catalog *planned)
{
    return planned->unqualified == NULL || planned->unqualified[0] != RW_MEANS_UNKNOWN;
}

bool rw_define_is_sure(const rw_catalog *catalog, const rw_table *table,
                       const PgQuery__RangeVar *name)
{
    if (name->schemaname[0] != '\0' || catalog->unqualified == NULL)
        return true;
    for (size_t i = 0; i < catalog->count; i++)
        if (catalog->tables[i] == table && catalog->unqualified[i] == RW_MEANS_OURS)
            return true;
    return catalog->planned->moved && has_place(catalog->planned);
}

/* --- tokens --- */

static rw_lexer lexer_at(const rw_definer *it, size_t at)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, it->text, it->env->conforming);
    lexer.at = at;
    return lexer;
}

static bool is(const rw_definer *it, rw_token token, const char *word)
{
    return rw_token_is(it->text, token, word);
}

static bool is_sign(const rw_definer *it, rw_token token, char sign)
{
    return token.kind == RW_TOKEN_CHAR && it->text.ptr[token.start] == sign;
}

static bool at_end(rw_token token)
{
    return token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD;
}

void rw_define_skip(const rw_definer *it, rw_lexer *lexer, size_t *before)
{
    size_t depth = 0;
    for (rw_token token = rw_lexer_next(lexer); !at_end(token); token = rw_lexer_next(lexer)) {
        if (is_sign(it, token, '('))
            depth++;
        else if (is_sign(it, token, ')') && --depth == 0)
            return;
        *before = token.end;
    }
}

static size_t behind_name(const rw_definer *it, const PgQuery__RangeVar *name)
{
    rw_lexer lexer = lexer_at(it, (size_t)name->location), ahead;
    size_t end = rw_lexer_next(&lexer).end;
    for (ahead = lexer; is_sign(it, rw_lexer_next(&ahead), '.'); ahead = lexer) {
        end = rw_lexer_next(&ahead).end;
        lexer = ahead;
    }
    return end;
}

/* Skips the next of a key's options; false: there is none. */
static bool skip_option(const rw_definer *it, rw_lexer *lexer)
{
    size_t before;
    rw_lexer ahead = *lexer;
    rw_token word = rw_lexer_next(&ahead);
    if (is(it, word, "with")) {
        rw_define_skip(it, &ahead, &before);
    } else if (is(it, word, "using")) { /* INDEX TABLESPACE name */
        for (size_t i = 0; i < 3; i++)
            rw_lexer_next(&ahead);
    } else if (is(it, word, "initially")) {
        rw_lexer_next(&ahead);
    } else if (!is(it, word, "deferrable") &&
               !(is(it, word, "not") && is(it, rw_lexer_next(&ahead), "deferrable"))) {
        return false;
    }
    *lexer = ahead;
    return true;
}

/* A lexer behind PRIMARY KEY of the constraint. */
static rw_lexer behind_key(const rw_definer *it, const PgQuery__Constraint *key)
{
    rw_lexer lexer = lexer_at(it, (size_t)key->location);
    rw_token token = rw_lexer_next(&lexer);
    while (!at_end(token) && !is(it, token, "primary"))
        token = rw_lexer_next(&lexer);
    rw_lexer_next(&lexer);
    return lexer;
}

/* --- changes --- */

/* `first`: before what is put in there already. */
static void change(rw_definer *it, size_t at, size_t cut, pgw_slice text, bool first)
{
    rw_definition *out = it->out;
    size_t i = out->count++;
    rw_change *list = pgw_arena_alloc(it->arena, out->count * sizeof *list);
    if (i > 0)
        memcpy(list, out->changes, i * sizeof *list);
    for (; i > 0 && list[i - 1].at >= at + !first; i--)
        list[i] = list[i - 1];
    list[i] = (rw_change){.at = at, .cut = cut, .text = text};
    out->changes = list;
}

void rw_define_change(rw_definer *it, size_t at, pgw_buf *text)
{
    change(it, at, 0, pgw_arena_keep(it->arena, text), false);
}

void rw_define_cut(rw_definer *it, size_t from, size_t to)
{
    change(it, from, to - from, (pgw_slice){"", 0}, false);
}

void rw_define_change_name(rw_definer *it, const PgQuery__RangeVar *name, pgw_buf *text)
{
    change(it, behind_name(it, name), 0, pgw_arena_keep(it->arena, text), true);
}

pgw_slice rw_define_do(const rw_definer *it, pgw_slice blocks)
{
    pgw_buf block = {0}, text = {0};
    pgw_buf_add_str(&block, "begin ");
    pgw_buf_add_slice(&block, blocks);
    pgw_buf_add_str(&block, "end");
    pgw_buf_add_str(&text, "DO ");
    rw_add_name_constant(&text, pgw_slice_buf(&block));
    pgw_buf_free(&block);
    return pgw_arena_keep(it->arena, &text);
}

void rw_define_whole(rw_definer *it, const PgQuery__RangeVar *name)
{
    rw_lexer lexer = lexer_at(it, 0);
    rw_token before = rw_lexer_next(&lexer), token = before;
    for (; !at_end(token) && token.start < (size_t)name->location; token = rw_lexer_next(&lexer))
        before = token;
    if (is(it, before, "only"))
        rw_define_cut(it, before.start, before.end);
}

/* PRIMARY KEY (a, b): the hash comes into the list, as its first or its last. */
static void put_in_key(rw_definer *it, const PgQuery__Constraint *key)
{
    rw_lexer lexer = behind_key(it, key);
    bool first = it->table->hash_first;
    size_t at = lexer.at;
    pgw_buf text = {0};
    if (first)
        at = rw_lexer_next(&lexer).end;
    else
        rw_define_skip(it, &lexer, &at);
    pgw_buf_add_str(&text, first ? "" : ", ");
    rw_add_identifier(&text, rw_define_hash(it->table));
    pgw_buf_add_str(&text, first ? ", " : "");
    rw_define_change(it, at, &text);
}

/* Moves the key of `a bigint PRIMARY KEY` behind the list, with its name and its options. */
static void move_key(rw_definer *it, const PgQuery__Constraint *key, const char *column)
{
    size_t start = (size_t)key->location;
    rw_lexer lexer = behind_key(it, key);
    size_t head = lexer.at;
    pgw_buf written = {0};
    while (skip_option(it, &lexer))
        ;
    pgw_buf_add_str(&it->behind, it->joint);
    pgw_buf_add(&it->behind, it->text.ptr + start, head - start);
    pgw_buf_add_str(&it->behind, " (");
    rw_add_identifier(&written, column);
    rw_hash_column_key(it->table, pgw_slice_buf(&written), &it->behind);
    pgw_buf_add_byte(&it->behind, ')');
    pgw_buf_free(&written);
    pgw_buf_add(&it->behind, it->text.ptr + head, lexer.at - head);
    change(it, start, lexer.at - start, PGW_LITERAL(" "), false);
}

/* --- the key --- */

const char *rw_key_column(const rw_written_key *it, size_t i)
{
    return it->column != NULL ? it->column : it->key->keys[i]->string->sval;
}

size_t rw_key_count(const rw_written_key *it)
{
    return it->column != NULL ? 1 : it->key->n_keys;
}

size_t rw_key_uses(const rw_written_key *it, const char *name)
{
    size_t uses = 0;
    for (size_t i = 0; i < rw_key_count(it); i++)
        uses += strcmp(rw_key_column(it, i), name) == 0;
    return uses;
}

/* The columns, in the order of the configuration, for an error. */
static const char *listed(const rw_table *table, pgw_arena *arena)
{
    char *list = (char *)"";
    for (size_t i = 0; i < table->primary_key_count; i++)
        list = pgw_arena_printf(arena, "%s%s%s", list, i > 0 ? ", " : "",
                                table->columns[table->primary_key[i]].name);
    return list;
}

bool rw_key_is_right(const rw_table *table, const rw_written_key *written)
{
    if (table->own_key) /* A table with a key of its own takes any key that begins with its
                           hash_key. */
        return rw_key_count(written) > 0 &&
               strcmp(rw_key_column(written, 0), table->columns[table->hash_key[0]].name) == 0;
    bool same = rw_key_count(written) == table->primary_key_count;
    for (size_t i = 0; same && i < table->primary_key_count; i++)
        same = rw_key_uses(written, table->columns[table->primary_key[i]].name) == 1;
    return same;
}

bool rw_define_key(rw_definer *it, const rw_written_key *written)
{
    const rw_table *table = it->table;
    if (written->key == NULL || written->keys > 1)
        return true;
    if (rw_key_is_right(table, written)) {
        if (written->column != NULL)
            move_key(it, written->key, written->column);
        else
            put_in_key(it, written->key);
        return true;
    }
    pgw_fail(it->error, "42P16",
             "the primary key of table \"%s\" must be (%s), as keyspread's configuration has it",
             table->name, listed(table, it->arena));
    return rw_define_refuse(it, written->key->location,
                            "Correct primary_key in the configuration, or the statement.");
}

void rw_take_key(rw_written_key *out, const PgQuery__Node *node, const char *column)
{
    if (node->node_case != PG_QUERY__NODE__NODE_CONSTRAINT ||
        node->constraint->contype != PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY)
        return;
    out->key = node->constraint;
    out->column = column;
    out->keys++;
}

void rw_take_key_of(rw_written_key *out, const PgQuery__ColumnDef *column)
{
    for (size_t i = 0; i < column->n_constraints; i++)
        rw_take_key(out, column->constraints[i], column->colname);
}
