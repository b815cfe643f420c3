# Integration tests: each file is a ctest test that starts a PostgreSQL and a keyspread of its own.
# They need the distribution's Python with its psycopg2, psycopg and asyncpg; a missing one is
# reported by the tests themselves.
find_program(SYSTEM_PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH)

# integration(NAME SCRIPT [ARGUMENT...])
function(integration name)
  add_test(NAME integration.${name} COMMAND ${SYSTEM_PYTHON3} ${ARGN})
  set_tests_properties(integration.${name} PROPERTIES LABELS integration TIMEOUT 900
    ENVIRONMENT "KEYSPREAD=$<TARGET_FILE:keyspread>;PYTHONDONTWRITEBYTECODE=1")
endfunction()

file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/test_*.py)
foreach(script ${scripts})
  get_filename_component(name ${script} NAME_WE)
  string(REPLACE "test_" "" name ${name})
  integration(${name} ${script})
endforeach()

# These do as well where the hash stands first in the key.
foreach(name catalog_hidden errors like lookups references returning)
  integration(hash_first_${name} ${CMAKE_CURRENT_LIST_DIR}/test_${name}.py)
  set_property(TEST integration.hash_first_${name} APPEND PROPERTY ENVIRONMENT KEYSPREAD_TEST_KEY_ORDER=hash_first)
endforeach()

# These do as well with hash buckets.
foreach(name insert_select key_changes lookups)
  integration(buckets_${name} ${CMAKE_CURRENT_LIST_DIR}/test_${name}.py)
  set_property(TEST integration.buckets_${name} APPEND PROPERTY ENVIRONMENT KEYSPREAD_TEST_HASH_BUCKETS=16)
endforeach()

# Sequences by chance direct and through keyspread; what differs is made smaller and printed.
# differential(NAME SHORT LONG [OPTION...]): how many at most, in a short run of 15 s and in a long one of 5 minutes.
function(differential name short long)
  set(bound --sequences ${short} --seconds 15)
  if(KEYSPREAD_LONG)
    set(bound --sequences ${long} --seconds 300)
  endif()
  integration(${name} ${CMAKE_CURRENT_LIST_DIR}/../differential/run --workers 4 --failures 3 --minimise
              --seed ${KEYSPREAD_SEED} ${bound} ${ARGN})
  set_property(TEST integration.${name} PROPERTY LABELS integration chance)
  set_property(TEST integration.${name} PROPERTY PROCESSORS 2) # Its workers compute all the time.
endfunction()
differential(differential 250 4000)
differential(differential_slow 50 600 --slow)
differential(differential_patterns 50 600 --patterns)
differential(differential_ydb 100 600 --ydb) # keyspread stands before the fake of YDB's endpoint

# Statements by chance that read ranges, before the fake of YDB's endpoint and PostgreSQL.
set_property(TEST integration.ydb_ranges PROPERTY LABELS integration chance)
set_property(TEST integration.ydb_ranges APPEND PROPERTY ENVIRONMENT KEYSPREAD_SEED=${KEYSPREAD_SEED})
if(KEYSPREAD_LONG)
  set_property(TEST integration.ydb_ranges APPEND PROPERTY ENVIRONMENT KEYSPREAD_STATEMENTS=5000)
endif()

# Transactions by chance of many sessions at once, and the same one after the other.
set_property(TEST integration.serial_replay PROPERTY LABELS integration chance)
set_property(TEST integration.serial_replay APPEND PROPERTY ENVIRONMENT KEYSPREAD_SEED=${KEYSPREAD_SEED})
if(KEYSPREAD_LONG)
  set_property(TEST integration.serial_replay APPEND PROPERTY ENVIRONMENT KEYSPREAD_TRANSACTIONS=20000)
endif()

# These tests have faults by chance while many clients write.
set(ledgers integration.ledger integration.ydb_ledger)
set_property(TEST ${ledgers} PROPERTY LABELS integration chance)
if(KEYSPREAD_LONG)
  set_property(TEST ${ledgers} APPEND PROPERTY ENVIRONMENT KEYSPREAD_LONG=1)
endif()

set(random integration.random_sequences integration.random_transactions integration.random_lazy)
set_property(TEST ${random} PROPERTY LABELS integration chance)
if(KEYSPREAD_LONG)
  math(EXPR last "${KEYSPREAD_SEED} + 299")
  set_property(TEST ${random} APPEND PROPERTY ENVIRONMENT KEYSPREAD_SEEDS=${KEYSPREAD_SEED}-${last})
endif()
