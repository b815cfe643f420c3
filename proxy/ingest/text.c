#include "proxy/ingest/text.h"

#include "protocol/utf8.h"
#include "proxy/backend/places/maps.h"
#include "proxy/ingest/bind.h"
#include "proxy/ingest/plan_cache.h"
#include "proxy/ingest/reshaped.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/render.h"
#include "rewrite/insert/spell.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/script/tree.h"
#include "rewrite/statement/special/evaluated.h"
#include "rewrite/statement/special/explain_query.h"
#include "rewrite/statement/special/function_once.h"
#include "rewrite/statement/special/wanting.h"

/* Parses a text that is in `arena` (given away). */
static px_text *parse(px_worker *worker, pgw_arena arena, pgw_slice text, px_catalog *catalog,
                      const rw_catalog *view, const pgw_env *env)
{
    px_text *parsed = pgw_arena_alloc(&arena, sizeof *parsed);
    *parsed = (px_text){.references = 1, .catalog = catalog, .text = text};
    px_catalog_take(catalog);
    rw_script_parse(text, view, env, &worker->plans->shapes, &arena, &parsed->script);
    rw_explain_query(text, view, env, &arena, &parsed->script);
    rw_function_once(text, view, env, &arena, &parsed->script);
    rw_wanting_check(text, &parsed->script, &arena);
    parsed->reshaped = px_reshaped(&parsed->script, text, view, env, &arena);
    parsed->arena = arena;
    return parsed;
}

px_text *px_text_parse(px_worker *worker, pgw_slice text, px_catalog *catalog,
                       const rw_catalog *view, const pgw_env *env)
{
    pgw_arena arena = {0};
    text = pgw_arena_copy(&arena, text);
    return parse(worker, arena, text, catalog, view, env);
}

/* A copy of a text with a NUL behind it. The memory of a long one is not zeroed before. */
static pgw_slice copy_of(pgw_slice text, pgw_arena *arena)
{
    enum { LONG = 1024 };
    pgw_buf copy = {0};
    if (text.len < LONG)
        return pgw_arena_copy(arena, text);
    pgw_buf_add_slice(&copy, text);
    pgw_buf_add_byte(&copy, '\0');
    return (pgw_slice){pgw_arena_keep(arena, &copy).ptr, text.len};
}

px_text *px_text_like(px_text *other, pgw_slice text)
{
    pgw_arena arena = {0};
    px_text *made = pgw_arena_alloc(&arena, sizeof *made);
    *made = (px_text){
        .references = 1, .catalog = other->catalog, .like = other, .script = other->script};
    px_catalog_take(other->catalog);
    px_text_take(other);
    made->text = copy_of(text, &arena);
    made->superseded = pgw_arena_alloc(&arena, sizeof *made->superseded);
    made->arena = arena;
    return made;
}

void px_text_read(px_worker *worker, px_text *text, const pgw_env *env)
{
    px_text *like = text->like;
    const rw_meaning ours = RW_MEANS_OURS;
    if (like == NULL)
        return;
    const rw_table *table = like->script.statements[0].insert->table;
    const rw_catalog view = {.tables = &table, .count = 1, .unqualified = &ours};
    rw_script_parse(text->text, &view, env, &worker->plans->shapes, &text->arena, &text->script);
    px_text_hash(worker, text, *env);
    text->like = NULL;
    px_text_drop(like);
}

px_text *px_text_as_read(px_worker *worker, px_text *text, const pgw_env *env)
{
    if (text->like == NULL) {
        px_text_take(text);
        return text;
    }
    px_text *copy = px_text_like(text->like, text->text);
    px_text_read(worker, copy, env);
    return copy;
}

size_t px_text_wants(const px_text *text, const rw_insert **inserts)
{
    size_t count = 0;
    for (size_t i = 0; i < text->script.count && text->script.inserts > 0; i++) {
        const rw_insert *insert = text->script.statements[i].insert;
        if (insert == NULL || insert->wanted_count == 0)
            continue;
        if (inserts != NULL)
            inserts[count] = insert;
        count++;
    }
    return count;
}

size_t px_text_wanting(const px_text *text, size_t wanted)
{
    for (size_t i = 0; i < text->script.count; i++) {
        const rw_insert *insert = text->script.statements[i].insert;
        size_t here = insert != NULL ? insert->wanted_count : 0;
        if (wanted < here)
            return i;
        wanted -= here;
    }
    return 0;
}

size_t px_text_before(const px_text *text, size_t i)
{
    const px_text *sent = text->asked != NULL ? text->asked : text;
    return pgw_characters(sent->text, sent->script.statements[i].start, sent->script.utf8);
}

void px_text_unanswered(px_text *text, size_t i, const pgw_error *error)
{
    rw_wanting_refuse(&text->script, i, error, &text->arena);
}

/* The filled statements with what stands around them in the text, and a NUL behind it all. */
static pgw_slice put_back(const px_text *text, const rw_filled *const *filled, pgw_arena *arena)
{
    const rw_script *script = &text->script;
    const rw_statement *first = &script->statements[0];
    if (script->count == 1 && first->start == 0 && first->end == text->text.len)
        return filled[0]->text;
    pgw_buf whole = {0};
    size_t at = 0;
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        if (filled[i] == NULL)
            continue;
        pgw_buf_add(&whole, text->text.ptr + at, statement->start - at);
        pgw_buf_add_slice(&whole, filled[i]->text);
        at = statement->end;
    }
    pgw_buf_add(&whole, text->text.ptr + at, text->text.len - at);
    size_t len = whole.len;
    pgw_buf_add_byte(&whole, '\0');
    return (pgw_slice){pgw_arena_keep(arena, &whole).ptr, len};
}

/* Fills each statement that wants something; NULL: the error. */
static const rw_filled **fill_all(const px_text *text, const rw_answer *answers, pgw_arena *arena,
                                  pgw_error *error)
{
    const rw_script *script = &text->script;
    const rw_filled **filled = pgw_arena_alloc(arena, script->count * sizeof *filled);
    for (size_t i = 0; i < script->count; i++) {
        const rw_insert *insert = script->statements[i].insert;
        if (insert == NULL || insert->wanted_count == 0)
            continue;
        rw_filled *one = pgw_arena_alloc(arena, sizeof *one);
        if (!rw_fill(insert, answers, arena, one, error)) {
            error->position += error->position > 0 ? px_text_before(text, i) : 0;
            return NULL;
        }
        filled[i] = one;
        answers += insert->wanted_count;
    }
    return filled;
}

/* Moves positions of errors to where the client wrote the statements. */
static void move_errors(px_text *text, bool utf8)
{
    for (size_t i = 0; i < text->script.count; i++) {
        const rw_statement *statement = &text->script.statements[i];
        if (statement->error == NULL || statement->error->position == 0 || text->script.count == 1)
            continue;
        size_t before = pgw_characters(text->text, statement->start, utf8);
        statement->error->position += px_text_before(text, i) - before;
    }
}

px_text *px_text_fill(px_worker *worker, px_text *text, const rw_answer *answers,
                      const rw_catalog *view, const pgw_env *env, pgw_error *error)
{
    pgw_arena arena = {0};
    const rw_filled **filled = fill_all(text, answers, &arena, error);
    if (filled == NULL) {
        pgw_arena_free(&arena);
        return NULL;
    }
    pgw_slice whole = put_back(text, filled, &arena);
    px_text *parsed = parse(worker, arena, whole, text->catalog, view, env);
    parsed->filled = filled;
    parsed->asked = text;
    px_text_take(text);
    move_errors(parsed, env->utf8);
    return parsed;
}

void px_text_take(px_text *text)
{
    text->references++;
}

void px_text_drop(px_text *text)
{
    if (text == NULL || --text->references > 0)
        return;
    px_text_drop(text->asked);
    px_text_drop(text->like);
    px_catalog_drop(text->catalog);
    pgw_arena arena = text->arena; /* the text itself lives in it */
    pgw_arena_free(&arena);
}

void px_text_leave_out(px_text *text, const bool *rows)
{
    rw_insert *insert = text->script.statements[0].insert;
    text->in_parts = true;
    for (size_t r = 0; r < insert->row_count; r++) {
        insert->rows[r].superseded = rows[r];
        text->superseded[0] += rows[r];
    }
}

/* ---- hashes ---- */

void px_text_refuse(px_text *text, size_t i, const pgw_error *error)
{
    text->refused = true;
    if (text->refusals[i] != NULL)
        return;
    pgw_error *kept = pgw_arena_alloc(&text->arena, sizeof *kept);
    *kept = *error;
    text->refusals[i] = kept;
}

size_t px_text_first_refused(const px_text *text)
{
    size_t i = 0;
    while (text->refusals[i] == NULL)
        i++;
    return i;
}

const pgw_error *px_text_refusal(const px_text *text, size_t i)
{
    return text->refusals[i] != NULL ? text->refusals[i] : text->script.statements[i].error;
}

static size_t row_bytes(const rw_insert *insert, size_t row)
{
    return insert->rows[row].close - insert->rows[row].open;
}

/* The key of a row; if there is none, the row says so, and the statement is to fail. */
static void hash_row(px_worker *worker, px_text *text, size_t i, size_t r, const pgw_env *env)
{
    const rw_statement *statement = &text->script.statements[i];
    rw_insert *insert = statement->insert;
    rw_key *key = &text->keys[i][r];
    pgw_error error;
    pgw_reading reading = {env, &text->arena, &error};
    bool good = rw_insert_key(insert, r, RW_NO_PARAMS, &reading, key) == PGW_KNOWN &&
                px_bind_limit(worker, insert->table, row_bytes(insert, r), key, &error);
    text->hashes[i][r] = key->hash;
    key->partition = px_map_partition(worker, insert->table, key->hash);
    insert->rows[r].unhashed = insert->rows[r].unhashed || !good;
    if (good || text->refusals[i] != NULL)
        return;
    if (text->filled != NULL && text->filled[i] != NULL)
        error.position = rw_filled_position(text->filled[i], error.position, env->utf8);
    if (error.position > 0)
        error.position += px_text_before(text, i);
    px_text_refuse(text, i, &error);
}

static void hash_insert(px_worker *worker, px_text *text, size_t i, const pgw_env *env)
{
    rw_insert *insert = text->script.statements[i].insert;
    text->hashes[i] = pgw_arena_alloc(&text->arena, insert->row_count * sizeof *text->hashes[i]);
    text->keys[i] = pgw_arena_alloc(&text->arena, insert->row_count * sizeof *text->keys[i]);
    for (size_t r = 0; r < insert->row_count; r++)
        hash_row(worker, text, i, r, env);
    if (text->refusals[i] == NULL)
        text->superseded[i] = rw_insert_supersede(insert, text->keys[i], &text->arena);
}

/* Those of RW_EFFECT_RUNS and RW_EFFECT_READS by which no code in the database changes a
 * setting. */
static unsigned quiet_of(const px_text *text)
{
    return text->catalog->count == 0 ? RW_EFFECT_RUNS | RW_EFFECT_READS
                                     : text->catalog->tables[0]->quiet;
}

static bool is_quiet(const px_text *text)
{
    return quiet_of(text) & RW_EFFECT_RUNS;
}

/* Refuses a write to a configured table, whose rows get no hash. */
static void refuse_write(px_text *text, size_t i, const pgw_error *error)
{
    rw_insert *insert = text->script.statements[i].insert;
    px_text_refuse(text, i, error);
    for (size_t r = 0; insert != NULL && r < insert->row_count; r++)
        insert->rows[r].unhashed = true;
}

/* Whether the columns of the statement's table, as they are by then, cannot be known before the
 * text is sent. */
static bool is_reshaped(const px_text *text, size_t i)
{
    return text->reshaped != NULL && text->reshaped[i];
}

static void refuse_reshaped(px_text *text, size_t i)
{
    const rw_statement *statement = &text->script.statements[i];
    const rw_insert *insert = statement->insert;
    const rw_table *table = px_written_by(statement);
    if (table == NULL)
        return; /* the statement is no write to the table as it is now */
    pgw_error error;
    pgw_fail(&error, "0A000", "table %s may be changed earlier in the same Query", table->name);
    pgw_error_hint(&error, "Send the %s in a Query of its own.",
                   insert != NULL ? "INSERT" : "UPDATE");
    refuse_write(text, i, &error);
}

/* Whether names may mean something else behind statements of these effects. */
static bool moves_names(const px_text *text, unsigned effects)
{
    return effects & (RW_EFFECT_NAMES | RW_EFFECT_SETTINGS) ||
           (effects & RW_EFFECT_TRANSACTION && text->moved) ||
           (effects & RW_EFFECT_CALLS && !is_quiet(text));
}

size_t px_text_apart(const px_text *text)
{
    unsigned before = 0;
    for (size_t i = 0; i < text->script.count; i++) {
        const rw_statement *statement = &text->script.statements[i];
        bool put_in = statement->lookup_count > 0 || statement->star_count > 0;
        bool unknown =
            (put_in && !statement->defines && (before & RW_EFFECT_DDL)) ||
            (text->executes && statement->effects & RW_EFFECT_RESUMES && moves_names(text, before));
        if (i > 0 && (statement->apart || unknown || is_reshaped(text, i)))
            return i;
        before |= statement->effects;
    }
    return 0;
}

/* Whether a row's hash is of a value that is cast to a type by its name. */
static bool casts_key(const rw_insert *insert)
{
    const rw_table *table = insert->table;
    for (size_t r = 0; r < insert->row_count && !insert->query; r++)
        for (size_t k = 0; k < table->primary_key_count; k++)
            if (insert->rows[r].key[k].cast_count > 0)
                return true;
    return false;
}

/* Types that functions, DO and CALL may make by the way are found before PostgreSQL's own. */
static void refuse_made_types(px_text *text, size_t i, unsigned before)
{
    const unsigned anything =
        RW_EFFECT_SETTINGS | RW_EFFECT_NAMES | RW_EFFECT_STATE | RW_EFFECT_OUTPUT;
    const rw_insert *insert = text->script.statements[i].insert;
    bool unseen = (before & anything) == anything || (before & RW_EFFECT_CALLS && !is_quiet(text));
    if (insert == NULL || !unseen || !casts_key(insert))
        return;
    pgw_error error;
    pgw_fail(&error, "0A000",
             "a type that the key is cast to may be made earlier in the same Query");
    pgw_error_hint(&error, "Send the INSERT in a Query of its own.");
    refuse_write(text, i, &error);
}

static void refuse_altered(px_text *text, size_t i)
{
    pgw_error error;
    pgw_fail(&error, "0A000", "the table may be changed earlier in the same pipeline");
    pgw_error_hint(&error, "Send Sync before the statement.");
    refuse_write(text, i, &error);
}

static void put_conditions(px_text *text, size_t i, const pgw_env *env)
{
    rw_statement statement = text->script.statements[i];
    pgw_error error;
    pgw_reading reading = {env, &text->arena, &error};
    unsigned effects = text->script.effects;
    bool changes = effects & RW_EFFECT_DDL || /* a statement behind the PREPARE may execute it */
                   (effects & RW_EFFECT_RESUMES && moves_names(text, effects));
    if (statement.prepares != NULL && (!text->remembered || changes))
        statement.lookup_count = 0;
    if (statement.lookup_count > 0 || statement.star_count > 0)
        rw_conditions_of(&statement, NULL, &reading, &text->conditions[i]);
}

bool px_moves_zone(unsigned effects)
{
    return (effects & (RW_EFFECT_TRACKED | RW_EFFECT_SETTINGS | RW_EFFECT_DISCARD_ALL |
                       RW_EFFECT_TRANSACTION)) != 0;
}

/* Whether TimeZone may be another behind statements of these effects. What was prepared or declared
 * may have called anything. */
static bool may_have_moved_zone(const px_text *text, unsigned effects)
{
    const unsigned stored = RW_EFFECT_RUNS | RW_EFFECT_READS;
    unsigned loud = (is_quiet(text) ? 0 : RW_EFFECT_CALLS) | (stored & ~quiet_of(text));
    return px_moves_zone(effects) || (effects & (RW_EFFECT_RESUMES | loud)) != 0;
}

void px_text_hash(px_worker *worker, px_text *text, pgw_env env)
{
    const rw_script *script = &text->script;
    text->hashes = pgw_arena_alloc(&text->arena, script->count * sizeof *text->hashes);
    text->keys = pgw_arena_alloc(&text->arena, script->count * sizeof *text->keys);
    text->superseded = pgw_arena_alloc(&text->arena, script->count * sizeof *text->superseded);
    text->refusals = pgw_arena_alloc(&text->arena, script->count * sizeof *text->refusals);
    text->conditions = pgw_arena_alloc(&text->arena, script->count * sizeof *text->conditions);
    unsigned before = text->altered ? RW_EFFECT_DDL : 0; /* effects of earlier statements */
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        /* Whether the columns of tables, as they are by then, are known. */
        bool known = !(before & RW_EFFECT_DDL);
        env.zone_known = env.zone_known && !may_have_moved_zone(text, before);
        if (known || statement->defines || statement->change != NULL)
            put_conditions(text, i, &env);
        refuse_made_types(text, i, before);
        if (i + 1 < script->count)
            before |= rw_insert_effects(statement, env.conforming);
        bool writes = statement->insert != NULL || statement->change != NULL;
        if (writes && text->altered)
            refuse_altered(text, i);
        if (is_reshaped(text, i))
            refuse_reshaped(text, i);
        if (statement->kind == RW_STATEMENT_REFUSED)
            px_text_refuse(text, i, statement->error);
        else if (statement->insert != NULL && statement->insert->blocker != RW_BLOCKER_UNCOMPUTABLE)
            hash_insert(worker, text, i, &env);
    }
}

/* ---- the text for the own link ---- */

void px_text_spell(px_text *text, const pgw_env *env)
{
    for (size_t i = 0; i < text->script.count; i++)
        if (text->keys[i] != NULL && text->refusals[i] == NULL)
            rw_spell_keys(text->script.statements[i].insert, text->keys[i], env, &text->arena);
}

/* A refused statement is sent as one that every server refuses at the right time: it is parsed with
 * all the others, statements before it are run, and those behind are not. */
#define REFUSED_STATEMENT "select \"" RW_REFUSAL "\""

static void render_statement(const px_text *text, size_t i, pgw_buf *out)
{
    const rw_statement *statement = &text->script.statements[i];
    const rw_insert *insert = statement->insert;
    pgw_slice written = rw_statement_text(statement, text->text);
    if (text->refusals[i] != NULL && (insert == NULL || !rw_insert_may_fail(insert)))
        pgw_buf_add_str(out, REFUSED_STATEMENT);
    else if (insert == NULL)
        rw_conditions_render(&text->conditions[i], written, out);
    else
        rw_render_statement(insert, RW_HASH_CONSTANT, text->hashes[i], out);
}

/* keyspread's SQL that is run with statement `i`; one that is refused has none. */
static pgw_slice more_of(const px_text *text, size_t i, pgw_slice sql)
{
    return text->refusals[i] == NULL ? sql : (pgw_slice){NULL, 0};
}

static void render_before(const px_text *text, size_t i, pgw_buf *out)
{
    pgw_slice sql = more_of(text, i, text->script.statements[i].before);
    pgw_buf_add_slice(out, sql);
    pgw_buf_add_str(out, sql.len > 0 ? "; " : "");
}

static void render_behind(const px_text *text, size_t i, pgw_buf *out)
{
    pgw_slice sql = more_of(text, i, text->script.statements[i].behind);
    pgw_buf_add_str(out, sql.len > 0 ? "; " : "");
    pgw_buf_add_slice(out, sql);
}

size_t px_text_commands(const px_text *text, size_t i, size_t *own)
{
    const rw_statement *statement = &text->script.statements[i];
    *own = more_of(text, i, statement->before).len > 0;
    return *own + 1 + (more_of(text, i, statement->behind).len > 0);
}

void px_text_render(const px_text *text, size_t *sent_at, pgw_buf *out)
{
    const rw_script *script = &text->script;
    size_t from = 0;
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        pgw_buf_add(out, text->text.ptr + from, statement->start - from);
        render_before(text, i, out);
        if (sent_at != NULL)
            sent_at[i] = out->len;
        from = statement->start;
        bool as_it_was = statement->kind == RW_STATEMENT_FORWARD && text->refusals[i] == NULL;
        if (as_it_was && text->conditions[i].count == 0 && statement->behind.len == 0)
            continue;
        render_statement(text, i, out);
        render_behind(text, i, out);
        from = statement->end;
    }
    pgw_buf_add(out, text->text.ptr + from, text->text.len - from);
}
