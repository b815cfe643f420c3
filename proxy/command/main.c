#include "proxy/command/commands.h"

int main(int argc, char **argv)
{
    return px_commands_run(argc, argv, stdin, stdout, stderr);
}
