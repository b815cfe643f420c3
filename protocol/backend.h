/*
 * backend: the bodies of the server's messages, read and written.
 */
#ifndef PGW_BACKEND_H
#define PGW_BACKEND_H

#include "protocol/reader.h"

void pgw_write_authentication_ok(pgw_buf *out);
void pgw_write_parameter_status(pgw_slice name, pgw_slice value, pgw_buf *out);
void pgw_write_key_data(uint32_t pid, pgw_slice key, pgw_buf *out);
void pgw_write_ready(char status, pgw_buf *out);        /* 'I', 'T' or 'E' */
void pgw_write_tag(const char *tag, pgw_buf *out);      /* CommandComplete */
void pgw_write_insert_tag(uint64_t rows, pgw_buf *out); /* the CommandComplete of an INSERT */
void pgw_write_parse_complete(pgw_buf *out);
void pgw_write_bind_complete(pgw_buf *out);
void pgw_write_close_complete(pgw_buf *out);
void pgw_write_no_data(pgw_buf *out);
void pgw_write_portal_suspended(pgw_buf *out);
void pgw_write_empty_query(pgw_buf *out);
/* Writes DataRow; a cell of {NULL, 0} is NULL. False, and nothing written, if it were longer than a
 * message can be (PGW_MAX_LARGE_BODY). */
PGW_MUST_CHECK bool pgw_write_data_row(const pgw_slice *cells, size_t count, pgw_buf *out);
/* Writes ParameterDescription. False, and nothing written, if there are more than
 * PGW_MAX_PARAMETERS. */
PGW_MUST_CHECK bool pgw_write_parameter_description(const uint32_t *types, size_t count,
                                                    pgw_buf *out);

/* The format of column `i` by the result formats of a Bind (pgw_bind): none means text (0), a
 * single one holds for all columns. */
uint16_t pgw_result_format(pgw_slice results, size_t i);
/* Writes RowDescription with this body (of Describe of a statement), and the formats that a Bind
 * asks for (pgw_bind.results); NoData for an empty body. */
void pgw_write_row_description(pgw_slice body, pgw_slice results, pgw_buf *out);
/* Whether two RowDescriptions' columns have the same names, types and typmods, whatever tables they
 * are of. Empty ones are NoData. */
PGW_MUST_CHECK bool pgw_row_descriptions_agree(pgw_slice a, pgw_slice b);
/* Whether a RowDescription that is sent may be read as the one that was told before: names are the
 * same (but "?column?" may have become any, as a constant with a cast has its type's), and types
 * have values of the same bytes: lengths, typmods and the kind of string do not count, and a type
 * of 0 is not known. */
PGW_MUST_CHECK bool pgw_row_descriptions_read_alike(pgw_slice sent, pgw_slice told);

/* Decodes ParameterStatus. */
PGW_MUST_CHECK bool pgw_parameter_status_decode(pgw_slice body, pgw_slice *name, pgw_slice *value);
/* Decodes ParameterDescription: the count, and the types, which pgw_type_at() reads. */
PGW_MUST_CHECK bool pgw_parameter_description_decode(pgw_slice body, size_t *count,
                                                     pgw_slice *types);
/* The type of parameter `i`, counted from 0; 0 beyond the last. */
uint32_t pgw_type_at(pgw_slice types, size_t i);
/* The rows a CommandComplete's tag counts ("INSERT 0 5" is 5); 0 if it counts none or the body is
 * malformed. */
uint64_t pgw_tag_rows(pgw_slice body);
/* Decodes up to `max` cells of a DataRow in text format; returns how many there are (perhaps more
 * than `max`), or -1 if malformed. */
PGW_MUST_CHECK int pgw_data_row_decode(pgw_slice body, pgw_slice *cells, bool *nulls, int max);

#endif
