/* The search for special bytes finds what a loop over the bytes finds, by each of its ways,
 * wherever the data begins and ends. */
#include "protocol/copy/scan.h"
#include "tests/protocol/wire_vectors.h"

enum { LENGTH = 4 * BLOCK + 7 };

/* Bytes of which some are special, some differ from these in one bit, and any else are there, too.
 */
static void make_bytes(unsigned *seed, const char *specials, char *out)
{
    for (size_t i = 0; i < LENGTH; i++) {
        char special = specials[rand_r(seed) % SPECIALS];
        int kind = rand_r(seed) % 8;
        out[i] = kind == 0 ? special
                           : (char)(kind == 1 ? special ^ 1 << rand_r(seed) % 8 : rand_r(seed));
    }
}

/* Where the bytes are to be cut; returns how often. */
static size_t cuts_of(const char *specials, const char *at, const char *end, uint32_t *out)
{
    size_t count = 0;
    out[count++] = 0;
    for (const char *byte = at; byte < end; byte++)
        if (memchr(specials, *byte, UNQUOTED_SPECIALS) != NULL)
            out[count++] = (uint32_t)(byte + 1 - at);
    return count;
}

/* Looks for `wanted` cuts again and again, of which some are there from the time before. */
static void check_cuts(const pgw_copy_scan *scan, const char *specials, const char *at,
                       const char *end, size_t wanted)
{
    enum { MOST = 2 * BLOCK + 20 };
    const uint32_t untouched = 0xaaaaaaaa;
    uint32_t all[LENGTH + 1], list[MOST + 1];
    size_t count = cuts_of(specials, at, end, all), before = 0, kept = 1;
    pgw_copy_cuts it = {at, at, end, list, 1, wanted + BLOCK + wanted * 5 % BLOCK};
    for (size_t i = 1; i <= it.room; i++)
        list[i] = untouched;
    list[0] = 0;
    do {
        const uint32_t *first = list + it.count - kept, *last;
        before += it.count - kept;
        last = pgw_copy_scan_on(scan, first, wanted, &it);
        assert_ptr_equal(last, list + it.count);
        assert_true(it.count >= wanted || it.at == end);
        assert_true(before + it.count <= count);
        assert_memory_equal(list, all + before, it.count * sizeof *list);
        assert_true(before + it.count == count || all[before + it.count] > it.at - at);
        assert_true(list[it.room] == untouched);
        kept = 1 + before % (wanted - 1);
        kept = kept < it.count ? kept : it.count;
    } while (before + it.count < count || it.at < end);
}

static void check_blocks(const pgw_copy_scan *scan, const char *specials, const char *at,
                         const char *end)
{
    for (size_t wanted = 2; wanted <= 20; wanted += 6)
        check_cuts(scan, specials, at, end, wanted);
}

static void check_next(const pgw_copy_scan *scan, const char *specials, const char *at,
                       const char *end)
{
    const char *expected = at;
    while (expected < end && memchr(specials, *expected, SPECIALS) == NULL)
        expected++;
    assert_ptr_equal(pgw_copy_scan_next(scan, at, end), expected);
}

static bool has_avx2(void)
{
#ifdef __SSE2__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
#else
    return false;
#endif
}

/* `by_low`: whether each special byte has low bits of its own. */
static void check_special_bytes(const char *specials, bool by_low)
{
    pgw_copy_scan scan;
    pgw_copy_scan_of(specials, &scan);
    assert_int_equal(scan.is_by_low, by_low && has_avx2());
    unsigned seed = 1;
    for (size_t round = 0; round < 40; round++) {
        char bytes[LENGTH];
        make_bytes(&seed, specials, bytes);
        for (size_t i = 0; i < 40; i++) {
            size_t begin = (size_t)rand_r(&seed) % (LENGTH - 1),
                   end = begin + 1 + (size_t)rand_r(&seed) % (LENGTH - begin);
            size_t len = end - begin;
            char *part =
                memcpy(pgw_alloc(len), bytes + begin, len); /* Nothing behind it can be read. */
            check_next(&scan, specials, part, part + len);
            check_blocks(&scan, specials, part, part + len);
            scan.is_by_low = false;
            check_blocks(&scan, specials, part, part + len);
            scan.is_by_low = by_low && has_avx2();
            free(part);
        }
    }
}

static void test_special_bytes(void **state)
{
    (void)state;
    check_special_bytes("\n\r,\"\\", true);
    check_special_bytes("\n\r\t\\\\", true);
    check_special_bytes("\n\r\"\"\"", true);
    check_special_bytes("\n\r\001\177\200", true); /* The last one has no place of its own. */
    check_special_bytes("\n\r*\"\"", false);       /* Its low bits are those of a newline. */
    check_special_bytes("\n\r,\200\"", false); /* No place is looked at for a byte beyond ASCII. */
    check_special_bytes("\n\r \020\"", false); /* The low bits of both are 0. */
    check_special_bytes("\n\r\020\"\"", true);
}

/* A zero byte is none of them, though places without a special byte hold some other byte. */
static void test_zero_bytes(void **state)
{
    (void)state;
    char zeros[2 * BLOCK] = {0};
    pgw_copy_scan scan;
    pgw_copy_scan_of("\n\r,\"\"", &scan);
    check_blocks(&scan, "\n\r,\"\"", zeros, zeros + sizeof zeros);
    for (size_t i = 0; i < sizeof zeros; i++)
        zeros[i] = (char)(i % 16);
    check_blocks(&scan, "\n\r,\"\"", zeros, zeros + sizeof zeros);
}

/* No more are written than there is room for. */
static void test_special_bytes_alone(void **state)
{
    (void)state;
    char newlines[LENGTH];
    memset(newlines, '\n', sizeof newlines);
    pgw_copy_scan scan;
    pgw_copy_scan_of("\n\r,\"\"", &scan);
    check_blocks(&scan, "\n\r,\"\"", newlines, newlines + sizeof newlines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_bytes),
        cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_special_bytes_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
