/*
 * rules: what PostgreSQL's operators and CASE, COALESCE and their like make of a value whose type
 * is not said (src/backend/parser/parse_oper.c, parse_coerce.c). PGW_UNKNOWN is a type that is not
 * said yet, PGW_UNSPECIFIED one that is not known here.
 */
#ifndef RW_RULES_H
#define RW_RULES_H

#include "protocol/types.h"

/* The type that one side of an operator is taken for, if the other has this type. PGW_UNSPECIFIED:
 * PostgreSQL finds none, or several. */
uint32_t rw_operand_left(const char *name, uint32_t right);
uint32_t rw_operand_right(const char *name, uint32_t left);
/* The type that both sides have if neither is said: text, or PGW_UNSPECIFIED. */
uint32_t rw_operand_both(const char *name);
/* The type of an operator's result. `left` is PGW_UNSPECIFIED for a prefix operator. */
uint32_t rw_operator_result(const char *name, uint32_t left, uint32_t right);
/* The type that values of these types are taken for together, the first of them first; text, if
 * none is said. PGW_UNSPECIFIED, if one is not known. */
uint32_t rw_common_type(const uint32_t *types, size_t count);

#endif
