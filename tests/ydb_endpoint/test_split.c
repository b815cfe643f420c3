/* How texts are cut into pieces: the facts of 1.5 about the endpoint's own splitting. */
#include "tests/ydb_endpoint/split.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 4 };

static void pieces_end_where_the_endpoint_ends_them(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pieces[MOST];
    } cases[] = {
        {"", {NULL}},
        {"select 1", {"select 1\n"}},
        {"a;b", {"a;\n", "b\n"}},
        {"a;\nb;\n", {"a;\n", "b;\n"}},
        {";", {";\n"}},
        /* literals, names, comments */
        {"a ';' b; c", {"a ';' b; \n", "c\n"}},
        {"a 'it''s;' b; c", {"a 'it''s;' b; \n", "c\n"}},
        {"a '\\'; b", {"a '\\'; \n", "b\n"}},
        {"a E'\\';' b; c", {"a E'\\';' b; \n", "c\n"}},
        {"a E'\\\\'; b", {"a E'\\\\'; \n", "b\n"}},
        {"a \"x;y\" b; c", {"a \"x;y\" b; \n", "c\n"}},
        {"a -- x;y\n; b", {"a -- x;y\n; \n", "b\n"}},
        {"a /* x;/* y; */ z; */ b; c", {"a /* x;/* y; */ z; */ b; \n", "c\n"}},
        {"a; -- of a\nb", {"a; -- of a\n", "b\n"}},
        {"a; /* of a */ b", {"a; /* of a */ \n", "b\n"}},
        {"a 'never ends; b", {"a 'never ends; b\n"}},
        /* dollars after a blank alone, and not with a digit */
        {"a $$;$$ b; c", {"a $$;$$ b; \n", "c\n"}},
        {"a $x$;$$;$x$ b; c", {"a $x$;$$;$x$ b; \n", "c\n"}},
        {"a($$;$$)", {"a($$;\n", "$$)\n"}},
        {"a $1; b $1", {"a $1; \n", "b $1\n"}},
        /* psql's lines */
        {"\\set x 1\na", {"\\set x 1\n", "a\n"}},
        {"\\set x 1; y\na", {"\\set x 1; y\n", "a\n"}},
        {":x\na", {":x\n", "a\n"}},
        {"a\n:b c\nd", {"a\n:b c\n", "d\n"}},
        {"a::b; c", {"a::b; \n", "c\n"}},
        {"a 'x'\n:b; c", {"a 'x'\n:b; \n", "c\n"}},
        /* data of COPY */
        {"copy t from stdin;\n1;2\n\\.\nb", {"copy t from stdin;\n1;2\n\\.\n", "b\n"}},
        /* empty lines go, but in literals; CR and LF are one */
        {"\n\nbegin", {"begin\n"}},
        {"  begin", {"  begin\n"}},
        {"a\n\n\nb 'x\n\ny' \n\nc", {"a\nb 'x\n\ny' \nc\n"}},
        {"a\r\nb", {"a\nb\n"}},
        {"'a'\n'b'", {"'a'\n'b'\n"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ye_split split = ye_split_of(pgw_slice_str(cases[i].text));
        pgw_buf piece = {0};
        size_t count = 0;
        for (; ye_split_next(&split, &piece); count++)
            if (count == MOST || cases[i].pieces[count] == NULL ||
                !pgw_slice_eq_str(pgw_slice_buf(&piece), cases[i].pieces[count]))
                fail_msg("%s: piece %zu is %.*s", cases[i].text, count, (int)piece.len, piece.ptr);
        if (count < MOST && cases[i].pieces[count] != NULL)
            fail_msg("%s: no piece %zu", cases[i].text, count);
        pgw_buf_free(&piece);
    }
}

/* Whatever the bytes: every one is in one piece, or is white space; and there is an end. */
static void all_texts_end(void **state)
{
    (void)state;
    static const char letters[] = "a ;'\"\\:$-/*E\n\rx1";
    srand(7);
    for (int i = 0; i < 200000; i++) {
        char text[24];
        const size_t length = (size_t)rand() % sizeof text;
        size_t kept = 0, given = 0;
        for (size_t j = 0; j < length; j++)
            kept += strchr("\r\n", text[j] = letters[rand() % (int)(sizeof letters - 1)]) == NULL;
        ye_split split = ye_split_of((pgw_slice){text, length});
        pgw_buf piece = {0};
        while (ye_split_next(&split, &piece))
            for (size_t j = 0; j < piece.len; j++)
                given += strchr("\r\n", piece.ptr[j]) == NULL;
        pgw_buf_free(&piece);
        assert_int_equal(given, kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_end_where_the_endpoint_ends_them),
        cmocka_unit_test(all_texts_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
