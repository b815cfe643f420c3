/*
 * row_width: whether the rows of a statement are alike but for their parameters, so that each can
 * be sent by itself.
 */
#ifndef RW_ROW_WIDTH_H
#define RW_ROW_WIDTH_H

#include "rewrite/insert/insert.h"

/* How many parameters each row has, if the rows differ in nothing but the parameters' numbers,
 * which go on from row to row, and no parameter stands outside of the rows; else 0. */
size_t rw_insert_row_width(const rw_insert *insert, const pgw_env *env);

#endif
