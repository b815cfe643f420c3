#include "ydb/plain/set_items.h"

#include "rewrite/lex/lexer_text.h"
#include "ydb/plain/unalias.h"

static bool at_equals(const rw_cursor *cursor)
{
    return pgw_slice_eq_str(rw_token_text(cursor->lexer.text, cursor->token), "=");
}

/* The name, if the value is EXCLUDED.name and nothing more. */
static pgw_slice excluded_of(const rw_subject *subject, rw_part value)
{
    static const pgw_slice none = {NULL, 0};
    rw_cursor cursor;
    rw_cursor_begin(&cursor, subject->text, value, subject->reading->env->conforming);
    if (!rw_cursor_take_word(&cursor, "excluded") || !rw_cursor_take(&cursor, '.') ||
        !rw_cursor_at_name(&cursor))
        return none;
    rw_token name = cursor.token;
    rw_cursor_advance(&cursor);
    return cursor.token.kind == RW_TOKEN_END
               ? rw_token_name(subject->text, name, subject->reading->arena)
               : none;
}

/* Reads the assignment that begins here, up to its ',' or the end. */
static void read_item(const rw_subject *subject, rw_cursor *cursor, rw_set_item *item)
{
    const rw_token first = cursor->token;
    item->whole.from = first.start;
    bool named = rw_cursor_at_name(cursor) && first.kind != RW_TOKEN_END;
    rw_cursor ahead = *cursor;
    rw_cursor_advance(&ahead);
    bool simple = named && at_equals(&ahead);
    rw_cursor_advance(&ahead);
    item->value.from = simple ? ahead.token.start : first.start;
    while (!rw_cursor_ended(cursor) && !rw_cursor_at(cursor, ',') && rw_cursor_skip(cursor))
        ;
    item->whole.to = cursor->before.end;
    if (item->value.from > item->whole.to) /* the assignment has no value */
        item->value.from = item->whole.to;
    item->value.to = item->whole.to;
    if (simple)
        item->column = rw_token_name(subject->text, first, subject->reading->arena);
    if (simple)
        item->excluded = excluded_of(subject, item->value);
}

static size_t count_items(const rw_subject *subject, rw_part set)
{
    size_t count = 1;
    rw_cursor cursor;
    rw_cursor_begin(&cursor, subject->text, set, subject->reading->env->conforming);
    while (!rw_cursor_ended(&cursor)) {
        count += rw_cursor_at(&cursor, ',');
        if (!rw_cursor_skip(&cursor))
            break;
    }
    return count;
}

void rw_set_items_read(const rw_subject *subject, rw_part set, rw_set_items *out)
{
    rw_cursor cursor;
    const size_t most = count_items(subject, set);
    *out =
        (rw_set_items){.list = pgw_arena_alloc(subject->reading->arena, most * sizeof *out->list)};
    rw_cursor_begin(&cursor, subject->text, set, subject->reading->env->conforming);
    do
        read_item(subject, &cursor, &out->list[out->count++]);
    while (out->count < most && rw_cursor_take(&cursor, ','));
}

const rw_set_item *rw_set_item_of(const rw_set_items *items, const char *column)
{
    for (size_t i = 0; i < items->count; i++)
        if (items->list[i].column.len > 0 && pgw_slice_eq_str(items->list[i].column, column))
            return &items->list[i];
    return NULL;
}

bool rw_set_items_are_simple(const rw_set_items *items)
{
    for (size_t i = 0; i < items->count; i++)
        if (items->list[i].column.len == 0)
            return false;
    return true;
}

bool rw_weave_set_defaults(const rw_subject *subject, rw_part *rest, rw_weave *out)
{
    const bool conforming = subject->reading->env->conforming;
    rw_values values = {0};
    rw_set_items items;
    rw_fields_of_table(subject, &values);
    rw_set_items_read(subject, subject->clauses->set, &items);
    for (size_t i = 0; i < items.count; i++) {
        const rw_set_item *item = &items.list[i];
        const rw_field *field = rw_field_named(&values, item->column);
        if (!rw_is_default(subject->text, item->value))
            continue;
        if (field == NULL || !rw_default_is_known(field))
            return rw_refuse(subject, item->value.from, "SET … = DEFAULT is not supported here",
                             "YDB takes DEFAULT nowhere: write the value.");
        rw_unalias(subject->clauses, (rw_part){rest->from, item->value.from}, conforming, out);
        rw_weave_assigned(out, field, item->value);
        rest->from = item->value.to;
    }
    return true;
}
