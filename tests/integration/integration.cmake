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
add_test(NAME integration.differential
         COMMAND ${SYSTEM_PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/../differential/run
                 --seed 1 --sequences 2000 --workers 4 --failures 3 --minimise)
set_tests_properties(integration.differential PROPERTIES
  ENVIRONMENT "KEYSPREAD=$<TARGET_FILE:keyspread>;PYTHONDONTWRITEBYTECODE=1"
  LABELS integration
  TIMEOUT 900)
