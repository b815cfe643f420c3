/* Which facts about the backend are relied on that nobody has confirmed, as the log says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/server/config.h"
#include "tests/proxy/logged.h"

static void what_nobody_confirmed_is_logged(void **state)
{
    (void)state;
    cfg_config config = {.backend.capabilities.max_message = 1000};
    cfg_capabilities *capabilities = &config.backend.capabilities;
    px_config_log_unconfirmed(&config);
    assert_string_equal(logged(), "");

    config.backend.dialect = CFG_DIALECT_YDB;
    for (size_t i = 0; i < CFG_CAPABILITIES; i++)
        capabilities->written[i] = i != CFG_CAN_UUID_KEYS;
    px_config_log_unconfirmed(&config);
    assert_string_equal(logged_line(), "level=warn event=capabilities_unconfirmed "
                                       "rows=\"uuid_keys=no max_message=1000\"\n");

    capabilities->written[CFG_CAN_UUID_KEYS] = capabilities->max_message_written = true;
    px_config_log_unconfirmed(&config);
    assert_string_equal(logged(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_nobody_confirmed_is_logged, redirect_log, restore_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
