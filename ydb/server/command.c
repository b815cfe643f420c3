#include "ydb/server/command.h"

bool pgw_command_exits(pgw_command command)
{
    return command == PGW_COMMAND_COMMIT || command == PGW_COMMAND_ROLLBACK ||
           command == PGW_COMMAND_ROLLBACK_TO;
}

bool pgw_command_controls(pgw_command command)
{
    return command >= PGW_COMMAND_BEGIN && command <= PGW_COMMAND_ROLLBACK;
}

bool pgw_command_is_savepoint(pgw_command command)
{
    return command >= PGW_COMMAND_SAVEPOINT && command <= PGW_COMMAND_ROLLBACK_TO;
}

bool pgw_command_has_order(pgw_command command)
{
    return command >= PGW_COMMAND_PREPARE;
}

const char *pgw_command_tag(pgw_command command)
{
    static const char *const tags[] = {
        [PGW_COMMAND_BEGIN] = "BEGIN",
        [PGW_COMMAND_START] = "START TRANSACTION",
        [PGW_COMMAND_COMMIT] = "COMMIT",
        [PGW_COMMAND_ROLLBACK] = "ROLLBACK",
        [PGW_COMMAND_SAVEPOINT] = "SAVEPOINT",
        [PGW_COMMAND_RELEASE] = "RELEASE SAVEPOINT",
        [PGW_COMMAND_ROLLBACK_TO] = "ROLLBACK TO SAVEPOINT",
        [PGW_COMMAND_PREPARE] = "PREPARE",
        [PGW_COMMAND_DEALLOCATE] = "DEALLOCATE",
        [PGW_COMMAND_DECLARE] = "DECLARE CURSOR",
        [PGW_COMMAND_FETCH] = "FETCH",
        [PGW_COMMAND_MOVE] = "MOVE",
        [PGW_COMMAND_CLOSE] = "CLOSE CURSOR",
        [PGW_COMMAND_DISCARD] = "DISCARD",
    };
    return tags[command] != NULL ? tags[command] : "";
}
