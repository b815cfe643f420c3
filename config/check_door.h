/*
 * check_door: what clients meet before they may speak: addresses, TLS, passwords, and the admin
 * endpoint. Checks what belongs together and what is safe.
 */
#ifndef CFG_CHECK_DOOR_H
#define CFG_CHECK_DOOR_H

#include "config/document.h"
#include "config/schema.h"

/* Notes mistakes. No other file is read: see tls_files.h and users.h. */
void cfg_check_door(cfg_document *document, const cfg_raw *raw, const cfg_config *config);

#endif
