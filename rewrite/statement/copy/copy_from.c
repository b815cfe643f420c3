#include "rewrite/statement/copy/copy_from.h"

#include "rewrite/lex/quote.h"
#include "rewrite/statement/tree/parse_tree.h"
#include "rewrite/statement/tree/readable.h"

#include <string.h>

/* --- its options --- */

static const char *string_of(const PgQuery__Node *arg)
{
    return arg != NULL && arg->node_case == PG_QUERY__NODE__NODE_STRING ? arg->string->sval : NULL;
}

/* Reads an option's argument as defGetBoolean() does; what that refuses counts as true. */
static bool is_on(const PgQuery__Node *arg)
{
    const char *text = string_of(arg);
    if (text != NULL)
        return strcasecmp(text, "false") != 0 && strcasecmp(text, "off") != 0;
    if (arg != NULL && arg->node_case == PG_QUERY__NODE__NODE_INTEGER)
        return arg->integer->ival != 0;
    return arg == NULL || arg->node_case != PG_QUERY__NODE__NODE_BOOLEAN || arg->boolean->boolval;
}

/* A COPY while it is read. */
typedef struct reader {
    const PgQuery__CopyStmt *copy;
    const rw_table *table;
    const pgw_reading *reading;
    rw_copy *out;
    bool whole;                                       /* no server reads the options */
    const PgQuery__Node *force_null, *force_not_null; /* lists of columns, or a star */
} reader;

static pgw_slice keep(reader *in, const char *text)
{
    return text == NULL ? (pgw_slice){NULL, 0}
                        : pgw_arena_copy(in->reading->arena, pgw_slice_str(text));
}

static void read_format(reader *in, const char *name)
{
    pgw_copy_options *data = &in->out->data;
    if (name != NULL && strcmp(name, "csv") == 0)
        data->format = PGW_COPY_CSV;
    else if (name != NULL && strcmp(name, "binary") == 0)
        data->format = PGW_COPY_BINARY;
}

static void read_header(reader *in, const PgQuery__Node *arg)
{
    const char *text = string_of(arg);
    bool match = text != NULL && strcasecmp(text, "match") == 0;
    in->out->data.header = match        ? PGW_COPY_HEADER_MATCH
                           : is_on(arg) ? PGW_COPY_HEADER
                                        : PGW_COPY_NO_HEADER;
}

static void read_encoding(reader *in, const char *name)
{
    in->out->encoded = name != NULL;
    in->out->encoding = name != NULL ? rw_encoding_of(name) : RW_ENCODING_UTF8;
}

/* Options that change nothing for what is read here. */
static bool is_neutral(const char *name)
{
    static const char *const names[] = {"freeze", "on_error", "reject_limit", "log_verbosity",
                                        "force_quote"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static char first_of(const char *text, char otherwise)
{
    return text != NULL ? text[0] : otherwise;
}

/* Reads an option; false: it is not known here. */
static bool read_option(reader *in, const PgQuery__DefElem *option)
{
    pgw_copy_options *data = &in->out->data;
    const char *name = option->defname, *text = string_of(option->arg);
    if (strcmp(name, "format") == 0)
        read_format(in, text);
    else if (strcmp(name, "header") == 0)
        read_header(in, option->arg);
    else if (strcmp(name, "delimiter") == 0)
        data->delimiter = first_of(text, '\0');
    else if (strcmp(name, "null") == 0)
        data->null = keep(in, text);
    else if (strcmp(name, "default") == 0)
        data->marker = keep(in, text);
    else if (strcmp(name, "quote") == 0)
        data->quote = first_of(text, '\0');
    else if (strcmp(name, "escape") == 0)
        data->escape = first_of(text, '\0');
    else if (strcmp(name, "encoding") == 0)
        read_encoding(in, text);
    else if (strcmp(name, "force_null") == 0)
        in->force_null = option->arg;
    else if (strcmp(name, "force_not_null") == 0)
        in->force_not_null = option->arg;
    else
        return is_neutral(name);
    return true;
}

static bool refuse(reader *in, const char *why, const char *hint)
{
    pgw_fail(in->reading->error, "0A000", "cannot COPY into table \"%s\" through keyspread: %s",
             in->table->name, why);
    pgw_error_hint(in->reading->error, "%s", hint);
    return false;
}

/* Fills in defaults, which depend on the format, once all options are read. */
static void put_defaults(pgw_copy_options *data)
{
    bool csv = data->format == PGW_COPY_CSV;
    if (data->delimiter == '\0')
        data->delimiter = csv ? ',' : '\t';
    if (data->null.ptr == NULL)
        data->null = csv ? PGW_LITERAL("") : PGW_LITERAL("\\N");
    if (data->quote == '\0')
        data->quote = '"';
    if (data->escape == '\0')
        data->escape = data->quote;
}

static bool read_options(reader *in)
{
    const pgw_env *env = in->reading->env;
    pgw_copy_options *data = &in->out->data;
    data->csv_dot_ends = env->server < 18;
    for (size_t i = 0; i < in->copy->n_options; i++) {
        const PgQuery__Node *node = in->copy->options[i];
        const PgQuery__DefElem *option =
            node->node_case == PG_QUERY__NODE__NODE_DEF_ELEM ? node->def_elem : NULL;
        if (option == NULL || (!read_option(in, option) && (in->whole || rw_grammar_is_older(env))))
            return refuse(in, "it has an option that is not known here",
                          "Known are the options of PostgreSQL 15 to 18.");
    }
    put_defaults(data);
    bool utf8 = in->out->encoded ? in->out->encoding == RW_ENCODING_UTF8 : env->utf8;
    if (in->whole && data->format != PGW_COPY_BINARY && !utf8)
        return refuse(in, "its data is in another encoding than UTF8",
                      "SET client_encoding TO 'UTF8', or write ENCODING 'UTF8'.");
    return true;
}

static bool check_digits(reader *in)
{
    return !pgw_copy_confuses(&in->out->data) ||
           refuse(in, "a number could be read as its NULL, DEFAULT, DELIMITER, QUOTE or ESCAPE",
                  "Choose strings that are not made of digits.");
}

/* The statement is written in the client's encoding, and the data in that of ENCODING. */
static bool check_null(reader *in)
{
    pgw_slice null = in->out->data.null;
    bool ascii = true;
    for (size_t i = 0; i < null.len; i++)
        ascii = ascii && (unsigned char)null.ptr[i] < 0x80;
    return ascii || !in->out->encoded ||
           refuse(in, "its NULL string has letters beyond ASCII, beside ENCODING",
                  "Choose a NULL string of ASCII.");
}

/* --- its columns --- */

/* Whether COPY without a list takes a value for the column. */
static bool is_copied(const rw_table *table, size_t column)
{
    bool gone = table->oid != 0 && table->columns[column].attnum == 0; /* unknown to the database */
    return column != table->hash_column && !table->columns[column].generated && !gone;
}

static size_t count_columns(const reader *in)
{
    size_t count = in->copy->n_attlist;
    for (size_t i = 0; in->copy->n_attlist == 0 && i < in->table->column_count; i++)
        count += is_copied(in->table, i);
    return count;
}

/* Column `i` of its rows, as an index into the table's. */
static size_t column_of(const reader *in, size_t i)
{
    if (in->copy->n_attlist > 0)
        return rw_table_column(in->table, pgw_slice_str(rw_name_of_node(in->copy->attlist[i])));
    size_t column = 0;
    for (;; column++)
        if (is_copied(in->table, column) && i-- == 0)
            return column;
}

static bool is_listed(const PgQuery__Node *arg, const char *column)
{
    if (arg == NULL || arg->node_case != PG_QUERY__NODE__NODE_LIST)
        return arg != NULL && arg->node_case == PG_QUERY__NODE__NODE_A_STAR;
    for (size_t i = 0; i < arg->list->n_items; i++)
        if (strcmp(rw_name_of_node(arg->list->items[i]), column) == 0)
            return true;
    return false;
}

static unsigned char force_of(const reader *in, const char *column)
{
    return (unsigned char)((is_listed(in->force_null, column) ? PGW_COPY_FORCE_NULL : 0) |
                           (is_listed(in->force_not_null, column) ? PGW_COPY_FORCE_NOT_NULL : 0));
}

static bool lists(const PgQuery__CopyStmt *copy, const char *column)
{
    for (size_t i = 0; i < copy->n_attlist; i++)
        if (strcmp(rw_name_of_node(copy->attlist[i]), column) == 0)
            return true;
    return false;
}

/* The first hash_key column that the list leaves out, if its values are numbers of a sequence that
 * can be drawn for it; else NULL. */
static const rw_column *drawn_column(const PgQuery__CopyStmt *copy, const rw_table *table)
{
    for (size_t i = 0; copy->n_attlist > 0 && i < table->hash_key_count; i++) {
        const rw_column *column = &table->columns[table->hash_key[i]];
        if (lists(copy, column->name) || rw_table_defaults_to_null(table, table->hash_key[i]))
            continue;
        bool integer =
            column->type == PGW_INT2 || column->type == PGW_INT4 || column->type == PGW_INT8;
        return column->draws_from != 0 && integer ? column : NULL;
    }
    return NULL;
}

static bool lists_key(const PgQuery__CopyStmt *copy, const rw_table *table)
{
    bool all = true;
    for (size_t i = 0; copy->n_attlist > 0 && i < table->primary_key_count; i++)
        all = all && lists(copy, table->columns[table->primary_key[i]].name);
    return all;
}

static bool lacks_key(reader *in, size_t column)
{
    if (rw_table_defaults_to_null(in->table, column) ||
        &in->table->columns[column] == in->out->drawn)
        return true;
    refuse(in, "its columns are without one that the hash is made of",
           "List the column, and write its values into the data; or use INSERT.");
    pgw_error_detail(in->reading->error, "Column \"%s\" is missing.",
                     in->table->columns[column].name);
    return false;
}

static bool names_hash(reader *in)
{
    if (!in->table->strict)
        return refuse(in, "its columns name the hash column",
                      "keyspread computes it; leave it out.");
    return pgw_fail(in->reading->error, "42703", "column \"%s\" of relation \"%s\" does not exist",
                    in->table->columns[in->table->hash_column].name, in->table->name);
}

static bool read_columns(reader *in)
{
    const rw_table *table = in->table;
    pgw_arena *arena = in->reading->arena;
    pgw_copy_options *data = &in->out->data;
    data->columns = count_columns(in);
    uint16_t *wanted = pgw_arena_alloc(arena, (data->columns + 1) * sizeof *wanted);
    uint16_t *key = pgw_arena_alloc(arena, table->hash_key_count * sizeof *key);
    unsigned char *force = pgw_arena_alloc(arena, table->hash_key_count);
    for (size_t i = 0; i < data->columns; i++) {
        size_t column = column_of(in, i);
        if (column == table->hash_column)
            return names_hash(in);
        for (size_t k = 0; k < table->hash_key_count; k++)
            if (column == table->hash_key[k] && key[k] == 0) {
                force[data->wanted_count++] = force_of(in, table->columns[column].name);
                wanted[i] = key[k] = (uint16_t)data->wanted_count;
            }
    }
    in->out->drawn = drawn_column(in->copy, table);
    in->out->keyed = lists_key(in->copy, table);
    for (size_t k = 0; k < table->hash_key_count; k++)
        if (key[k] == 0 && !lacks_key(in, table->hash_key[k]))
            return false;
    data->wanted = wanted;
    data->force = force;
    in->out->key = key;
    return true;
}

/* A column's name, as a line of names has it. */
static void write_name(const pgw_copy_options *data, const char *name, pgw_buf *out)
{
    bool csv = data->format == PGW_COPY_CSV;
    if (csv)
        pgw_buf_add_byte(out, data->quote);
    for (; *name != '\0'; name++) {
        if (csv ? *name == data->quote || *name == data->escape
                : *name == '\\' || *name == data->delimiter)
            pgw_buf_add_byte(out, csv ? data->escape : '\\');
        pgw_buf_add_byte(out, *name);
    }
    if (csv)
        pgw_buf_add_byte(out, data->quote);
}

static void write_names(reader *in)
{
    pgw_copy_options *data = &in->out->data;
    pgw_buf out = {0};
    if (in->out->drawn != NULL) {
        write_name(data, in->out->drawn->name, &out);
        pgw_buf_add_byte(&out, data->delimiter);
    }
    write_name(data, in->table->columns[in->table->hash_column].name, &out);
    data->added = pgw_arena_keep(in->reading->arena, &out);
    data->added_count = rw_copy_added(in->out);
}

bool rw_copy_from_read(const PgQuery__CopyStmt *copy, const rw_table *table,
                       const pgw_reading *reading, rw_copy *out)
{
    *out = (rw_copy){.table = table};
    reader in = {.copy = copy, .table = table, .reading = reading, .out = out};
    if (table->unusable != NULL) {
        pgw_fail(reading->error, "55000", "table \"%s\" cannot be written: %s", table->name,
                 table->unusable);
        pgw_error_hint(reading->error,
                       "Correct the table or the configuration; \"keyspread verify\" counts "
                       "rows with a wrong hash.");
        return false;
    }
    if (copy->is_program || copy->filename[0] != '\0')
        return refuse(&in, "the server would read the rows, past keyspread",
                      "Send them by COPY … FROM STDIN, as psql's \\copy does.");
    if (!reading->env->conforming)
        return refuse(&in, "backslashes are escapes in its options",
                      "SET standard_conforming_strings TO on.");
    if (!read_options(&in) || !check_digits(&in) || !check_null(&in) || !read_columns(&in))
        return false;
    if (out->data.format == PGW_COPY_BINARY && table->hash_type != RW_HASH_INT8)
        return refuse(&in, "its hash is no int8, which binary data would need", "Use text or csv.");
    write_names(&in);
    return true;
}

/* --- one whose rows are read as a whole --- */

/* What is one byte is written as one, and can be what it is; the format is known. */
static bool check_words(const reader *in)
{
    for (size_t i = 0; i < in->copy->n_options; i++) {
        const PgQuery__DefElem *option = in->copy->options[i]->def_elem;
        const char *name = option->defname, *text = string_of(option->arg);
        bool one = strcmp(name, "delimiter") == 0 || strcmp(name, "quote") == 0 ||
                   strcmp(name, "escape") == 0;
        if (one && text != NULL && strlen(text) != 1)
            return pgw_fail(in->reading->error, "0A000",
                            "COPY %s must be a single one-byte character", name);
        bool known = text != NULL && (strcmp(text, "text") == 0 || strcmp(text, "csv") == 0 ||
                                      strcmp(text, "binary") == 0);
        if (strcmp(name, "format") == 0 && !known)
            return pgw_fail(in->reading->error, "22023", "COPY format \"%s\" not recognized",
                            text != NULL ? text : "");
    }
    const pgw_copy_options *data = &in->out->data;
    return data->format == PGW_COPY_BINARY ||
           pgw_copy_delimits(data->format == PGW_COPY_CSV, data->delimiter, data->quote,
                             in->reading->error);
}

static bool is_twice(const size_t *columns, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (columns[before] == columns[i])
            return true;
    return false;
}

/* Column `i` of its rows is one of the table's, and listed once. */
static bool check_column(const reader *in, const size_t *columns, size_t i)
{
    const rw_table *table = in->table;
    pgw_error *error = in->reading->error;
    if (columns[i] == table->column_count)
        return pgw_fail(error, "42703", "column \"%s\" of relation \"%s\" does not exist",
                        rw_name_of_node(in->copy->attlist[i]), table->name);
    return !is_twice(columns, i) ||
           pgw_fail(error, "42701", "column \"%s\" specified more than once",
                    table->columns[columns[i]].name);
}

bool rw_copy_from_read_whole(const PgQuery__CopyStmt *copy, const rw_table *table,
                             const pgw_reading *reading, rw_copy *out, size_t **columns)
{
    enum { MOST = 1600 }; /* columns of a table (MaxHeapAttributeNumber) */
    *out = (rw_copy){.table = table};
    reader in = {.copy = copy, .table = table, .reading = reading, .out = out, .whole = true};
    pgw_copy_options *data = &out->data;
    if (!read_options(&in) || !check_words(&in))
        return false;
    data->every_row = true;
    data->columns = data->wanted_count = count_columns(&in);
    if (data->columns > MOST)
        return pgw_fail(reading->error, "54011", "a COPY of more than %d columns", MOST);
    uint16_t *wanted = pgw_arena_alloc(reading->arena, (data->columns + 1) * sizeof *wanted);
    unsigned char *force = pgw_arena_alloc(reading->arena, data->columns + 1);
    size_t *list = pgw_arena_alloc(reading->arena, (data->columns + 1) * sizeof *list);
    for (size_t i = 0; i < data->columns; i++) {
        list[i] = column_of(&in, i);
        if (!check_column(&in, list, i))
            return false;
        wanted[i] = (uint16_t)(i + 1);
        force[i] = force_of(&in, table->columns[list[i]].name);
    }
    data->wanted = wanted;
    data->force = force;
    *columns = list;
    return true;
}

/* --- how it is sent --- */

static void put_columns(rw_edit_writer *texts, const PgQuery__CopyStmt *copy, const rw_table *table)
{
    const rw_column *drawn = drawn_column(copy, table);
    pgw_buf text = {0};
    int32_t at = copy->relation->location;
    pgw_buf_add_str(&text, copy->n_attlist > 0 ? ", " : " (");
    for (size_t i = 0; copy->n_attlist == 0 && i < table->column_count; i++)
        if (is_copied(table, i)) {
            rw_add_identifier(&text, table->columns[i].name);
            pgw_buf_add_str(&text, ", ");
        }
    if (drawn != NULL) {
        rw_add_identifier(&text, drawn->name);
        pgw_buf_add_str(&text, ", ");
    }
    rw_add_identifier(&text, table->columns[table->hash_column].name);
    pgw_buf_add_str(&text, copy->n_attlist > 0 ? "" : ")");
    if (copy->n_attlist > 0)
        rw_edit_put_behind(texts, rw_edit_argument(texts, at, copy->n_attlist - 1), &text);
    else
        rw_edit_put_after(texts, at, 0, &text);
}

/* FREEZE, FREEZE value in a list of options, or the word alone in the older form. */
static void unfreeze(rw_edit_writer *texts, const PgQuery__DefElem *option)
{
    pgw_buf text = {0};
    size_t at = rw_token_at(texts->tokens, texts->count, option->location) + 1;
    bool older = option->arg != NULL && option->arg->node_case == PG_QUERY__NODE__NODE_BOOLEAN;
    pgw_buf_add_str(&text, older ? " " : " false");
    if (older)
        rw_edit_put_relation(texts, option->location, &text);
    else if (option->arg == NULL)
        rw_edit_put_after(texts, option->location, 0, &text);
    else if (at < texts->count)
        rw_edit_put_relation(texts, (int32_t)texts->tokens[at].start, &text);
}

void rw_copy_from_put(rw_edit_writer *texts, const PgQuery__CopyStmt *copy, const rw_table *table)
{
    put_columns(texts, copy, table);
    for (size_t i = 0; table->in_parts && i < copy->n_options; i++)
        if (copy->options[i]->node_case == PG_QUERY__NODE__NODE_DEF_ELEM &&
            strcmp(copy->options[i]->def_elem->defname, "freeze") == 0)
            unfreeze(texts, copy->options[i]->def_elem);
}

void rw_copy_encode(rw_copy *copy, rw_encoding encoding, const char *server)
{
    bool same = encoding == RW_ENCODING_UTF8, bytes = strcmp(server, "SQL_ASCII") == 0;
    if (!copy->encoded)
        copy->encoding = encoding;
    bool pairs = copy->encoding == RW_ENCODING_PAIRS || copy->encoding == RW_ENCODING_GB18030;
    copy->data.characters = same && copy->encoding == RW_ENCODING_UTF8 ? PGW_COPY_UTF8
                            : bytes                                    ? PGW_COPY_BEYOND_ASCII
                            : pairs                                    ? PGW_COPY_PAIRS
                            : copy->encoding == RW_ENCODING_SJIS       ? PGW_COPY_SJIS
                                                                       : PGW_COPY_BEYOND_ASCII;
}

rw_copy *rw_copy_keep(const rw_copy *copy, pgw_arena *arena)
{
    rw_copy *kept = pgw_arena_alloc(arena, sizeof *kept);
    const pgw_copy_options *data = &copy->data;
    size_t keys = copy->table->hash_key_count;
    *kept = *copy;
    kept->data.null = pgw_arena_copy(arena, data->null);
    if (data->marker.ptr != NULL)
        kept->data.marker = pgw_arena_copy(arena, data->marker);
    kept->data.added = pgw_arena_copy(arena, data->added);
    kept->data.wanted = memcpy(pgw_arena_alloc(arena, (data->columns + 1) * sizeof *data->wanted),
                               data->wanted, data->columns * sizeof *data->wanted);
    kept->data.force = memcpy(pgw_arena_alloc(arena, keys), data->force, keys);
    kept->key = memcpy(pgw_arena_alloc(arena, keys * sizeof *copy->key), copy->key,
                       keys * sizeof *copy->key);
    return kept;
}
