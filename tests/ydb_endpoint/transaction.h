/*
 * transaction: BEGIN, COMMIT and ROLLBACK as the endpoint knows them (1.5), and what failures make
 * of a transaction.
 */
#ifndef YE_TRANSACTION_H
#define YE_TRANSACTION_H

#include "tests/ydb_endpoint/session.h"

#define YE_ABORTED_TRANSACTION                                                                     \
    "Current transaction is aborted, commands ignored until end of transaction block"

/* Writes tag, warning, or an error of the endpoint itself. False: it failed, and `failure` is to be
 * told; the transaction is as it was. */
PGW_MUST_CHECK bool ye_transaction_word(ye_session *session, ye_word word, ye_failure *failure);
/* Nothing of it stays; `status` is what follows: I or E. */
void ye_transaction_end(ye_session *session, char status);
/* Its statement was cancelled: the client is told nothing of what became of it. */
void ye_transaction_cancelled(ye_session *session);

#endif
