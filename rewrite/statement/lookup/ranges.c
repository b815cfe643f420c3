#include "rewrite/statement/lookup/ranges.h"

#include "protocol/types.h"

#include <inttypes.h>
#include <string.h>

bool rw_table_has_ranges(const rw_table *table)
{
    return table->buckets > 0 && table->sorted && rw_table_begins_with_hash(table);
}

void rw_add_bucket(const rw_table *table, uint32_t bucket, pgw_buf *out)
{
    uint32_t type = table->columns[table->hash_column].type;
    pgw_buf_addf(out, "%" PRIu32 "%s", bucket,
                 type == PGW_INT2   ? "::int2"
                 : type == PGW_INT8 ? "::int8"
                                    : "::int4");
}

/* --- the map --- */

static void point(rw_range_map *map)
{
    map->edits = (void *)(map + 1);
    map->pieces = (void *)(map->edits + map->edit_count);
    map->bytes = (void *)(map->pieces + map->piece_count);
}

const rw_range_map *rw_range_map_make(const pgw_buf *edits, const pgw_buf *pieces,
                                      const pgw_buf *bytes, pgw_arena *arena)
{
    size_t size = sizeof(rw_range_map) + edits->len + pieces->len + bytes->len;
    rw_range_map *map = pgw_arena_alloc(arena, size);
    *map = (rw_range_map){.size = size,
                          .edit_count = (uint32_t)(edits->len / sizeof(rw_range_edit)),
                          .piece_count = (uint32_t)(pieces->len / sizeof(rw_range_piece))};
    point(map);
    char *at = (char *)(map + 1);
    memcpy(at, edits->ptr, edits->len);
    memcpy(at + edits->len, pieces->ptr, pieces->len);
    memcpy(at + edits->len + pieces->len, bytes->ptr, bytes->len);
    return map;
}

rw_range_map *rw_range_map_copy(const rw_range_map *map)
{
    rw_range_map *copy = memcpy(pgw_alloc(map->size), map, map->size);
    point(copy);
    return copy;
}

uint32_t rw_ranges_of(const rw_range_map *map, const rw_catalog *catalog, uint32_t name)
{
    for (uint32_t i = 0; map != NULL && i < map->edit_count; i++)
        if (map->edits[i].name == name)
            return catalog->tables[map->edits[i].table]->buckets;
    return 0;
}

/* --- the text --- */

/* A statement that is read with its map. */
typedef struct reader {
    const rw_range_map *map;
    const rw_token *tokens;
    size_t count;
    pgw_slice text;
    const rw_catalog *catalog;
} reader;

static pgw_slice said(const reader *in, rw_token_span span)
{
    size_t start = in->tokens[span.from].start;
    return (pgw_slice){in->text.ptr + start, in->tokens[span.to - 1].end - start};
}

/* Reads the span as one integer of at most 18 digits, so that a sum of two does not overflow. */
static bool is_number(const reader *in, rw_token_span span, uint64_t *number)
{
    pgw_slice text = said(in, span);
    bool is = span.to == span.from + 1 && in->tokens[span.from].kind == RW_TOKEN_INTEGER &&
              text.len <= 18;
    *number = 0;
    for (size_t i = 0; i < text.len && is; i++) {
        is = text.ptr[i] >= '0' && text.ptr[i] <= '9';
        *number = *number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return is;
}

static void add_number(pgw_slice text, pgw_buf *out)
{
    pgw_buf_add_str(out, "cast(");
    pgw_buf_add_slice(out, text);
    pgw_buf_add_str(out, " as bigint)");
}

/* Rows that OFFSET leaves out may all be of one bucket. */
static void add_limit(const reader *in, const rw_range_edit *edit, pgw_buf *out)
{
    uint64_t limit, offset;
    if (edit->offset.from == edit->offset.to) {
        pgw_buf_add_slice(out, said(in, edit->limit));
    } else if (is_number(in, edit->limit, &limit) && is_number(in, edit->offset, &offset)) {
        pgw_buf_addf(out, "%" PRIu64, limit + offset);
    } else {
        add_number(said(in, edit->limit), out);
        pgw_buf_add_str(out, " + ");
        add_number(said(in, edit->offset), out);
    }
}

static void add_piece(const reader *in, const rw_range_edit *edit, const rw_range_piece *piece,
                      uint32_t bucket, pgw_buf *out)
{
    switch (piece->kind) {
    case RW_RANGE_TEXT:
        pgw_buf_add(out, in->map->bytes + piece->from, piece->to - piece->from);
        break;
    case RW_RANGE_TOKENS:
        pgw_buf_add_slice(out, said(in, (rw_token_span){piece->from, piece->to}));
        break;
    case RW_RANGE_BUCKET:
        rw_add_bucket(in->catalog->tables[edit->table], bucket, out);
        break;
    case RW_RANGE_LIMIT:
        add_limit(in, edit, out);
        break;
    }
}

static void add_branches(const reader *in, const rw_range_edit *edit, pgw_buf *out)
{
    for (uint32_t bucket = 0; bucket < edit->branches && out->len <= RW_RANGES_LONGEST; bucket++) {
        pgw_buf_add_str(out, bucket == 0 ? "(" : " UNION ALL ");
        for (uint32_t i = 0; i < edit->pieces; i++)
            add_piece(in, edit, &in->map->pieces[edit->piece + i], bucket, out);
    }
    pgw_buf_add_byte(out, ')');
    pgw_buf_add(out, in->map->bytes + edit->behind, edit->behind_len);
}

static void render(const reader *in, const rw_range_edit *edit, pgw_buf *out)
{
    if (edit->branches > 0)
        add_branches(in, edit, out);
    else
        for (uint32_t i = 0; i < edit->pieces; i++)
            add_piece(in, edit, &in->map->pieces[edit->piece + i], 0, out);
}

/* The bytes that the edit replaces. What is put before a token comes right behind the token before
 * it. */
static rw_change change_of(const reader *in, const rw_range_edit *edit)
{
    uint32_t from = edit->at.from;
    if (from < edit->at.to)
        return (rw_change){.at = in->tokens[from].start,
                           .cut = in->tokens[edit->at.to - 1].end - in->tokens[from].start};
    return (rw_change){.at = from > 0 ? in->tokens[from - 1].end : 0};
}

/* Inserts the change in the order of the text, behind changes at the same byte. */
static void insert(rw_change *changes, size_t count, rw_change change)
{
    for (; count > 0 && changes[count - 1].at > change.at; count--)
        changes[count] = changes[count - 1];
    changes[count] = change;
}

size_t rw_ranges_read(const rw_range_map *map, rw_lexer lexer, const rw_catalog *catalog,
                      pgw_arena *arena, rw_change **changes, size_t count)
{
    reader in = {.map = map, .text = lexer.text, .catalog = catalog};
    in.tokens = rw_tokens_of(lexer.text, lexer.conforming, arena, &in.count);
    rw_change *all = pgw_arena_alloc(arena, (count + map->edit_count) * sizeof *all);
    if (count > 0)
        memcpy(all, *changes, count * sizeof *all);
    for (uint32_t i = 0; i < map->edit_count; i++) {
        pgw_buf text = {0};
        rw_change change = change_of(&in, &map->edits[i]);
        render(&in, &map->edits[i], &text);
        if (text.len > RW_RANGES_LONGEST) {
            pgw_buf_free(&text);
            continue;
        }
        change.text = pgw_arena_keep(arena, &text);
        insert(all, count++, change);
    }
    *changes = all;
    return count;
}
