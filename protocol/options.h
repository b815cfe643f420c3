/*
 * options: the server's command line as a client may send it in the startup parameter `options`:
 * taken apart as pg_split_opts() and the server's getopt() do, and put together again so that more
 * can follow it.
 */
#ifndef PGW_OPTIONS_H
#define PGW_OPTIONS_H

#include "protocol/bytes.h"

#include <stdbool.h>

/* Appends the words of `text`, each as one word again, behind what `out` holds. False: every server
 * refuses them (an unknown switch, a switch without its value, a word that is no switch): `text` is
 * appended unchanged, and the caller adds nothing behind it, for that could change the server's
 * error. */
bool pgw_options_add(pgw_slice text, pgw_buf *out);
/* Appends `-c name=value` as words. */
void pgw_options_set(pgw_slice name, pgw_slice value, pgw_buf *out);

#endif
