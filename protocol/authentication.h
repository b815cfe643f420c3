/*
 * authentication: the plain ways of proving who one is: the request for a password, and the
 * password (protocol documentation, "Message Formats"). SCRAM is scram.h's.
 */
#ifndef PGW_AUTHENTICATION_H
#define PGW_AUTHENTICATION_H

#include "protocol/reader.h"

void pgw_write_authentication_cleartext(pgw_buf *out); /* AuthenticationCleartextPassword */

/* PasswordMessage. False if the body is not one NUL-terminated string with nothing behind it: the
 * client is to get 08P01. `password` points into the body, and may be empty. */
PGW_MUST_CHECK bool pgw_password_decode(pgw_slice body, pgw_slice *password);

#endif
