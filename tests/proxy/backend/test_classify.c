/* What errors mean, by severity and SQLSTATE. */
#include "proxy/backend/base/classify.h"

#include "protocol/frame.h"
#include "rewrite/insert/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Fields as they stand in an ErrorResponse; '|' ends one. */
static pgw_slice body_of(const char *fields, pgw_buf *buf)
{
    pgw_buf_clear(buf);
    pgw_buf_add_str(buf, fields);
    for (size_t i = 0; i < buf->len; i++)
        if (buf->ptr[i] == '|')
            buf->ptr[i] = '\0';
    pgw_buf_add_byte(buf, '\0');
    return pgw_slice_buf(buf);
}

static void test_statements(void **state)
{
    (void)state;
    static const struct {
        const char *fields;
        px_error_kind kind;
    } table[] = {
        {"SERROR|VERROR|C23505|Mx|", PX_ERROR_OWN},
        {"SERROR|VERROR|C40001|Mx|", PX_ERROR_REPEAT},
        {"SERROR|VERROR|C40P01|Mx|", PX_ERROR_REPEAT},
        {"SERROR|VERROR|C55P03|Mx|", PX_ERROR_LOCK},
        {"SERROR|VERROR|C54000|Mx|", PX_ERROR_SIZE},
        {"SERROR|VERROR|C42601|Mx|", PX_ERROR_STALE},
        {"SERROR|VERROR|C42703|Mx|", PX_ERROR_STALE},
        {"SERROR|VERROR|C42804|Mx|", PX_ERROR_STALE},
        {"SERROR|VERROR|C42P01|Mx|", PX_ERROR_STALE},
        {"SERROR|VERROR|CXX000|Mcache lookup failed for type 16384|", PX_ERROR_STALE},
        {"SERROR|VERROR|CXX000|Mcache lookup failed for type|", PX_ERROR_OWN},
        {"SERROR|VERROR|CXX000|Mcache lookup failed for relation 16384|", PX_ERROR_OWN},
        {"SERROR|VERROR|C22023|Mcache lookup failed for type 16384|", PX_ERROR_OWN},
        {"SERROR|VERROR|C22P02|Mx|", PX_ERROR_OWN},
        {"SERROR|VERROR|C22P02|Mbigint: \"" RW_CHANGED "\"|", PX_ERROR_STALE},
        {"SERROR|VERROR|C22023|Mbigint: \"" RW_CHANGED "\"|", PX_ERROR_OWN},
        {"SERROR|VERROR|C26000|Mx|", PX_ERROR_STALE_PLAN},
        {"SERROR|VERROR|C0A000|Mx|RRevalidateCachedQuery|", PX_ERROR_STALE_PLAN},
        {"SERROR|VERROR|C0A000|Mx|RExecInitNode|", PX_ERROR_OWN},
        {"SERROR|VERROR|C0A000|Mx|", PX_ERROR_OWN},
        /* Anybody may raise these; that they sound like everybody's makes them nobody else's. */
        {"SERROR|VERROR|C53100|Mx|", PX_ERROR_OWN},
        {"SERROR|VERROR|C53300|Mx|", PX_ERROR_OWN},
        {"SERROR|VERROR|C57P01|Mx|", PX_ERROR_OWN},
        {"SERROR|VERROR|C57014|Mx|", PX_ERROR_CANCEL},
        {"SERROR|VERROR|C08006|Mx|", PX_ERROR_OWN},
        {"SERROR|VERROR|C28000|Mx|", PX_ERROR_OWN},
        {"SFATAL|VFATAL|C57P01|Mx|", PX_ERROR_EVERYBODYS},
        {"SPANIC|VPANIC|C53100|Mx|", PX_ERROR_EVERYBODYS},
        {"SFATAL|VFATAL|C23505|Mx|", PX_ERROR_EVERYBODYS},
        {"SFATAL|VFATAL|C40001|Mx|", PX_ERROR_EVERYBODYS},
        {"SFATAL|C57P01|Mx|", PX_ERROR_EVERYBODYS}, /* a server before 9.6 */
        {"SERROR|C57P01|Mx|", PX_ERROR_OWN},
        {"SFATAAL|VFATAL|C57P01|Mx|", PX_ERROR_EVERYBODYS}, /* V is not translated */
        {"SFATAL|VERROR|C57P01|Mx|", PX_ERROR_OWN},
        {"VERROR|Mx|", PX_ERROR_OWN},
        {"", PX_ERROR_OWN},
    };
    pgw_buf buf = {0};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pgw_slice body = body_of(table[i].fields, &buf);
        if (px_classify(body) != table[i].kind)
            fail_msg("%s is of kind %d", table[i].fields, px_classify(body));
        assert_int_equal(px_error_is_fatal(body), table[i].kind == PX_ERROR_EVERYBODYS);
    }
    pgw_buf_free(&buf);
}

static void test_openings(void **state)
{
    (void)state;
    static const struct {
        const char *sqlstate;
        bool personal, absence;
    } table[] = {
        {"28000", true, false}, {"28P01", true, false},  {"08006", false, true},
        {"08001", false, true}, {"57P03", false, true},  {"57P01", false, true},
        {"53300", true, false}, {"3D000", false, false}, {"", false, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pgw_error error;
        pgw_fail(&error, table[i].sqlstate, "x");
        assert_int_equal(px_error_is_personal(&error), table[i].personal);
        assert_int_equal(px_error_is_absence(&error), table[i].absence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_openings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
