#include "proxy/command/commands.h"

#include "proxy/command/ddl.h"
#include "proxy/command/explain.h"
#include "proxy/command/hash.h"
#include "proxy/command/migrate/migrate.h"
#include "proxy/command/unspread.h"
#include "proxy/command/verify.h"
#include "proxy/server/config.h"

#include <string.h>

#include "proxy/client/door/credentials.h"
#include "proxy/server/server.h"
#include "ydb/ydb.h"

static int run_server(const px_command *command);
/* Says how many entries the file has; and, where a pattern may be any number of tables, how many of
 * all the backend has. */
static void say_count(const px_command *command, const cfg_config *config,
                      const unsigned long *tables)
{
    size_t entries = config->table_count + config->pattern_count + config->columnar_count;
    const char *what = config->pattern_count == 0 ? entries == 1 ? "table" : "tables"
                       : entries == 1             ? "entry"
                                                  : "entries";
    fprintf(command->out, "%s: no mistakes; %zu %s", config->path, entries, what);
    if (tables != NULL)
        fprintf(command->out, ", %lu %s", *tables, *tables == 1 ? "table" : "tables");
    fputc('\n', command->out);
}

static int run_check(const px_command *command);
static int run_version(const px_command *command);
static int run_help(const px_command *command);

static const struct {
    const char *word, *arguments, *what;
    int least, most; /* arguments; most -1: any number */
    int (*run)(const px_command *command);
} commands[] = {
    {"run", "CONFIG", "run the proxy in the foreground; logs go to standard error", 1, 1,
     run_server},
    {"check", "CONFIG", "validate the file", 1, 1, run_check},
    {"explain", "CONFIG [FILE]",
     "say of each SQL statement (FILE, else standard input) what would become of it", 1, 2,
     px_command_explain},
    {"hash", "CONFIG TABLE COL=VALUE...", "print the hash of a key, and its partition", 3, -1,
     px_command_hash},
    {"ddl", "[--postgres|--yql|--trigger|--event-trigger] CONFIG [TABLE]",
     "print the DDL that makes the tables", 1, 3, px_command_ddl},
    {"verify", "CONFIG TABLE", "count the stored rows whose hash is wrong or missing", 2, 2,
     px_command_verify},
    {"migrate", "CONFIG [TABLE...] --plan|--run|--cutover|--back|--finish",
     "make spread tables of tables that have rows, while applications go on writing", 1, -1,
     px_command_migrate},
    {"version", "", "print the version", 0, 0, run_version},
    {"help", "[COMMAND]", "print this, or the usage of one command", 0, 1, run_help},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_usage(FILE *out)
{
    fputs("keyspread: a PostgreSQL proxy that spreads growing keys over partitions and batches "
          "their inserts\n\nusage:\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  keyspread %s%s%s\n        %s\n", commands[i].word,
                *commands[i].arguments ? " " : "", commands[i].arguments, commands[i].what);
    fputs("\nexit codes: 0 done, 1 the input is wrong, 2 usage\n", out);
}

/* Prints the line `usage: …` of one command. */
static void print_line(FILE *out, size_t i)
{
    fprintf(out, "usage: keyspread %s%s%s\n", commands[i].word, *commands[i].arguments ? " " : "",
            commands[i].arguments);
}

/* Prints the usage of one command, and what it does. */
static int print_command(FILE *out, size_t i)
{
    print_line(out, i);
    fprintf(out, "  %s\n", commands[i].what);
    return PX_DONE;
}

/* COMMAND_COUNT, and a message, if there is no such command. */
static size_t find_command(const char *word, FILE *errors)
{
    size_t i = 0;
    while (i < COMMAND_COUNT && strcmp(word, commands[i].word) != 0)
        i++;
    if (i == COMMAND_COUNT)
        fprintf(errors, "keyspread: unknown command \"%s\": see `keyspread help`\n", word);
    return i;
}

static int run_help(const px_command *command)
{
    if (command->argc > 0) {
        size_t i = find_command(command->argv[0], command->errors);
        return i < COMMAND_COUNT ? print_command(command->out, i) : PX_USAGE;
    }
    print_usage(command->out);
    return PX_DONE;
}

static int run_version(const px_command *command)
{
    fprintf(command->out, "keyspread %s\n", KEYSPREAD_VERSION);
    return PX_DONE;
}

static int run_server(const px_command *command)
{
    cfg_config *config = px_config_load(command->argv[0], command->errors);
    return config != NULL ? px_run(config, command->errors) : PX_WRONG;
}

static int run_check(const px_command *command)
{
    cfg_config *config = px_config_load(command->argv[0], command->errors);
    px_credentials *credentials =
        config != NULL ? px_credentials_load(config, NULL, command->errors) : NULL;
    if (credentials != NULL) {
        unsigned long tables;
        px_ydb_advise(config, command->errors);
        bool counted = px_unspread_check(config, command->errors, &tables);
        say_count(command, config, counted ? &tables : NULL);
    }
    int result = credentials != NULL ? PX_DONE : PX_WRONG;
    px_credentials_drop(credentials);
    cfg_free(config);
    return result;
}

/* The command that `-h` and its like stand for, at the first place only: later words may be values.
 */
static const char *plain_word(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return "version";
    return word;
}

static int run_command(size_t i, const px_command *command)
{
    if (command->argc > 0 && strcmp(plain_word(command->argv[0]), "help") == 0 &&
        command->argv[0][0] == '-')
        return print_command(command->out, i);
    bool few = command->argc < commands[i].least;
    if (!few && (commands[i].most < 0 || command->argc <= commands[i].most))
        return commands[i].run(command);
    fprintf(command->errors, "keyspread: too %s arguments for %s\n", few ? "few" : "many",
            commands[i].word);
    print_line(command->errors, i);
    return PX_USAGE;
}

int px_commands_run(int argc, char **argv, FILE *in, FILE *out, FILE *errors)
{
    if (argc < 2) {
        print_usage(errors);
        return PX_USAGE;
    }
    const char *word = plain_word(argv[1]);
    px_command command = {argc - 2, argv + 2, in, out, errors};
    size_t i = find_command(word, errors);
    if (i == COMMAND_COUNT)
        return PX_USAGE;
    int code = run_command(i, &command);
    if (fflush(out) == 0 && !ferror(out))
        return code;
    fputs("keyspread: the output could not be written\n", errors);
    return PX_WRONG;
}
