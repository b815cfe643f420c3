#include "rewrite/statement/copy/staged.h"

#include "rewrite/lex/lexer_text.h"
#include "rewrite/lex/quote.h"

/* Where the parts of a COPY lie in its text. */
typedef struct parts {
    size_t name;       /* byte at which the name of the table begins */
    size_t list;       /* byte at which the list of columns begins, with its parenthesis */
    pgw_slice columns; /* the list of columns without its parentheses */
    pgw_buf updates;   /* `a = excluded.a, …` of the columns that are not in the key */
} parts;

static bool is_in_key(const rw_table *table, size_t column)
{
    bool found = column == table->hash_column;
    for (size_t i = 0; i < table->primary_key_count; i++)
        found = found || column == table->primary_key[i];
    return found;
}

static void add_update(const rw_table *table, size_t column, pgw_buf *out)
{
    pgw_buf_add_str(out, out->len > 0 ? ", " : "");
    rw_add_identifier(out, table->columns[column].name);
    pgw_buf_add_str(out, " = excluded.");
    rw_add_identifier(out, table->columns[column].name);
}

/* The columns of the list, up to its end. */
static void read_list(const rw_table *table, rw_lexer *lexer, pgw_arena *arena, parts *out)
{
    for (;;) {
        rw_token token = rw_lexer_next(lexer);
        pgw_slice text = rw_token_text(lexer->text, token);
        if (token.kind == RW_TOKEN_END || pgw_slice_eq_str(text, ")")) {
            out->columns =
                (pgw_slice){lexer->text.ptr + out->list + 1, token.start - out->list - 1};
            return;
        }
        if (token.kind != RW_TOKEN_WORD && token.kind != RW_TOKEN_QUOTED)
            continue;
        size_t column = rw_table_column(table, rw_take_identifier(lexer, token, arena));
        if (column < table->column_count && !is_in_key(table, column))
            add_update(table, column, &out->updates);
    }
}

/* Cuts `COPY [BINARY] name (columns)` into its parts. */
static void cut(const rw_table *table, pgw_slice sent, bool conforming, pgw_arena *arena,
                parts *out)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, sent, conforming);
    rw_lexer_next(&lexer);
    rw_token token = rw_lexer_next(&lexer);
    if (rw_token_is(sent, token, "binary"))
        token = rw_lexer_next(&lexer);
    out->name = token.start;
    while (token.kind != RW_TOKEN_END && !pgw_slice_eq_str(rw_token_text(sent, token), "("))
        token = rw_lexer_next(&lexer);
    out->list = token.start;
    read_list(table, &lexer, arena, out);
}

static void add_table(const char *schema, const rw_table *table, pgw_buf *out)
{
    rw_add_identifier(out, schema);
    pgw_buf_add_byte(out, '.');
    rw_add_identifier(out, table->name);
}

static void add_key(const rw_table *table, pgw_buf *out)
{
    pgw_buf_add_byte(out, '(');
    for (size_t i = 0; i < table->primary_key_count; i++) {
        rw_add_identifier(out, table->columns[table->primary_key[i]].name);
        pgw_buf_add_str(out, ", ");
    }
    rw_add_identifier(out, table->columns[table->hash_column].name);
    pgw_buf_add_byte(out, ')');
}

/* A row can be updated once only: of equal keys the last one counts. */
static void add_insert(const rw_table *table, const parts *in, bool updates, pgw_buf *out)
{
    pgw_buf_add_str(out, "insert into ");
    add_table(table->schema, table, out);
    pgw_buf_addf(out, " (%.*s) overriding system value select ", (int)in->columns.len,
                 in->columns.ptr);
    if (updates) {
        pgw_buf_add_str(out, "distinct on ");
        add_key(table, out);
    }
    pgw_buf_addf(out, " %.*s from ", (int)in->columns.len, in->columns.ptr);
    add_table("pg_temp", table, out);
    if (updates) {
        pgw_buf_add_str(out, " order by ");
        for (size_t i = 0; i < table->primary_key_count; i++) {
            rw_add_identifier(out, table->columns[table->primary_key[i]].name);
            pgw_buf_add_str(out, ", ");
        }
        rw_add_identifier(out, table->columns[table->hash_column].name);
        pgw_buf_add_str(out, ", ctid desc");
    }
    pgw_buf_add_str(out, " on conflict ");
    add_key(table, out);
    if (updates)
        pgw_buf_addf(out, " do update set %.*s", (int)in->updates.len, in->updates.ptr);
    else
        pgw_buf_add_str(out, " do nothing");
}

void rw_copy_stage(const rw_copy *copy, pgw_slice sent, bool conforming, bool updates,
                   rw_staged *out)
{
    const rw_table *table = copy->table;
    parts in = {0};
    pgw_arena arena = {0};
    *out = (rw_staged){0};
    cut(table, sent, conforming, &arena, &in);
    if (in.updates.len == 0) /* A row that is there is counted all the same. */
        add_update(table, table->primary_key[0], &in.updates);
    pgw_buf_add_str(&out->create, "create temporary table ");
    rw_add_identifier(&out->create, table->name);
    pgw_buf_addf(&out->create, " on commit delete rows as select %.*s from ", (int)in.columns.len,
                 in.columns.ptr);
    add_table(table->schema, table, &out->create);
    pgw_buf_add_str(&out->create, " with no data");
    pgw_buf_add(&out->statement, sent.ptr, in.name);
    add_table("pg_temp", table, &out->statement);
    pgw_buf_add_byte(&out->statement, ' ');
    pgw_buf_add(&out->statement, sent.ptr + in.list, sent.len - in.list);
    pgw_buf_add_str(&out->statement, "\n; "); /* A comment may stand at the end. */
    add_insert(table, &in, updates, &out->statement);
    pgw_arena_free(&arena);
    pgw_buf_free(&in.updates);
}
