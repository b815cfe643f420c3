#include "tests/ydb_endpoint/transaction.h"

#include "protocol/backend.h"

static bool store_failed(ye_session *session, const pgw_error *error, ye_failure *failure)
{
    session->closing |= pgw_error_is(error, "08006");
    ye_failure_of(error, &session->endpoint->options, failure);
    return false;
}

static bool begin(ye_session *session, ye_failure *failure)
{
    pgw_error error;
    if (session->status == 'E') {
        ye_error_write(&session->out, YE_ABORTED_TRANSACTION);
        return true;
    }
    if (session->status == 'T') {
        ye_warning_write("There is already a transaction in progress", &session->out);
    } else {
        if (!ye_store_do(&session->store, "BEGIN", &error))
            return store_failed(session, &error, failure);
        session->status = 'T';
        session->doomed = session->lost = false;
    }
    pgw_write_tag("BEGIN", &session->out);
    return true;
}

static bool end_in_store(ye_session *session, ye_word word, ye_failure *failure)
{
    pgw_error error;
    if (session->lost)
        return ye_fail(failure, YE_NOT_FOUND, 2015, "Transaction not found");
    if (session->doomed && word == YE_COMMIT) {
        ye_failure_ordered(YE_ABORTED, failure);
        return false;
    }
    return ye_store_do(&session->store, word == YE_COMMIT ? "COMMIT" : "ROLLBACK", &error) ||
           store_failed(session, &error, failure);
}

/* COMMIT, or ROLLBACK in all its forms: "`ROLLBACK TO x` matches the ROLLBACK prefix and rolls back
 * everything"; "COMMIT in 'E' answers tag COMMIT and goes idle". */
static bool end(ye_session *session, ye_word word, ye_failure *failure)
{
    if (session->status == 'I')
        ye_warning_write("There is no transaction in progress", &session->out);
    if (session->status == 'T' && !end_in_store(session, word, failure))
        return false;
    session->status = 'I';
    pgw_buf_clear(&session->written);
    pgw_write_tag(word == YE_COMMIT ? "COMMIT" : "ROLLBACK", &session->out);
    return true;
}

bool ye_transaction_word(ye_session *session, ye_word word, ye_failure *failure)
{
    return word == YE_BEGIN ? begin(session, failure) : end(session, word, failure);
}

void ye_transaction_end(ye_session *session, char status)
{
    pgw_error error;
    if (!session->lost && !ye_store_do(&session->store, "ROLLBACK", &error))
        session->closing = true;
    session->status = status;
    session->lost = false;
    pgw_buf_clear(&session->written);
}

void ye_transaction_cancelled(ye_session *session)
{
    if (session->status != 'T')
        return;
    ye_transaction_end(session, 'T');
    session->lost = true;
}
