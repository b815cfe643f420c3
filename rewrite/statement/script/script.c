#include "rewrite/statement/script/script.h"

#include "protocol/utf8.h"
#include "rewrite/insert/parse.h"
#include "rewrite/insert/parser.h"
#include "rewrite/insert/render.h"
#include "rewrite/lex/splitter.h"
#include "rewrite/statement/script/key_change_put.h"
#include "rewrite/statement/script/tree.h"
#include "rewrite/statement/tree/parse_tree.h"
#include "rewrite/statement/words/effects.h"
#include "rewrite/statement/words/moved_names.h"
#include "rewrite/statement/words/prefilter.h"
#include "rewrite/statement/words/write_scan.h"

#include <assert.h>
#include <string.h>

/* A script while it is read, and what names mean to its next statement. */
typedef struct reading {
    pgw_slice text;
    const pgw_env *env;
    rw_shape_cache *shapes; /* NULL: none */
    pgw_arena *arena;
    const rw_noted *noted; /* the first tokens of the current statement */
    rw_names names;
} reading;

/* One statement of a script. */
typedef struct candidate {
    const reading *in;
    pgw_slice text; /* text of the statement */
    rw_lexer lexer; /* lexer at the begin of the statement */
    const rw_piece *piece;
    unsigned can; /* what the statement can do, by its first word */
    rw_statement *out;
} candidate;

/* What a statement can do, by its first word. */
enum {
    INSERTS = 1 << 0,
    WRITES = 1 << 1, /* writes by its first word alone */
    HOLDS = 1 << 2,  /* writes if a word further on in it does */
    SHOWS = 1 << 3,  /* may ask for rows, or show them */
    UNREAD = 1 << 4, /* passes if libpg_query cannot read it: it writes no configured table at once,
                        or rw_insert_parse() has found that its table is none */
    DEFINES = 1 << 5, /* makes or alters tables, or names them with ONLY */
    WITH = 1 << 6
};

static const struct {
    const char *word;
    unsigned can;
} first_words[] = {
    {"select", SHOWS},
    {"update", WRITES | SHOWS},
    {"delete", SHOWS},
    {"insert", INSERTS | HOLDS | SHOWS | UNREAD},
    {"with", HOLDS | SHOWS | WITH},
    {"upsert", INSERTS | HOLDS | UNREAD},
    {"replace", INSERTS | HOLDS | UNREAD},
    {"merge", WRITES | SHOWS},
    {"copy", WRITES | SHOWS},
    {"prepare", HOLDS | SHOWS},
    {"explain", HOLDS | SHOWS},
    {"declare", HOLDS | SHOWS | UNREAD},
    {"create", HOLDS | SHOWS | UNREAD | DEFINES},
    {"alter", DEFINES},
    {"truncate", DEFINES},
    {"lock", DEFINES},
    {"table", SHOWS},
    {"values", SHOWS},
};

static unsigned can_do(pgw_slice text, rw_token first)
{
    if (first.kind == RW_TOKEN_CHAR && text.ptr[first.start] == '(')
        return HOLDS | SHOWS;
    for (size_t i = 0; i < sizeof first_words / sizeof *first_words; i++)
        if (rw_token_is(text, first, first_words[i].word))
            return first_words[i].can;
    return 0;
}

static bool needs_reading(const candidate *it)
{
    return it->can & WRITES ||
           (it->can & HOLDS && it->piece->marks & (RW_MARK_WRITE | RW_MARK_OPAQUE)) ||
           it->piece->marks & RW_MARK_ATOMIC;
}

/* --- verdicts --- */

/* `error` is copied: it has room for texts that few statements need. */
static void refuse(const candidate *it, const pgw_error *error)
{
    pgw_error *kept = pgw_arena_alloc(it->in->arena, sizeof *kept);
    *kept = *error;
    it->out->kind = RW_STATEMENT_REFUSED;
    it->out->insert = NULL;
    it->out->error = kept;
}

/* Checks, by the lexer alone, a statement that is too large for libpg_query. */
static void check_words(const candidate *it)
{
    if (!rw_scan_may_write(it->text, it->piece, &it->in->names.view, it->in->env, it->in->arena))
        return;
    pgw_error error;
    pgw_fail(&error, "54000",
             "cannot tell whether this statement keeps the hash of a configured table right");
    pgw_error_hint(&error,
                   "It is longer than %d bytes or %d tokens. Split it, or write with "
                   "INSERT … VALUES, which may be longer.",
                   RW_TREE_MAX_BYTES, RW_TREE_MAX_TOKENS);
    refuse(it, &error);
}

/* What libpg_query says of it, or has said of another text of this shape. */
static rw_tree_answer ask_tree(const candidate *it, rw_tree_found *found, pgw_error *error)
{
    rw_shape shape;
    rw_shape_said said;
    bool shaped = it->in->shapes != NULL && rw_shape_of(it->lexer, &it->in->names.view, &shape);
    if (shaped && rw_shape_cache_find(it->in->shapes, &shape, &said)) {
        *found = (rw_tree_found){.inserts = said.inserts,
                                 .lookups = said.lookups,
                                 .stars = said.stars,
                                 .ranges = said.ranges,
                                 .reads = said.reads};
        return RW_TREE_HARMLESS;
    }
    rw_tree_answer answer =
        rw_tree_check(it->text, &it->in->names.view, it->in->env, it->in->arena, found, error);
    if (shaped && answer == RW_TREE_HARMLESS && !found->by_value)
        rw_shape_cache_add(it->in->shapes, &shape,
                           (rw_shape_said){found->inserts, found->lookups, found->stars,
                                           found->ranges, found->reads});
    return answer;
}

static void keep_same(const candidate *it, const rw_tree_found *found)
{
    rw_equal_parameters *same = pgw_arena_alloc(it->in->arena, found->same_count * sizeof *same);
    memcpy(same, found->same, found->same_count * sizeof *same);
    it->out->same = same;
    it->out->same_count = found->same_count;
}

static void read_found(const candidate *it, const rw_tree_found *found)
{
    rw_lookup *lookups = NULL;
    rw_change *stars = NULL;
    if (found->lookups != NULL)
        it->out->lookup_count = rw_lookups_read(found->lookups, it->lexer, &it->in->names.view,
                                                it->in->env, it->in->arena, &lookups);
    if (found->stars != NULL && !found->inserts)
        it->out->star_count = rw_token_edits_read(found->stars, it->lexer, it->in->arena, &stars);
    if (found->ranges != NULL)
        it->out->star_count = rw_ranges_read(found->ranges, it->lexer, &it->in->names.view,
                                             it->in->arena, &stars, it->out->star_count);
    it->out->lookups = lookups;
    it->out->stars = stars;
    it->out->prepares = found->prepares;
    it->out->reads = rw_read_map_keep(found->reads, it->in->arena);
    it->out->copy = found->copy;
    assert(found->copy == NULL || it->out->star_count > 0);
    it->out->unseen = found->unseen;
}

/* A server that is newer than the grammar may take what the grammar refuses, and write or show the
 * hash by it. */
static bool may_be_newer(const candidate *it, rw_tree_answer answer)
{
    return answer == RW_TREE_UNPARSED && rw_grammar_is_older(it->in->env);
}

/* Reads a statement that certainly only reads or removes rows. */
static void show(const candidate *it)
{
    rw_tree_found found;
    pgw_error error;
    rw_tree_answer answer = ask_tree(it, &found, &error);
    if (answer == RW_TREE_HARMLESS)
        read_found(it, &found);
    else if (may_be_newer(it, answer) ||
             (answer == RW_TREE_REFUSED && (found.denied || !pgw_error_is(&error, "0A000"))))
        refuse(it, &error);
}

static void change_key(const candidate *it, const rw_key_change *change)
{
    pgw_error error;
    if (!rw_key_change_put(change, it->out, it->in->arena, &error))
        refuse(it, &error);
}

/* True if the statement itself is an INSERT into a configured table, and nothing else is wrong. */
static bool check_tree(const candidate *it)
{
    rw_tree_found found;
    pgw_error error;
    rw_tree_answer answer = ask_tree(it, &found, &error);
    if (answer == RW_TREE_REFUSED || may_be_newer(it, answer) ||
        (answer == RW_TREE_UNPARSED && (!(it->can & UNREAD) || it->piece->marks & RW_MARK_ATOMIC)))
        refuse(it, &error);
    if (answer == RW_TREE_HARMLESS && found.same_count > 0)
        keep_same(it, &found);
    if (answer == RW_TREE_HARMLESS)
        read_found(it, &found);
    if (answer == RW_TREE_HARMLESS && found.change.table != NULL)
        change_key(it, &found.change);
    return found.inserts && answer == RW_TREE_HARMLESS;
}

/* Whether an INSERT into a strict table names the hash column. */
static bool names_hash(const candidate *it)
{
    const rw_table *table = it->out->insert->table;
    return table->strict && rw_text_mentions(it->text, table->columns[table->hash_column].name);
}

/* Writes out the stars in the query that an INSERT takes its rows from, and in what stands behind
 * it. */
static void put_stars(const candidate *it)
{
    rw_tree_found found;
    rw_change *stars;
    pgw_error error;
    if (!rw_tree_can_read(it->text, it->piece))
        return;
    rw_tree_answer answer = ask_tree(it, &found, &error);
    if (may_be_newer(it, answer) || (answer == RW_TREE_REFUSED && !pgw_error_is(&error, "0A000")))
        refuse(it, &error);
    if (answer != RW_TREE_HARMLESS || found.stars == NULL)
        return;
    size_t count = rw_token_edits_read(found.stars, it->lexer, it->in->arena, &stars);
    for (size_t i = 0; i < count; i++)
        rw_insert_splice(
            it->out->insert,
            (rw_splice){.at = stars[i].at, .remove = stars[i].cut, .text = stars[i].text},
            it->in->arena);
}

static void parse_insert(const candidate *it)
{
    pgw_error error;
    if (!rw_insert_parse(it->text, &it->in->names.view, it->in->env, it->in->arena,
                         &it->out->insert, &error))
        refuse(it, &error);
    else if (it->out->insert != NULL) {
        it->out->kind = RW_STATEMENT_INSERT;
        if (it->out->insert->query || names_hash(it))
            put_stars(it);
    }
}

/* Whether it is not known in which schema tables are made from here on. */
static bool is_placeless(const rw_catalog *planned)
{
    for (size_t i = 0; planned->unqualified != NULL && i < planned->count; i++)
        if (planned->unqualified[i] == RW_MEANS_UNKNOWN)
            return true;
    return false;
}

/* The statement behind this one, if both are one transaction unless the text says otherwise, and it
 * can be read; else an empty text. */
static pgw_slice next_of(const candidate *it)
{
    rw_lexer lexer;
    rw_piece piece;
    rw_lexer_init(&lexer, it->in->text, it->in->env->conforming);
    lexer.at = it->piece->end;
    if (it->in->names.view.apart || !rw_split_next(&lexer, &piece))
        return (pgw_slice){0};
    pgw_slice text = {it->in->text.ptr + piece.start, piece.end - piece.start};
    return rw_tree_can_read(text, &piece) ? text : (pgw_slice){0};
}

/* CREATE TABLE, ALTER TABLE, and what else names tables with ONLY. False: it is something else. */
static bool define(const candidate *it)
{
    const rw_catalog *planned = it->in->names.view.planned;
    bool made = it->can & DEFINES || it->piece->marks & RW_MARK_INTO;
    if (planned == NULL || !made || !rw_prefilter_mentions(it->text, planned) ||
        !rw_tree_can_read(it->text, it->piece))
        return false;
    rw_definition definition;
    pgw_error error;
    const pgw_reading grammar = {it->in->env, it->in->arena, &error};
    if (!rw_tree_define(it->text, next_of(it), &it->in->names.view, &grammar, &definition))
        refuse(it, &error);
    else
        it->out->error = definition.refusal;
    it->out->stars = definition.changes;
    it->out->star_count = definition.count;
    it->out->before = definition.before;
    it->out->behind = definition.behind;
    it->out->made = definition.made;
    it->out->unspread = definition.unspread;
    it->out->warning = definition.warning;
    it->out->apart = it->out->kind == RW_STATEMENT_REFUSED && is_placeless(planned);
    it->out->defines = definition.count > 0 || rw_statement_has_more(it->out);
    return it->out->defines || it->out->kind == RW_STATEMENT_REFUSED;
}

/* Whether it may write, read or show a table that is made earlier in the text. */
static bool uses_made(const candidate *it)
{
    const rw_catalog *planned = it->in->names.view.planned;
    bool uses = !(it->can & DEFINES) || rw_text_mentions(it->text, "select");
    return planned != NULL && planned->moved && it->can != 0 && uses &&
           rw_prefilter_mentions(it->text, planned);
}

/* An INSERT into a table that is made earlier in the text: what it is like is not known yet. */
static void refuse_made(const candidate *it)
{
    rw_insert *insert = NULL;
    pgw_error error;
    const rw_catalog *planned = it->in->names.view.planned;
    if (planned == NULL || !planned->moved || !(it->can & INSERTS) ||
        it->out->kind != RW_STATEMENT_FORWARD || !rw_prefilter_mentions(it->text, planned) ||
        (rw_insert_parse(it->text, planned, it->in->env, it->in->arena, &insert, &error) &&
         insert == NULL))
        return;
    pgw_fail(&error, "0A000", "the table that is written is made earlier in the same Query");
    pgw_error_hint(&error, "Send the INSERT in a Query of its own.");
    refuse(it, &error);
}

/* Statements that name a configured table. */
static void judge(const candidate *it)
{
    bool with = (it->can & WITH) != 0;
    bool reads = needs_reading(it) && rw_tree_can_read(it->text, it->piece);
    if (it->can & INSERTS || (with && !reads)) {
        parse_insert(it);
        if (it->out->kind != RW_STATEMENT_FORWARD)
            return; /* An INSERT … VALUES has no room for another write behind it. */
    }
    if (reads) {
        if (check_tree(it) && with)
            parse_insert(it);
    } else if (needs_reading(it)) {
        check_words(it);
    } else if (it->can & SHOWS && rw_tree_can_read(it->text, it->piece)) {
        show(it);
    }
}

/* An error about the statement is one about the whole text, which does not end where it does. */
static void place_error(const reading *in, const rw_piece *piece, pgw_error *error)
{
    pgw_slice text = in->text;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, in->env->conforming);
    lexer.at = piece->end;
    rw_token next = rw_lexer_next(&lexer);
    if (next.kind == RW_TOKEN_CHAR && strcmp(error->message, "syntax error at end of input") == 0) {
        pgw_fail(error, "42601", "syntax error at or near \"%c\"", text.ptr[next.start]);
        error->position = pgw_characters(text, next.start, in->env->utf8) + 1;
        return;
    }
    error->position += pgw_characters(text, piece->start, in->env->utf8);
}

static pgw_slice text_of(const reading *in, const rw_piece *piece)
{
    return (pgw_slice){in->text.ptr + piece->start, piece->end - piece->start};
}

static void read_statement(const reading *in, const rw_piece *piece, rw_statement *out)
{
    *out = (rw_statement){.start = piece->start, .end = piece->end};
    candidate it = {.in = in, .text = text_of(in, piece), .piece = piece, .out = out};
    rw_lexer_init_noted(&it.lexer, it.text, in->env->conforming, in->noted);
    rw_lexer lexer = it.lexer;
    it.can = can_do(it.text, rw_lexer_next(&lexer));
    rw_effects(it.lexer, piece, in->arena, out);
    bool defines = define(&it);
    if (!defines && rw_prefilter_mentions(it.text, &in->names.view))
        judge(&it);
    else if (!defines && rw_prefilter_asks(it.text, &in->names.view) && it.can & SHOWS &&
             rw_tree_can_read(it.text, piece))
        show(&it);
    if (!defines)
        refuse_made(&it);
    out->apart = out->apart || (!defines && uses_made(&it));
    if (out->error != NULL && out->error->position > 0)
        place_error(in, piece, out->error);
}

/* --- names that move within a text --- */

static bool is_unknown(const reading *in)
{
    for (size_t i = 0; in->names.view.unqualified != NULL && i < in->names.view.count; i++)
        if (in->names.view.unqualified[i] == RW_MEANS_UNKNOWN)
            return true;
    return false;
}

static void refuse_unknown(reading *in, rw_statement *out)
{
    pgw_error *error = pgw_arena_alloc(in->arena, sizeof *error);
    pgw_fail(error, "0A000",
             "cannot tell which table is written: what its name means may change "
             "before this statement is reached");
    pgw_error_hint(error, "Send the statement as a text of its own, or write the schema before "
                          "the table's name.");
    out->kind = RW_STATEMENT_REFUSED;
    out->insert = NULL;
    out->change = NULL;
    out->copy = NULL;
    out->error = error;
}

/* --- the script --- */

/* Whether it writes rows or the key of a configured table, or is refused by an error other than
 * 0A000. */
static bool is_about_table(const rw_statement *statement)
{
    return statement->kind == RW_STATEMENT_INSERT || statement->change != NULL ||
           statement->copy != NULL ||
           (statement->kind == RW_STATEMENT_REFUSED && !pgw_error_is(statement->error, "0A000"));
}

/* Reads the statement as if names of unknown meaning had this meaning. */
static rw_statement read_as(const reading *in, const rw_piece *piece, rw_meaning meaning)
{
    reading read = *in;
    rw_meaning *meanings = pgw_arena_alloc(in->arena, in->names.view.count * sizeof *meanings);
    for (size_t i = 0; i < in->names.view.count; i++)
        meanings[i] = in->names.view.unqualified[i] == RW_MEANS_UNKNOWN
                          ? meaning
                          : in->names.view.unqualified[i];
    read.names.view.unqualified = meanings;
    read.shapes = NULL;
    rw_statement out;
    read_statement(&read, piece, &out);
    return out;
}

/* A write by a name whose meaning is not known here is refused; one that has its schema is not. */
static void check_unknown(reading *in, const rw_piece *piece, rw_statement *out)
{
    if (!is_unknown(in) || !rw_prefilter_mentions(text_of(in, piece), &in->names.view))
        return;
    rw_statement ours = read_as(in, piece, RW_MEANS_OURS);
    bool shown = ours.lookup_count > 0 || ours.star_count > 0;
    out->apart = out->apart || (!ours.defines && (is_about_table(&ours) || shown));
    if (!is_about_table(out))
        return;
    rw_statement others = read_as(in, piece, RW_MEANS_OTHERS);
    if (others.kind != out->kind || (others.change == NULL) != (out->change == NULL) ||
        (others.copy == NULL) != (out->copy == NULL))
        refuse_unknown(in, out);
}

/* Adds a statement. A single one is in the arena; several are in `list` until the last, for the
 * arena would keep each outgrown list. */
static rw_statement *add_statement(rw_script *script, pgw_buf *list, pgw_arena *arena)
{
    size_t size = sizeof(rw_statement);
    if (script->count++ == 0)
        return script->statements = pgw_arena_alloc(arena, size);
    if (list->len == 0)
        pgw_buf_add(list, script->statements, size);
    rw_statement *added = (void *)pgw_buf_reserve(list, size);
    list->len += size;
    return added;
}

/* Short statements may grow long, so that a text of 64 MiB would take all memory: what is put in is
 * bounded, and the rest of the text is refused with the statement that is too much. */
enum { MOST_ADDED = 32 * 1024 * 1024 };

static void refuse_rest(pgw_slice text, bool many, pgw_arena *arena, rw_statement *statement)
{
    statement->end = text.len;
    if (many && statement->kind == RW_STATEMENT_REFUSED)
        return; /* The statement is refused already, with the same error. */
    pgw_error *error = pgw_arena_alloc(arena, sizeof *error);
    if (many)
        pgw_fail(error, "54000",
                 "a text for a configured table has too many statements, rows or values");
    else
        pgw_fail(error, "54000",
                 "the INSERTs of this text are too large when their columns are named");
    pgw_error_hint(error, "Send the statements in several texts.");
    statement->kind = RW_STATEMENT_REFUSED;
    statement->insert = NULL;
    statement->error = error;
}

/* Refuses each COPY beside other statements: what its data is read by must not change in the same
 * Query. */
static void refuse_copies(const reading *in, rw_script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        rw_statement *statement = &script->statements[i];
        if (statement->copy == NULL)
            continue;
        pgw_error *error = pgw_arena_alloc(in->arena, sizeof *error);
        pgw_fail(
            error, "0A000",
            "cannot COPY into table \"%s\" through keyspread beside other statements of a Query",
            statement->copy->table->name);
        pgw_error_hint(error, "Send COPY as a Query of its own.");
        error->position = pgw_characters(in->text, statement->start, in->env->utf8) + 1;
        statement->kind = RW_STATEMENT_REFUSED;
        statement->copy = NULL;
        statement->error = error;
        script->refused = true;
    }
}

void rw_script_parse(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                     rw_shape_cache *shapes, pgw_arena *arena, rw_script *out)
{
    *out = (rw_script){.utf8 = env->utf8, .escapes = rw_lexer_heeds_conforming(text)};
    size_t added = 0;
    pgw_buf list = {0};
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, env->conforming);
    rw_noted noted;
    noted.count = 0;
    lexer.notes = &noted;
    rw_piece piece;
    reading in = {.text = text,
                  .env = env,
                  .shapes = shapes,
                  .arena = arena,
                  .noted = &noted,
                  .names = {.view = *catalog, .arena = arena}};
    bool too_large = false;
    for (; !too_large && rw_split_next(&lexer, &piece); noted.count = 0) {
        rw_noted_cut(&noted, piece.start, piece.end);
        rw_statement *statement = add_statement(out, &list, arena);
        read_statement(&in, &piece, statement);
        check_unknown(&in, &piece, statement);
        rw_names_follow(&in.names, statement, text_of(&in, &piece));
        added += statement->insert != NULL ? rw_render_added(statement->insert) : 0;
        bool many = arena->bytes + list.len > RW_PARSED_MOST;
        too_large = many || added > MOST_ADDED;
        if (too_large)
            refuse_rest(text, many, arena, statement);
        out->effects |= statement->effects;
        out->refused |= statement->kind == RW_STATEMENT_REFUSED;
        out->unseen |= statement->unseen;
        out->changes |= statement->lookup_count > 0 || statement->star_count > 0 ||
                        rw_statement_has_more(statement);
        out->inserts += statement->kind == RW_STATEMENT_INSERT;
    }
    if (out->count > 1)
        out->statements = (void *)pgw_arena_keep(arena, &list).ptr;
    if (out->count > 1 && out->effects & RW_EFFECT_COPY && !catalog->apart)
        refuse_copies(&in, out);
}
