# Integration tests: each file is a ctest test that starts a PostgreSQL and a keyspread of its own.
# They need the distribution's Python with its psycopg2, psycopg and asyncpg; a missing one is
# reported by the tests themselves.
find_program(SYSTEM_PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH)
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/test_*.py)
foreach(script ${scripts})
  get_filename_component(name ${script} NAME_WE)
  string(REPLACE "test_" "" name ${name})
  add_test(NAME integration.${name} COMMAND ${SYSTEM_PYTHON3} ${script})
  set_tests_properties(integration.${name} PROPERTIES
    ENVIRONMENT "KEYSPREAD=$<TARGET_FILE:keyspread>;PYTHONDONTWRITEBYTECODE=1"
    LABELS integration
    TIMEOUT 900)
endforeach()

# The same sequences by chance direct and through keyspread; what differs is made smaller and printed.
set(DIFFERENTIAL ${SYSTEM_PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/../differential/run --workers 4
                 --failures 3 --minimise)
add_test(NAME integration.differential COMMAND ${DIFFERENTIAL} --seed 1 --sequences 2000)
add_test(NAME integration.differential_slow
         COMMAND ${DIFFERENTIAL} --seed 6000001 --sequences 300 --slow)
add_test(NAME integration.differential_patterns
         COMMAND ${DIFFERENTIAL} --seed 7000005 --sequences 200 --patterns)
# … and through keyspread before the fake of YDB's endpoint.
add_test(NAME integration.differential_ydb
         COMMAND ${DIFFERENTIAL} --seed 1 --sequences 400 --ydb)
foreach(test differential differential_slow differential_patterns differential_ydb)
  set_tests_properties(integration.${test} PROPERTIES
    ENVIRONMENT "KEYSPREAD=$<TARGET_FILE:keyspread>;PYTHONDONTWRITEBYTECODE=1"
    LABELS integration
    TIMEOUT 900)
endforeach()
