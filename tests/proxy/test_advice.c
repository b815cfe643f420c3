/* What is said against tables as they are configured, and by whom: `ddl --yql` for anybody, `check`
 * where the dialect is YDB's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/load.h"
#include "ydb/command/advice.h"
#include "proxy/command/commands.h"

#define FILES VECTORS "/ddl/"

/* Lines without the folder in front; to be freed. */
static char *trimmed(char *text)
{
    char *to = text;
    for (char *line = text, *end; *line != '\0'; line = end) {
        end = line + strcspn(line, "\n") + 1;
        if (strncmp(line, FILES, strlen(FILES)) == 0)
            line += strlen(FILES);
        memmove(to, line, (size_t)(end - line));
        to += end - line;
    }
    *to = '\0';
    return text;
}

static char *content(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    return text;
}

static void ddl_in_yql_advises(void **state)
{
    (void)state;
    const char *words[] = {"keyspread", "ddl", "--yql", FILES "advice.yaml"};
    char *out_text = NULL, *text = NULL;
    size_t out_size, size;
    FILE *out = open_memstream(&out_text, &out_size), *errors = open_memstream(&text, &size);
    assert_int_equal(px_commands_run(4, (char **)words, stdin, out, errors), 0);
    fclose(out);
    fclose(errors);
    char *wanted = content(FILES "advice.txt");
    assert_string_equal(trimmed(text), wanted);
    free(wanted);
    free(text);
    free(out_text);
}

static char *check(cfg_dialect dialect, bool good)
{
    char *text = NULL;
    size_t size;
    cfg_config *config = cfg_load(FILES "advice.yaml", stderr);
    assert_non_null(config);
    config->backend.dialect = dialect;
    memset(config->backend.capabilities.can, good, sizeof config->backend.capabilities.can);
    FILE *errors = open_memstream(&text, &size);
    px_advice_check(config, errors);
    fclose(errors);
    cfg_free(config);
    return text;
}

static void check_advises_for_ydb(void **state)
{
    (void)state;
    char *text = check(CFG_DIALECT_POSTGRES, false);
    assert_string_equal(text, "");
    free(text);
    text = check(CFG_DIALECT_YDB, false);
    assert_non_null(strstr(text, "table own: hash_type uint64 makes a table of YDB's own types"));
    assert_non_null(strstr(text, "table coin: column id is a uuid"));
    free(text);
    text = check(CFG_DIALECT_YDB, true);
    assert_null(strstr(text, "YDB's own types"));
    assert_null(strstr(text, "is a uuid"));
    assert_non_null(strstr(text, "table whole: hash_key is the whole primary key"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ddl_in_yql_advises),
        cmocka_unit_test(check_advises_for_ydb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
