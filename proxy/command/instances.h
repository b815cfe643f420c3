/*
 * instances: tables that only a pattern of the file names, for a text that is explained: those that
 * the backend has, and those that the text itself makes.
 */
#ifndef PX_COMMAND_INSTANCES_H
#define PX_COMMAND_INSTANCES_H

#include "proxy/command/base/tables.h"

/* Adds the tables of patterns that the backend has; a message if it cannot be asked. */
void px_instances_ask(px_tables *tables, FILE *errors);
/* Adds the tables that a CREATE TABLE of the text makes, unless they are there. `planned`: all
 * tables and patterns of the file. Needs stack as rw_script_parse() does. */
void px_instances_make(px_tables *tables, const rw_catalog *planned, pgw_slice text);

#endif
