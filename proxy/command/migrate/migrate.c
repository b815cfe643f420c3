#include "proxy/command/migrate/migrate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/scalar.h"
#include "proxy/command/migrate/decoding.h"
#include "proxy/command/migrate/migration.h"
#include "proxy/command/migrate/plan.h"
#include "proxy/command/migrate/rows.h"
#include "proxy/command/base/named.h"
#include "proxy/command/base/tables.h"
#include "proxy/backend/catalog/reader.h"
#include "proxy/server/config.h"

enum {
    TRIES = 50,     /* How often the cutover tries to lock the tables. */
    PAUSE_MS = 500, /* The pause between two tries, in which writers get through. */
    HEARD_MS = 100, /* So soon every keyspread has heard that tables are about to be switched, and
                       short writes that were under way are at their end. */
    MOST_RATE = 100 * 1000 * 1000
};

typedef enum migrate_step {
    STEP_NONE,
    STEP_PLAN,
    STEP_RUN,
    STEP_CUTOVER,
    STEP_BACK,
    STEP_FINISH
} migrate_step;

static const struct {
    const char *word;
    migrate_step step;
} steps[] = {{"--plan", STEP_PLAN},
             {"--run", STEP_RUN},
             {"--cutover", STEP_CUTOVER},
             {"--back", STEP_BACK},
             {"--finish", STEP_FINISH}};

static bool say(const px_migration *it, const char *text)
{
    fprintf(it->command->out, "%s\n", text);
    fflush(it->command->out);
    return true;
}

static bool refuse(const px_migration *it, const char *text)
{
    fprintf(it->command->errors, "keyspread: migrate: %s\n", text);
    return false;
}

/* --- plan, run --- */

/* Tables that have their hash need no migration; they are left out. False: then there is none left.
 */
static bool leave_out_spread(px_migration *it)
{
    size_t kept = 0;
    for (size_t i = 0; i < it->count; i++)
        if (it->tables[i]->columns[it->tables[i]->hash_column].attnum == 0)
            it->tables[kept++] = it->tables[i];
        else
            fprintf(it->command->errors, "keyspread: migrate: %s.%s has its hash column already\n",
                    it->tables[i]->schema, it->tables[i]->name);
    it->count = kept;
    return kept > 0 ||
           refuse(it, "there is no table to migrate: name an entry, or tables of a pattern");
}

static bool plan(px_migration *it, px_phase phase)
{
    if (!leave_out_spread(it))
        return false;
    if (phase != PX_PHASE_NONE)
        return refuse(it,
                      "a migration is under way, whose statements are in keyspread.migration_step");
    bool good = px_migration_do(it, it->writer, "begin");
    bool fits = good && px_plan_make(it);
    good = good && PQtransactionStatus(it->writer) == PQTRANS_INTRANS && px_plan_print(it);
    return px_migration_do(it, it->writer, "rollback") && good && fits;
}

static bool begin(px_migration *it)
{
    bool good = leave_out_spread(it) && px_migration_do(it, it->writer, "begin") &&
                px_plan_make(it) && px_plan_keep(it) && px_migration_do(it, it->writer, "commit");
    if (!good && PQtransactionStatus(it->writer) != PQTRANS_IDLE)
        PQclear(PQexec(it->writer, "rollback"));
    return good;
}

static bool run(px_migration *it, px_phase phase)
{
    px_caught caught;
    if (phase > PX_PHASE_READY)
        return refuse(it,
                      "the tables are switched already: --finish or --back is what can come now");
    if (phase == PX_PHASE_NONE && !begin(it))
        return false;
    if (!px_migration_load(it))
        return false;
    if (phase != PX_PHASE_READY &&
        !(px_plan_run(it, "make") && px_rows_copy(it) && px_rows_catch_up(it, false, &caught) &&
          px_plan_run(it, "index")))
        return false;
    return px_rows_catch_up_soon(it) && px_migration_reach(it, PX_PHASE_READY) &&
           say(it, "All rows are in the new tables. Next: keyspread migrate CONFIG --cutover");
}

/* --- one transaction that switches --- */

typedef enum attempt { ATTEMPT_DONE, ATTEMPT_LOCKED, ATTEMPT_FAILED } attempt;

/* What comes out of a statement within an attempt; the transaction is over unless it is done. */
static attempt try_statements(const px_migration *it, const char *sql)
{
    PGresult *result = PQexec(it->writer, sql);
    ExecStatusType status = PQresultStatus(result);
    attempt made = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? ATTEMPT_DONE
                   : px_migration_was_locked(result)                       ? ATTEMPT_LOCKED
                                                                           : ATTEMPT_FAILED;
    if (made == ATTEMPT_FAILED)
        px_migration_say(it, result,
                         PQstatus(it->writer) == CONNECTION_OK
                             ? "the switch failed, and has changed nothing"
                             : "the link was lost in the switch: run the command again, which "
                               "sees how far it came");
    PQclear(result);
    if (made != ATTEMPT_DONE)
        PQclear(PQexec(it->writer, "rollback"));
    return made;
}

/* The migrated tables and all that have foreign keys of or to them: these change, too. */
static char *lock_statement(const px_migration *it, const char *mode)
{
    PGresult *rows = px_migration_askf(it, it->writer,
                                       "select 'lock table ' || string_agg(format('%%I.%%I', "
                                       "nspname, relname), ', ' order by c.oid) || ' in %s mode'"
                                       " from pg_class c join pg_namespace s on s.oid = "
                                       "c.relnamespace where c.oid in (select to_regclass(name)"
                                       " from keyspread.migration_table union select case when "
                                       "m.oid = o.conrelid then o.confrelid else"
                                       " o.conrelid end from (select to_regclass(name)::oid oid "
                                       "from keyspread.migration_table) m join"
                                       " pg_constraint o on o.contype = 'f' and m.oid in "
                                       "(o.conrelid, o.confrelid) where o.conparentid = 0)",
                                       mode);
    char *text =
        rows != NULL ? pgw_strndup(PQgetvalue(rows, 0, 0), (size_t)PQgetlength(rows, 0, 0)) : NULL;
    PQclear(rows);
    return text;
}

/* What is done with all tables in one transaction: few messages, for all wait meanwhile. */
typedef struct exchange {
    const char *version; /* That of the tables. NULL: the new tables have the names, and nothing is
                            to be caught up. */
    pgw_buf lock;        /* Begins the transaction, and keeps writers out; not readers. */
    pgw_buf exchange;    /* Keeps readers out, too, and does all the rest, with the commit. */
} exchange;

#define BEGIN "begin isolation level repeatable read; "

/* While statements wait for the command, it waits for nobody's lock longer, be it to read. */
#define IMPATIENT "set lock_timeout = '300ms'"
#define LOCK                                                                                       \
    "select pg_advisory_lock(" PX_SWITCH_LOCK "); select pg_notify('" PX_DDL_CHANNEL               \
    "', '" PX_SWITCH_NOTICE "'); " IMPATIENT
#define UNLOCK "set lock_timeout = 0; select pg_advisory_unlock(" PX_SWITCH_LOCK ")"

/* Locks all tables within 300 ms, for which others may wait in vain, and nobody longer. False with
 * a message. */
static bool add_lock(const px_migration *it, const char *mode, pgw_buf *sql)
{
    char *lock = lock_statement(it, mode);
    pgw_buf_addf(sql, "set local statement_timeout = '300ms'; %s; set local statement_timeout = 0;",
                 lock != NULL ? lock : "");
    free(lock);
    return lock != NULL;
}

/* False with a message. Freed by exchange_free() in any case. */
static bool exchange_make(const px_migration *it, const char *phase, px_phase reached,
                          exchange *what)
{
    char *statements = px_plan_statements(it, phase);
    bool good = statements != NULL;
    pgw_buf_add_str(what->version != NULL ? &what->lock : &what->exchange, BEGIN);
    good = good && (what->version == NULL || add_lock(it, "share row exclusive", &what->lock)) &&
           add_lock(it, "access exclusive", &what->exchange);
    pgw_buf_add_str(&what->exchange, good ? statements : "");
    px_migration_add_reach(reached, &what->exchange);
    pgw_buf_add(&what->exchange, "; commit", sizeof "; commit");
    pgw_buf_add_byte(&what->lock, '\0');
    free(statements);
    return good;
}

static void exchange_free(exchange *what)
{
    pgw_buf_free(&what->lock);
    pgw_buf_free(&what->exchange);
}

/* Takes changes over, where others wait: the transaction is over if that fails. */
static attempt catch_up(const px_migration *it, bool open)
{
    px_caught caught;
    return px_rows_catch_up(it, open, &caught) ? ATTEMPT_DONE
           : caught.locked                     ? ATTEMPT_LOCKED
                                               : ATTEMPT_FAILED;
}

/* Makes sure that the tables are those that the plan was made of. */
static attempt check_version(const px_migration *it, const char *version)
{
    char *now = px_plan_version(it);
    bool same = now != NULL && strcmp(now, version) == 0;
    if (now != NULL && !same)
        refuse(it, "the tables are being changed: try again");
    free(now);
    if (!same)
        PQclear(PQexec(it->writer, "rollback"));
    return same ? ATTEMPT_DONE : ATTEMPT_FAILED;
}

/* While the last changes are taken over, readers go on: the reader's link is one of them. */
static attempt exchange_once(const px_migration *it, const exchange *what)
{
    attempt made = what->version != NULL ? try_statements(it, what->lock.ptr) : ATTEMPT_DONE;
    if (made == ATTEMPT_DONE && what->version != NULL)
        made = catch_up(it, true);
    if (made == ATTEMPT_DONE && what->version != NULL)
        made = check_version(it, what->version);
    return made == ATTEMPT_DONE ? try_statements(it, what->exchange.ptr) : made;
}

static void pause_ms(int ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

/* Every keyspread lets statements on its tables wait from then on, until it sees the tables anew.
 */
static bool hold_writers(const px_migration *it)
{
    return px_migration_do(it, it->writer, LOCK);
}

/* Takes over most of what has changed while every keyspread hears of the switch, so that little is
 * left to do under the lock. To read a slot takes longer than what it brings: that is done once. */
static attempt await_quiet(const px_migration *it, const exchange *what)
{
    double begun = px_migration_now();
    attempt made = what->version != NULL && !it->decoding ? catch_up(it, false) : ATTEMPT_DONE;
    int rest = HEARD_MS - (int)((px_migration_now() - begun) * 1000);
    if (made == ATTEMPT_DONE && rest > 0)
        pause_ms(rest);
    return made;
}

static attempt exchange_held(const px_migration *it, const exchange *what)
{
    double begun = px_migration_now();
    if (!hold_writers(it))
        return ATTEMPT_FAILED;
    attempt made = await_quiet(it, what);
    if (made == ATTEMPT_DONE)
        made = exchange_once(it, what);
    if (!px_migration_do(it, it->writer, UNLOCK)) {
        if (made == ATTEMPT_DONE)
            refuse(it,
                   "the tables are switched, and the rest is to be done: run the command again");
        return ATTEMPT_FAILED;
    }
    if (made == ATTEMPT_DONE)
        fprintf(it->command->out, "Writers have waited for %.2f s.\n", px_migration_now() - begun);
    else if (made == ATTEMPT_LOCKED)
        say(it, "others hold a lock: the tables are not switched yet");
    return made;
}

/* Between two tries. A slot is read to now, so that the next try need not read so much. */
static attempt let_through(const px_migration *it, const exchange *what)
{
    pause_ms(PAUSE_MS);
    if (what->version == NULL || !it->decoding)
        return ATTEMPT_DONE;
    attempt made = catch_up(it, false);
    return made == ATTEMPT_DONE && !px_decoding_confirm(it) ? ATTEMPT_FAILED : made;
}

/* All tables in one transaction. For the last changes writers are kept out, and readers are not;
 * then the names are exchanged, which takes a moment. */
static bool switch_tables(const px_migration *it, const char *phase, const char *version,
                          px_phase reached)
{
    exchange what = {.version = version};
    bool good = exchange_make(it, phase, reached, &what) &&
                (version == NULL || px_rows_catch_up_soon(it)) &&
                px_migration_do(it, it->reader, IMPATIENT);
    attempt made = good ? ATTEMPT_LOCKED : ATTEMPT_FAILED;
    for (int i = 0; i < TRIES && made == ATTEMPT_LOCKED; i++) {
        made = i > 0 ? let_through(it, &what) : ATTEMPT_DONE;
        if (made == ATTEMPT_DONE)
            made = exchange_held(it, &what);
    }
    if (made == ATTEMPT_LOCKED)
        refuse(it, "others have held locks all the time, and nothing is switched: end long "
                   "transactions, and try again");
    exchange_free(&what);
    return made == ATTEMPT_DONE;
}

/* --- cutover, back, finish --- */

static bool switch_to_new(const px_migration *it)
{
    char *version = NULL;
    bool good = px_rows_compare(it, false) && px_plan_still_fits(it, &version) &&
                switch_tables(it, "cutover", version, PX_PHASE_CUT) &&
                say(it, "The new tables have the names.");
    free(version);
    return good;
}

static bool cutover(px_migration *it, px_phase phase)
{
    if (phase == PX_PHASE_NONE || phase == PX_PHASE_BEGUN)
        return refuse(it, "not all rows are copied: --run comes first");
    if (phase == PX_PHASE_BACK)
        return refuse(it, "the migration is being taken back: --back goes on");
    if (!px_migration_load(it))
        return false;
    if (phase == PX_PHASE_READY && !switch_to_new(it))
        return false;
    return px_plan_run(it, "check") &&
           say(it, "Done. The old tables are kept in step, for --back, until --finish drops them.");
}

/* Runs a phase that ends the migration: in the transaction that takes its state away. */
static bool end_by(const px_migration *it, const char *phase)
{
    pgw_buf sql = {0};
    char *statements = px_plan_statements(it, phase);
    pgw_buf_addf(&sql, "%s%s", statements != NULL ? statements : "", px_plan_forget);
    bool good = statements != NULL && px_migration_patiently(it, sql.ptr);
    pgw_buf_free(&sql);
    free(statements);
    return good;
}

/* Whether both tables have the same columns still: the old one does not follow an ALTER TABLE. */
static bool has_same_columns(const px_migration *it)
{
    PGresult *rows = px_migration_ask(
        it, it->writer,
        "select name from keyspread.migration_table t where columns is distinct from (select"
        " string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute where attrelid ="
        " to_regclass(t.name) and attnum > 0 and not attisdropped and attname <> t.hash)");
    bool same = rows != NULL && PQntuples(rows) == 0;
    if (rows != NULL && !same)
        fprintf(it->command->errors,
                "keyspread: migrate: the columns of %s have been changed since the cutover, and "
                "those of the old "
                "table were not: --finish is the only way on, or the columns as they were\n",
                PQgetvalue(rows, 0, 0));
    PQclear(rows);
    return same;
}

static bool back(px_migration *it, px_phase phase)
{
    if (phase == PX_PHASE_NONE)
        return refuse(it, "there is no migration that could be taken back");
    if (phase == PX_PHASE_BEGUN || phase == PX_PHASE_READY)
        return end_by(it, "abandon") &&
               say(it, "The migration is taken back: the tables are as they were.");
    if (phase == PX_PHASE_CUT &&
        !(px_migration_load(it) && has_same_columns(it) && px_rows_compare(it, true) &&
          switch_tables(it, "back", NULL, PX_PHASE_BACK) &&
          say(it, "The old tables have the names.")))
        return false;
    return px_plan_run(it, "check_back") && px_migration_patiently(it, px_plan_forget) &&
           say(it, "Done.");
}

static bool finish(px_migration *it, px_phase phase)
{
    PGresult *left = phase != PX_PHASE_CUT
                         ? NULL
                         : px_migration_ask(it, it->writer,
                                            "select from keyspread.migration_step where phase ="
                                            " 'check' and not done");
    bool checked = left != NULL && PQntuples(left) == 0;
    PQclear(left);
    if (phase != PX_PHASE_CUT || !checked)
        return refuse(it, phase == PX_PHASE_CUT
                              ? "foreign keys are not all checked: --cutover goes on with that"
                              : "the tables are not switched: --run and --cutover come first");
    return end_by(it, "finish") && say(it, "Done. The old tables are dropped.");
}

static bool take_step(px_migration *it, migrate_step step)
{
    px_phase phase;
    if (!px_migration_open(it) || !px_migration_phase(it, &phase))
        return false;
    switch (step) {
    case STEP_PLAN:
        return plan(it, phase);
    case STEP_RUN:
        return run(it, phase);
    case STEP_CUTOVER:
        return cutover(it, phase);
    case STEP_BACK:
        return back(it, phase);
    case STEP_FINISH:
        return finish(it, phase);
    case STEP_NONE:
        break;
    }
    return false;
}

/* --- the tables --- */

/* Tables and what the file says of them. */
typedef struct asked {
    const px_command *command;
    const cfg_config *config;
    px_tables *tables; /* One a name on the command line; or of all entries, and one a pattern. */
    px_named *named;
    size_t count, named_count;
    const rw_table **all;
    size_t all_count;
    pgw_arena arena; /* The tables point to the configurations in it. */
} asked;

/* A table that has its hash is migrated already, unless it was by the migration that is under way.
 */
static bool take_table(asked *it, const rw_table *table, const char *path)
{
    pgw_error error = PGW_ERROR_NONE;
    if (table->unusable != NULL && !px_table_can_hash(table, &error)) {
        fprintf(it->command->errors, "%s: table %s.%s: %s\n", path, table->schema, table->name,
                error.message);
        return false;
    }
    it->all = pgw_realloc(it->all, (it->all_count + 1) * sizeof *it->all);
    it->all[it->all_count++] = table;
    return true;
}

/* The entries alone, of whose columns the database is asked, whatever the file says. */
static const cfg_config *without_columns(asked *it, const cfg_config *config)
{
    cfg_config *other = pgw_arena_alloc(&it->arena, sizeof *other);
    *other = *config;
    other->pattern_count = other->columnar_count = 0;
    other->tables = pgw_arena_alloc(&it->arena, config->table_count * sizeof *other->tables);
    for (size_t i = 0; i < config->table_count; i++) {
        other->tables[i] = config->tables[i];
        other->tables[i].column_count = 0;
    }
    return other;
}

static bool take_named(asked *it, const cfg_config *config)
{
    px_tables *tables = &it->tables[it->count++];
    bool good = px_tables_load(tables, without_columns(it, config), it->command->errors);
    for (size_t i = 0; good && i < tables->count; i++)
        good = take_table(it, tables->tables[i], config->path);
    return good;
}

static bool take_name(asked *it, const char *name)
{
    px_named *named = &it->named[it->named_count++];
    return px_named_find(named, it->config, name, it->command->errors) &&
           take_named(it, &named->config);
}

/* Without names all of the file's are meant. */
static bool find_tables(asked *it, size_t count, char **names)
{
    const cfg_config *config = it->config;
    size_t most = count + config->pattern_count + 1;
    it->tables = pgw_calloc(most, sizeof *it->tables);
    it->named = pgw_calloc(most, sizeof *it->named);
    bool good = count > 0 || take_named(it, config);
    for (size_t i = 0; good && count == 0 && i < config->pattern_count; i++)
        good = take_name(it, cfg_table_label(&config->tables[config->table_count + i]));
    for (size_t i = 0; good && i < count; i++)
        good = take_name(it, names[i]);
    return good;
}

static void free_tables(asked *it)
{
    for (size_t i = 0; i < it->named_count; i++)
        px_named_free(&it->named[i]);
    for (size_t i = 0; i < it->count; i++)
        px_tables_free(&it->tables[i]);
    pgw_arena_free(&it->arena);
    free(it->all);
    free(it->named);
    free(it->tables);
}

/* --- the command's words --- */

/* What the words say. */
typedef struct words {
    migrate_step step;
    unsigned rate;
    uint64_t max_lag;
    bool decoding;
    char **accepted, **names;
    size_t accepted_count, name_count;
} words;

static bool read_rate(const char *text, unsigned *rate)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *rate = (unsigned)number;
    return *text >= '1' && *text <= '9' && *end == '\0' && number <= MOST_RATE;
}

static bool read_option(words *to, char *word)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (strcmp(word, steps[i].word) == 0) {
            bool first = to->step == STEP_NONE;
            to->step = steps[i].step;
            return first;
        }
    if (strncmp(word, "--rate=", 7) == 0)
        return read_rate(word + 7, &to->rate);
    if (strncmp(word, "--max-lag=", 10) == 0)
        return cfg_parse_size(word + 10, &to->max_lag) == NULL && to->max_lag > 0;
    if (strcmp(word, "--changes=triggers") == 0 || strcmp(word, "--changes=decoding") == 0) {
        to->decoding = word[10] == 'd';
        return true;
    }
    if (strncmp(word, "--accept=", 9) != 0 || word[9] == '\0')
        return false;
    to->accepted[to->accepted_count++] = word + 9;
    return true;
}

/* The first word that is no option is CONFIG. */
static bool read_words(const px_command *command, words *to)
{
    for (int i = 0; i < command->argc; i++)
        if (command->argv[i][0] != '-')
            to->names[to->name_count++] = command->argv[i];
        else if (!read_option(to, command->argv[i])) {
            fprintf(command->errors, "keyspread: migrate does not take \"%s\" here\n",
                    command->argv[i]);
            return false;
        }
    return to->name_count > 0 && to->step != STEP_NONE;
}

static bool migrate(const px_command *command, const words *what)
{
    cfg_config *config = px_config_load(what->names[0], command->errors);
    if (config != NULL && config->backend.dialect == CFG_DIALECT_YDB) {
        fputs("keyspread: migrate works in PostgreSQL alone\n", command->errors);
        cfg_free(config);
        return false;
    }
    asked tables = {.command = command, .config = config};
    bool good = config != NULL && find_tables(&tables, what->name_count - 1, what->names + 1);
    px_migration it = {.command = command,
                       .config = config,
                       .tables = tables.all,
                       .count = tables.all_count,
                       .rate = what->rate,
                       .max_lag = what->max_lag,
                       .decoding = what->decoding,
                       .accepted = what->accepted,
                       .accepted_count = what->accepted_count};
    good = good && take_step(&it, what->step);
    px_migration_close(&it);
    if (config != NULL)
        free_tables(&tables);
    cfg_free(config);
    return good;
}

int px_command_migrate(const px_command *command)
{
    size_t most = (size_t)command->argc;
    words what = {.accepted = pgw_calloc(most, sizeof(char *)),
                  .names = pgw_calloc(most, sizeof(char *))};
    bool usage = !read_words(command, &what);
    if (usage)
        fputs("usage: keyspread migrate CONFIG [TABLE...] --plan | --run [--rate=ROWS] "
              "[--max-lag=BYTES] "
              "| --cutover | --back | --finish [--changes=triggers|decoding] [--accept=NAME...]\n",
              command->errors);
    bool good = !usage && migrate(command, &what);
    free(what.accepted);
    free(what.names);
    return usage ? PX_USAGE : good ? PX_DONE : PX_WRONG;
}
