#include "protocol/negotiation.h"

enum { TLS_HANDSHAKE = 0x16 }; /* the content type of records of a TLS handshake */

bool pgw_negotiate_directly(pgw_negotiation *state, unsigned char first)
{
    if (!state->tls || first != TLS_HANDSHAKE)
        return false;
    *state = (pgw_negotiation){.tls_asked = true, .gss_asked = true};
    return true;
}

static pgw_negotiated refuse_version(const pgw_startup *startup, pgw_error *error)
{
    pgw_fail(error, "0A000", "unsupported frontend protocol %u.%u: server supports 3.0 to 3.%d",
             startup->major, startup->minor, PGW_MINOR);
    return PGW_NEGOTIATED_REFUSE;
}

static pgw_negotiated ask_tls(pgw_negotiation *state, bool alone)
{
    bool yes = state->tls;
    state->tls_asked = true;
    state->unencrypted = alone ? NULL : "SSL request";
    if (!yes)
        return PGW_NEGOTIATED_DECLINE;
    state->tls = false;
    state->gss_asked = true; /* TLS is enough: GSSAPI encryption cannot be asked for any more */
    return PGW_NEGOTIATED_ENCRYPT;
}

static pgw_negotiated ask_gss(pgw_negotiation *state, bool alone)
{
    state->gss_asked = true;
    state->unencrypted = alone ? NULL : "GSSAPI encryption request";
    return PGW_NEGOTIATED_DECLINE;
}

static pgw_negotiated refuse_unencrypted(const char *behind, pgw_startup *startup, pgw_error *error)
{
    *startup = (pgw_startup){0};
    pgw_fail(error, "08P01", "received unencrypted data after %s", behind);
    pgw_error_detail(error,
                     "This could be either a client-software bug or evidence of an attempted "
                     "man-in-the-middle attack.");
    return PGW_NEGOTIATED_REFUSE;
}

pgw_negotiated pgw_negotiate(pgw_negotiation *state, pgw_slice input, pgw_startup *startup,
                             pgw_error *error)
{
    if (state->unencrypted != NULL && input.len > 0)
        return refuse_unencrypted(state->unencrypted, startup, error);
    pgw_startup_kind kind = pgw_startup_decode(input, startup);
    bool alone = input.len == startup->size;
    switch (kind) {
    case PGW_STARTUP_MORE:
        return PGW_NEGOTIATED_MORE;
    case PGW_STARTUP_SESSION:
        return PGW_NEGOTIATED_SESSION;
    case PGW_STARTUP_CANCEL:
        return PGW_NEGOTIATED_CANCEL;
    case PGW_STARTUP_SSL:
        return state->tls_asked ? refuse_version(startup, error) : ask_tls(state, alone);
    case PGW_STARTUP_GSSENC:
        return state->gss_asked ? refuse_version(startup, error) : ask_gss(state, alone);
    case PGW_STARTUP_UNSUPPORTED:
        return refuse_version(startup, error);
    case PGW_STARTUP_BAD_LENGTH:
        return PGW_NEGOTIATED_DROP;
    case PGW_STARTUP_BAD_LAYOUT:
        break;
    }
    pgw_fail(error, "08P01", "invalid startup packet layout: expected terminator as last byte");
    return PGW_NEGOTIATED_REFUSE;
}
