/* What a stream has to write comes out as it was put in, however it was put, shared and taken. */
#include "proxy/loop/chunks.h"

#include "protocol/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static px_blocks blocks;
static px_chunks chunks;

static int set_up(void **state)
{
    (void)state;
    blocks = (px_blocks){0};
    chunks = (px_chunks){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    px_chunks_free(&chunks, &blocks);
    assert_int_equal(chunks.bytes, 0);
    px_blocks_free(&blocks);
    assert_int_equal(blocks.usual.count, 0);
    return 0;
}

static void put(const char *text)
{
    px_chunks_put(&chunks, &blocks, text, strlen(text));
}

static px_block *filled(const char *text)
{
    px_block *block = px_block_new(&blocks, PX_BLOCK);
    memcpy(block->bytes, text, strlen(text));
    return block;
}

/* All that is there; its length is what `bytes` says. */
static void expect(const char *text)
{
    pgw_buf all = {0};
    for (size_t i = 0; i < chunks.count; i++) {
        const px_chunk *chunk = px_chunks_at(&chunks, i);
        pgw_buf_add(&all, chunk->block->bytes + chunk->offset, chunk->len);
    }
    assert_int_equal(all.len, chunks.bytes);
    pgw_buf_add_byte(&all, '\0');
    assert_string_equal(all.ptr, text);
    pgw_buf_free(&all);
}

static void test_what_is_put_is_joined(void **state)
{
    (void)state;
    put("one ");
    put("two ");
    put("");
    put("three");
    expect("one two three");
    assert_int_equal(chunks.count, 1);
    px_chunks_consume(&chunks, &blocks, 4);
    expect("two three");
    put(" four");
    expect("two three four");
    assert_int_equal(chunks.count, 1);
    px_chunks_consume(&chunks, &blocks, 14);
    expect("");
    assert_int_equal(chunks.count, 0);
}

/* Behind what is another's, too, there is none. */
static void test_there_is_room_behind_what_was_put(void **state)
{
    (void)state;
    assert_int_equal(px_chunks_room(&chunks), 0);
    put("one");
    size_t room = px_chunks_room(&chunks);
    put("two");
    assert_int_equal(px_chunks_room(&chunks), room - 3);
    while (px_chunks_room(&chunks) > 0)
        put(".");
    assert_int_equal(chunks.count, 1);
    assert_int_equal(chunks.bytes, room + 3);
    px_block *block = filled("0123456789");
    px_chunks_share(&chunks, block, 0, 3);
    assert_int_equal(px_chunks_room(&chunks), 0);
    px_block_drop(&blocks, block);
}

/* In order, whatever their sizes; nothing is moved to make room. */
static void test_much_is_put(void **state)
{
    (void)state;
    char text[5001];
    size_t sum = 0;
    for (size_t len = 1; len < sizeof text; len = len * 2 + 1) {
        memset(text, (int)('a' + len % 26), len);
        px_chunks_put(&chunks, &blocks, text, len);
        sum += len;
        assert_int_equal(chunks.bytes, sum);
    }
    for (size_t len = 1; len < sizeof text; len = len * 2 + 1)
        for (size_t i = 0; i < len; i++) {
            const px_chunk *first = px_chunks_at(&chunks, 0);
            assert_int_equal(first->block->bytes[first->offset], 'a' + len % 26);
            px_chunks_consume(&chunks, &blocks, 1);
        }
    assert_int_equal(chunks.bytes, 0);
}

/* A slice of another's block stays valid until it is written, and nothing is put into it. */
static void test_blocks_are_shared(void **state)
{
    (void)state;
    px_block *block = filled("0123456789");
    put("<");
    px_chunks_share(&chunks, block, 2, 3);
    assert_int_equal(block->references, 2);
    put(">");
    expect("<234>");
    assert_memory_equal(block->bytes, "0123456789", 10);
    px_block_drop(&blocks, block);
    expect("<234>");
    assert_int_equal(blocks.usual.count, 0);
    px_chunks_consume(&chunks, &blocks, 4);
    assert_int_equal(blocks.usual.count, 1); /* it is spare now */
    expect(">");
}

/* What waits keeps no block of another's, and is what it was. */
static void test_what_is_there_becomes_its_own(void **state)
{
    (void)state;
    px_block *block = filled("0123456789");
    put("<");
    px_chunks_share(&chunks, block, 2, 3);
    put(">");
    px_chunks_own(&chunks, &blocks);
    assert_int_equal(block->references, 1);
    memset(block->bytes, 'x', 10);
    expect("<234>");
    assert_int_equal(chunks.count, 1);
    assert_true(px_chunks_room(&chunks) < PX_BLOCK / 2);
    put(" more");
    expect("<234> more");
    px_block_drop(&blocks, block);
}

static void test_a_slice_grows_where_the_next_follows(void **state)
{
    (void)state;
    px_block *block = filled("0123456789"), *other = filled("abcdefghij");
    assert_false(px_chunks_extend(&chunks, block, 0, 1));
    px_chunks_share(&chunks, block, 2, 3);
    assert_false(px_chunks_extend(&chunks, block, 6, 1));
    assert_false(px_chunks_extend(&chunks, block, 4, 1));
    assert_false(px_chunks_extend(&chunks, other, 5, 1));
    assert_true(px_chunks_extend(&chunks, block, 5, 2));
    expect("23456");
    assert_int_equal(chunks.count, 1);
    assert_int_equal(block->references, 2);
    px_block_drop(&blocks, block);
    px_block_drop(&blocks, other);
}

/* The ring grows, and goes round. */
static void test_many_slices(void **state)
{
    (void)state;
    px_block *block = filled("abcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < 6; i++)
        px_chunks_share(&chunks, block, 2 * i, 1);
    px_chunks_consume(&chunks, &blocks, 5);
    for (size_t i = 0; i < 13; i++)
        px_chunks_share(&chunks, block, 25 - 2 * i, 1);
    expect("kzxvtrpnljhfdb");
    assert_int_equal(chunks.count, 14);
    px_chunks_consume(&chunks, &blocks, 13);
    expect("b");
    assert_int_equal(block->references, 2);
    px_block_drop(&blocks, block);
}

/* ---- blocks ---- */

static void test_blocks_of_the_usual_size_are_kept(void **state)
{
    (void)state;
    px_block *usual = px_block_new(&blocks, PX_BLOCK), *large = px_block_new(&blocks, PX_BLOCK + 1);
    assert_int_equal(usual->cap, PX_BLOCK);
    assert_int_equal(large->cap, PX_BLOCK + 1);
    px_block_drop(&blocks, large);
    px_block_drop(&blocks, NULL);
    assert_int_equal(blocks.usual.count, 0);
    usual->references++;
    px_block_drop(&blocks, usual);
    assert_int_equal(blocks.usual.count, 0); /* somebody still has it */
    px_block_drop(&blocks, usual);
    assert_int_equal(blocks.usual.count, 1);
    large = px_block_new(&blocks, PX_BLOCK / 2);
    assert_ptr_not_equal(large, usual);
    px_block_drop(&blocks, large);
    px_block *again = px_block_new(&blocks, PX_BLOCK);
    assert_ptr_equal(again, usual);
    assert_int_equal(again->references, 1);
    assert_int_equal(blocks.usual.count, 0);
    px_block_drop(&blocks, again);
}

enum { MOST_SPARE = 256 };

static void drop_many(px_block **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        px_block_drop(&blocks, list[i]);
}

static void take_many(px_block **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        list[i] = px_block_new(&blocks, PX_BLOCK);
}

/* Half of those that nobody has asked for since the last time go back. */
static void test_spare_blocks_are_given_back(void **state)
{
    (void)state;
    px_block *list[MOST_SPARE + 10];
    take_many(list, MOST_SPARE + 10);
    drop_many(list, MOST_SPARE + 10);
    assert_int_equal(blocks.usual.count, MOST_SPARE);
    assert_int_equal(px_blocks_trim(&blocks), 0); /* there were none before */
    assert_int_equal(px_blocks_trim(&blocks), MOST_SPARE / 2 * PX_BLOCK);
    assert_int_equal(blocks.usual.count, 128);
    take_many(list, 101);
    drop_many(list, 101);
    assert_int_equal(px_blocks_trim(&blocks), 14 * PX_BLOCK); /* of 27, rounded up */
    assert_int_equal(blocks.usual.count, 114);
    take_many(list, 114);
    drop_many(list, 114);
    assert_int_equal(px_blocks_trim(&blocks), 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static void test_a_buffer_becomes_a_block(void **state)
{
    (void)state;
    pgw_buf buf = {0};
    px_block_begin(&buf);
    assert_int_equal(px_block_len(&buf), 0);
    pgw_buf_add_str(&buf, "world");
    assert_int_equal(px_block_len(&buf), 5);
    put("hello ");
    px_block *block = px_block_of(&buf);
    assert_null(buf.ptr);
    assert_int_equal(buf.len + buf.cap, 0);
    px_chunks_give(&chunks, block, 5);
    assert_int_equal(chunks.count, 2);
    assert_ptr_equal(px_chunks_at(&chunks, 1)->block, block);
    size_t room = px_chunks_room(&chunks);
    put("!");
    assert_int_equal(px_chunks_room(&chunks), room - 1);
    expect("hello world!");
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_what_is_put_is_joined),
                                       TEST(test_there_is_room_behind_what_was_put),
                                       TEST(test_much_is_put),
                                       TEST(test_blocks_are_shared),
                                       TEST(test_what_is_there_becomes_its_own),
                                       TEST(test_a_buffer_becomes_a_block),
                                       TEST(test_a_slice_grows_where_the_next_follows),
                                       TEST(test_many_slices),
                                       TEST(test_blocks_of_the_usual_size_are_kept),
                                       TEST(test_spare_blocks_are_given_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
