#include "proxy/client/core/statements.h"

#include "protocol/frame.h"
#include "protocol/frontend.h"

#include <stdlib.h>
#include <string.h>

static bool is_called(const px_statement *statement, pgw_slice name)
{
    return statement != NULL && pgw_slice_eq(statement->entry.name, name);
}

/* Most sessions execute what they have prepared last, be it ours, in front, or on the link. */
px_statement *px_statements_find(const px_statements *statements, pgw_slice name)
{
    if (is_called(statements->first, name))
        return statements->first;
    if (is_called(statements->last, name))
        return statements->last;
    return (px_statement *)px_table_find(&statements->names, name);
}

/* ---- on the link, or not ---- */

static void unchain(px_statements *statements, px_statement *statement)
{
    *(statement->previous ? &statement->previous->next : &statements->first) = statement->next;
    *(statement->next ? &statement->next->previous : &statements->last) = statement->previous;
}

static void chain(px_statements *statements, px_statement *statement)
{
    bool behind = px_statements_on_link(statements, statement) && !statement->raw_parse;
    statement->previous = behind ? statements->last : NULL;
    statement->next = behind ? NULL : statements->first;
    *(statement->previous ? &statement->previous->next : &statements->first) = statement;
    *(statement->next ? &statement->next->previous : &statements->last) = statement;
}

pgw_slice px_statements_kept_text(const pgw_buf *parse)
{
    pgw_parse read;
    pgw_slice message = pgw_slice_buf(parse);
    bool kept =
        message.len > PGW_HEADER &&
        pgw_parse_decode((pgw_slice){message.ptr + PGW_HEADER, message.len - PGW_HEADER}, &read);
    return kept ? read.query : (pgw_slice){NULL, 0};
}

bool px_statements_on_link(const px_statements *statements, const px_statement *statement)
{
    return statement->link == statements->links_lost + 1;
}

static void mark(const px_statements *statements, px_statement *statement, bool on_link)
{
    statement->link = on_link ? statements->links_lost + 1 : 0;
}

void px_statements_move(px_statements *statements, px_statement *statement, bool on_link)
{
    unchain(statements, statement);
    mark(statements, statement, on_link);
    statement->raw_parse = false;
    chain(statements, statement);
}

void px_statements_raw_parse(px_statements *statements, px_statement *statement)
{
    unchain(statements, statement);
    statement->raw_parse = true;
    chain(statements, statement);
}

bool px_statements_is_raw_parse(const px_statements *statements, const px_statement *statement)
{
    return statement->raw_parse && px_statements_on_link(statements, statement);
}

void px_statements_lose_link(px_statements *statements)
{
    statements->links_lost++;
}

px_statement *px_statements_away(const px_statements *statements)
{
    px_statement *first = statements->first;
    bool away = first != NULL && (!px_statements_on_link(statements, first) || first->raw_parse);
    return away ? first : NULL;
}

/* ---- the map ---- */

/* Counts a plan's memory once for all who have prepared it. Returns its bytes, as they weigh for
 * this session. */
static size_t count_plan(const px_statements *statements, px_plan *plan, size_t one)
{
    bool first = one == 1 && plan->holders == 0;
    if (first)
        plan->counted = plan->arena.bytes;
    plan->holders += one;
    if (first || plan->holders == 0)
        atomic_fetch_add(statements->account, one * plan->counted);
    return plan->counted;
}

static void count_bytes(px_statements *statements, const px_statement *statement, size_t one)
{
    size_t bytes = statement->parse.len + statement->prepare.len;
    if (statement->lookups != NULL)
        bytes += statement->lookups->arena.bytes;
    if (statement->reads != NULL)
        bytes += statement->reads->map->size;
    if (statements->account == NULL)
        return;
    atomic_fetch_add(statements->account, one * bytes);
    if (statement->plan != NULL)
        bytes += count_plan(statements, statement->plan, one);
    statements->weight += one * bytes;
}

/* A string that begins with a digit, as dates do. */
static bool has_dates(pgw_slice text)
{
    for (size_t i = 0; i + 1 < text.len; i++)
        if (text.ptr[i] == '\'' && text.ptr[i + 1] >= '0' && text.ptr[i + 1] <= '9')
            return true;
    return false;
}

/* Constants inside of expressions, queries and ON CONFLICT are only searched for what looks like a
 * date. */
bool px_statement_reads(const px_statement *statement)
{
    const rw_insert *insert = statement->plan != NULL ? statement->plan->insert : NULL;
    if (insert == NULL || insert->reads_constants)
        return insert != NULL;
    size_t from = insert->query || insert->heeds_settings ? 0 : insert->tail;
    return insert->end > from &&
           has_dates((pgw_slice){insert->text.ptr + from, insert->end - from});
}

/* Bytes kept of the statement to prepare it again, as SQL's PREPARE may be, too. */
static size_t kept_of(const px_statement *statement)
{
    const px_lookups *lookups = statement->lookups;
    return statement->parse.len + statement->prepare.len +
           (lookups != NULL && lookups->sql_execute ? lookups->arena.bytes : 0);
}

/* Counts it in (1) or out (-1). */
static void count(px_statements *statements, const px_statement *statement, int by)
{
    size_t one = (size_t)by;
    count_bytes(statements, statement, one);
    statements->ours += statement->plan != NULL ? (unsigned)by : 0;
    statements->reading += px_statement_reads(statement) ? (unsigned)by : 0;
    statements->unkept += statement->plan == NULL && statement->parse.len == 0 ? (unsigned)by : 0;
    statements->kept_bytes += one * kept_of(statement);
}

static void add(px_statements *statements, px_statement *statement)
{
    px_table_add(&statements->names, &statement->entry, pgw_slice_str(statement->name));
    chain(statements, statement);
    count(statements, statement, 1);
}

px_statement *px_statements_put(px_statements *statements, pgw_slice name, px_plan *plan,
                                bool on_link)
{
    px_statement *statement = pgw_alloc(sizeof *statement + name.len + 1);
    *statement = (px_statement){.plan = plan};
    if (name.len > 0)
        memcpy(statement->name, name.ptr, name.len);
    statement->name[name.len] = '\0';
    if (plan != NULL)
        px_plan_take(plan);
    mark(statements, statement, on_link);
    px_statements_remove(statements, name);
    add(statements, statement);
    return statement;
}

void px_statements_replan(px_statements *statements, px_statement *statement, px_plan *plan)
{
    count(statements, statement, -1);
    px_plan_drop(statement->plan);
    statement->plan = plan;
    count(statements, statement, 1);
}

bool px_statements_are_many(const px_statements *statements, uint64_t most)
{
    return statements->account != NULL && statements->weight >= PX_PREPARED_FREE &&
           atomic_load(statements->account) >= most;
}

static void keep(px_statements *statements, px_statement *statement, pgw_buf *in, pgw_slice bytes)
{
    if (statements->kept_bytes + bytes.len > PX_KEPT_PARSES)
        return;
    count(statements, statement, -1);
    pgw_buf_add_slice(in, bytes);
    count(statements, statement, 1);
}

void px_statements_keep(px_statements *statements, px_statement *statement, pgw_slice parse)
{
    keep(statements, statement, &statement->parse, parse);
}

void px_statements_keep_prepare(px_statements *statements, px_statement *statement, pgw_slice text)
{
    keep(statements, statement, &statement->prepare, text);
}

bool px_statements_have_room(const px_statements *statements, size_t len)
{
    return len <= PX_KEPT_PARSE && statements->kept_bytes + 4 * len <= PX_KEPT_PARSES;
}

void px_statements_look_up(px_statements *statements, px_statement *statement, px_lookups *lookups)
{
    count(statements, statement, -1);
    px_lookups_take(statement->lookups = lookups);
    count(statements, statement, 1);
}

void px_statements_read(px_statements *statements, px_statement *statement, px_reads *reads)
{
    count(statements, statement, -1);
    px_reads_free(statement->reads);
    statement->reads = reads;
    count(statements, statement, 1);
}

void px_statements_forget_lookups(px_statements *statements, px_statement *statement,
                                  pgw_slice parse)
{
    count(statements, statement, -1);
    px_lookups_drop(statement->lookups);
    statement->lookups = NULL;
    pgw_buf_clear(&statement->parse);
    pgw_buf_add_slice(&statement->parse, parse);
    count(statements, statement, 1);
}

px_statement *px_statements_take(px_statements *statements, pgw_slice name)
{
    px_statement *taken = (px_statement *)px_table_remove(&statements->names, name);
    if (taken == NULL)
        return NULL;
    unchain(statements, taken);
    count(statements, taken, -1);
    return taken;
}

void px_statements_restore(px_statements *statements, pgw_slice name, px_statement *taken)
{
    px_statements_remove(statements, name);
    if (taken != NULL)
        add(statements, taken);
}

void px_statement_free(px_statement *taken)
{
    if (taken == NULL)
        return;
    px_plan_drop(taken->plan);
    px_plan_drop(taken->was);
    px_lookups_drop(taken->lookups);
    px_reads_free(taken->reads);
    pgw_buf_free(&taken->parse);
    pgw_buf_free(&taken->prepare);
    free(taken);
}

void px_statements_remove(px_statements *statements, pgw_slice name)
{
    px_statement_free(px_statements_take(statements, name));
}

void px_statements_clear(px_statements *statements)
{
    for (px_statement *next, *statement = statements->first; statement != NULL; statement = next) {
        next = statement->next;
        count(statements, statement, -1);
        px_statement_free(statement);
    }
    px_table_clear(&statements->names);
    *statements = (px_statements){.names = statements->names,
                                  .links_lost = statements->links_lost,
                                  .account = statements->account};
}

void px_statements_free(px_statements *statements)
{
    px_statements_clear(statements);
    px_table_free(&statements->names);
}
