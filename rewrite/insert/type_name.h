/*
 * type_name: type names as they stand behind ::, in CAST(… AS …) and in front of a string.
 */
#ifndef RW_TYPE_NAME_H
#define RW_TYPE_NAME_H

#include "rewrite/insert/parser.h"

/* Takes a type's name with its modifiers and array brackets. False if none stands here: then it
 * may have taken some tokens. A type that is not known here is PGW_UNSPECIFIED. `prefix`: in front
 * of a string, where character types have no length unless it is written. */
PGW_MUST_CHECK bool rw_parse_type(rw_parser *parser, bool prefix, rw_cast *cast);
/* Whether a type reads names: regclass, regtype and their like, and arrays of them. */
bool rw_type_is_of_names(uint32_t type);

#endif
