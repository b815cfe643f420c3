/*
 * fuzz_login: any bytes, pieces of logins and TLS handshakes as a client's, at the session's own
 * code. The first byte chooses client_tls.mode, auth.mode, whether the client comes over a Unix
 * socket and whether all links to the backend are in use; each further one what the client does
 * next, see act(). Whatever it does: nothing is asked for in clear where TLS is required, nobody
 * gets in without the right proof, and when it has left nothing is left of it.
 */
#define _GNU_SOURCE
#include "protocol/frame.h"
#include "protocol/reader.h"
#include "proxy/client/core/session.h"
#include "proxy/client/door/session_io.h"
#include "tests/fuzz/login_setup.h"
#include "tests/protocol/scram_client.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* AuthenticationOk and those that follow a request. */
enum { OK = 0, CLEARTEXT = 3, SASL = 10, SASL_CONTINUE = 11, SASL_FINAL = 12 };
enum { TURNS = 100, FLIGHTS = 8, MAX_ACTS = 40 };

static setup place;
static SSL_CTX *client_context;
static client_keys keys;
static size_t idle_handles;

typedef struct client {
    int fd;
    SSL *ssl;     /* NULL: in clear */
    bool over;    /* the server has ended it */
    bool records; /* what comes in clear belongs to TLS */
    bool spoke, direct, alpn;
    bool local;    /* by a Unix socket */
    unsigned busy; /* links of others */
    const cfg_config *config;
    pgw_buf in;
    uint32_t code; /* of the last thing asked or told about who it is */
    bool noise;    /* bytes were sent that may be anything */
    bool stray;    /* something was sent that does not belong there */
    bool known;    /* the user of the startup packet that was sent */
    bool fits;     /* SCRAM: the first message suits the connection */
    bool answers;  /* … and came when it was asked for */
    bool proven;   /* … and so does the proof */
    bool welcome;
    pgw_buf first, server_first;
} client;

#define require setup_require

/* ---- the loop ---- */

static void count_handle(uv_handle_t *handle, void *count)
{
    (void)handle;
    ++*(size_t *)count;
}

static size_t handles(void)
{
    size_t count = 0;
    uv_walk(&place.worker.loop, count_handle, &count);
    return count;
}

static void turn(void)
{
    uv_run(&place.worker.loop, UV_RUN_NOWAIT);
}

/* ---- what the server says ---- */

static void hear_authentication(client *c, pgw_slice body)
{
    pgw_reader reader = pgw_reader_of(body);
    c->code = pgw_read_u32(&reader);
    require(!reader.failed && c->code != OK); /* there is no backend */
    bool clear = c->ssl == NULL && !c->local;
    cfg_auth_mode mode = c->config->auth.mode;
    require(mode == (c->code == CLEARTEXT ? CFG_AUTH_FORWARD : CFG_AUTH_SCRAM));
    require(!clear || (c->config->client_tls.mode != CFG_TLS_REQUIRE && mode == CFG_AUTH_SCRAM));
    require(!c->direct || c->alpn);
    if (c->code == SASL_CONTINUE) {
        pgw_buf_clear(&c->server_first);
        pgw_buf_add(&c->server_first, reader.at, (size_t)(reader.end - reader.at));
    }
    require(c->code != SASL_FINAL || c->proven);
    c->welcome = c->welcome || c->code == SASL_FINAL;
}

/* One message or, in clear, the answer to a request for encryption. Returns its size; 0: not there.
 */
static size_t hear_one(client *c, pgw_slice bytes)
{
    if (bytes.len > 0 && c->ssl == NULL && (*bytes.ptr == 'N' || *bytes.ptr == 'S')) {
        c->records = *bytes.ptr == 'S';
        return 1;
    }
    if (bytes.len > 9 && memcmp(bytes.ptr, "EFATAL:  ", 9) == 0) /* the form of protocol 2 */
        return strnlen(bytes.ptr, bytes.len - 1) + 1;
    pgw_frame frame;
    pgw_frame_result result = pgw_frame_next(bytes, &frame);
    require(result != PGW_FRAME_BAD);
    if (result == PGW_FRAME_MORE || bytes.len < frame.size)
        return 0;
    require(strchr("REv", frame.type) != NULL);
    if (frame.type == 'R')
        hear_authentication(c, pgw_frame_body(bytes, frame));
    return frame.size;
}

static void hear_all(client *c)
{
    size_t at = 0, size = 1;
    while (size > 0 && !(c->records && c->ssl == NULL)) {
        size = hear_one(c, (pgw_slice){c->in.ptr + at, c->in.len - at});
        at += size;
    }
    if (c->records && c->ssl == NULL)
        at = c->in.len;
    memmove(c->in.ptr, c->in.ptr + at, c->in.len - at);
    c->in.len -= at;
}

static bool receive(client *c)
{
    char *to = pgw_buf_reserve(&c->in, 4096);
    ERR_clear_error();
    ssize_t n = c->ssl ? SSL_read(c->ssl, to, 4096) : recv(c->fd, to, 4096, 0);
    c->over = c->over || n == 0;
    c->in.len += n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* The server does what it can, and the client hears it. */
static void listen_to(client *c)
{
    turn();
    turn();
    while (receive(c))
        hear_all(c);
}

/* ---- what the client says ---- */

static void say(client *c, const void *bytes, size_t len)
{
    if (len == 0)
        return;
    if (!c->spoke && !c->local && *(const uint8_t *)bytes == 0x16)
        c->records = c->direct = c->config->client_tls.mode != CFG_TLS_DISABLE;
    c->spoke = true;
    ERR_clear_error();
    ssize_t n = c->ssl ? SSL_write(c->ssl, bytes, (int)len) : send(c->fd, bytes, len, MSG_NOSIGNAL);
    (void)n; /* it may be over already */
}

static void say_password(client *c, const pgw_buf *body)
{
    pgw_buf message = {0};
    pgw_buf_add_byte(&message, 'p');
    pgw_buf_add_i32(&message, (int32_t)body->len + 4);
    pgw_buf_add_slice(&message, pgw_slice_buf(body));
    say(c, message.ptr, message.len);
    pgw_buf_free(&message);
}

static void say_bytes(client *c, pgw_reader *input)
{
    size_t len = pgw_read_u8(input), left = (size_t)(input->end - input->at);
    pgw_slice bytes = pgw_read_bytes(input, len < left ? len : left);
    c->noise = c->stray = true;
    say(c, bytes.ptr, bytes.len);
}

/* A whole packet of before the session: `which` of a few. */
static void say_packet(client *c, unsigned which)
{
    static const pgw_slice packets[] = {
        {"\0\0\0\10\4\322\26\57", 8},                                   /* SSLRequest */
        {"\0\0\0\10\4\322\26\60", 8},                                   /* GSSENCRequest */
        {"\0\0\0\24\0\3\0\0user\0alice\0\0", 20},                       /* a known user */
        {"\0\0\0\24\0\3\0\0user\0nobody\0", 20},                        /* (cut short) */
        {"\0\0\0\25\0\3\0\0user\0nobody\0\0", 21},                      /* an unknown user */
        {"\0\0\0\43\0\3\0\2user\0alice\0_pq_.x\0y\0options\0\0\0", 35}, /* protocol 3.2 */
        {"\0\0\0\20\4\322\26\56\0\0\0\1\1\2\3\4", 16},                  /* CancelRequest */
        {"\0\0\0\37\0\3\0\0user\0alice\0replication\0\0", 31},          /* another kind */
    };
    pgw_slice packet = packets[which % (sizeof packets / sizeof *packets)];
    c->stray = c->stray || c->code != 0;
    c->known = memmem(packet.ptr, packet.len, "alice", 5) != NULL;
    say(c, packet.ptr, packet.len);
}

/* ---- TLS ---- */

static void handshake(client *c, unsigned protocols)
{
    static const char *const offers[] = {"", "\12postgresql", "\10http/1.1",
                                         "\10http/1.1\12postgresql"};
    const char *offer = offers[protocols % 4];
    if (c->ssl != NULL)
        return;
    SSL *ssl = SSL_new(client_context);
    require(ssl != NULL && SSL_set_fd(ssl, c->fd) == 1);
    SSL_set_alpn_protos(ssl, (const unsigned char *)offer, (unsigned)strlen(offer));
    SSL_set_connect_state(ssl);
    if (!c->spoke && !c->local)
        c->direct = true;
    c->spoke = c->records = true;
    for (int i = 0; i < FLIGHTS && SSL_do_handshake(ssl) != 1; i++) {
        ERR_clear_error();
        turn();
    }
    if (!SSL_is_init_finished(ssl)) {
        SSL_free(ssl);
        c->stray = true;
        return;
    }
    const unsigned char *chosen;
    unsigned len;
    SSL_get0_alpn_selected(ssl, &chosen, &len);
    c->alpn = len > 0;
    c->ssl = ssl;
    require(!c->local && c->config->client_tls.mode != CFG_TLS_DISABLE);
}

/* ---- SCRAM ---- */

static void add_binding(client *c, pgw_buf *out)
{
    uint8_t hash[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    X509 *certificate = c->ssl != NULL ? SSL_get0_peer_certificate(c->ssl) : NULL;
    if (certificate != NULL)
        X509_digest(certificate, EVP_sha256(), hash, &len);
    pgw_buf_add(out, hash, len);
}

static const char *header_of(pgw_slice first)
{
    return *first.ptr == 'p' ? "p=tls-server-end-point,," : *first.ptr == 'y' ? "y,," : "n,,";
}

/* SASLInitialResponse with one of the flags, and perhaps the other mechanism. */
static void say_first(client *c, unsigned how)
{
    static const char *const firsts[] = {"n,,n=,r=nonce", "y,,n=,r=nonce",
                                         "p=tls-server-end-point,,n=,r=nonce",
                                         "p=tls-unique,,n=,r=nonce"};
    const char *first = firsts[how % 4];
    bool plus = how & 4, tls = c->ssl != NULL;
    pgw_buf body = {0};
    pgw_buf_clear(&c->first);
    pgw_buf_add_str(&c->first, first);
    client_initial(plus ? "SCRAM-SHA-256-PLUS" : "SCRAM-SHA-256", pgw_slice_buf(&c->first), &body);
    c->fits =
        (how % 4 == 2 && plus && tls) || (how % 4 == 1 && !plus && !tls) || (how % 4 == 0 && !plus);
    c->answers = c->code == SASL;
    say_password(c, &body);
    pgw_buf_free(&body);
}

static void add_proof(client *c, pgw_buf *body)
{
    pgw_slice first = pgw_slice_buf(&c->first);
    pgw_buf input = {0}, auth = {0};
    pgw_buf_add_str(&input, header_of(first));
    if (*first.ptr == 'p')
        add_binding(c, &input);
    pgw_buf_add_str(body, "c=");
    client_base64((const uint8_t *)input.ptr, input.len, body);
    pgw_buf_add_str(body, ",r=");
    pgw_buf_add_slice(body, client_nonce(pgw_slice_buf(&c->server_first)));
    client_auth_message(client_bare(first), pgw_slice_buf(&c->server_first), pgw_slice_buf(body),
                        &auth);
    uint8_t proof[CLIENT_KEY];
    client_proof(&keys, pgw_slice_buf(&auth), proof);
    pgw_buf_add_str(body, ",p=");
    client_base64(proof, sizeof proof, body);
    pgw_buf_free(&input);
    pgw_buf_free(&auth);
}

/* The answer to a challenge, spoilt in one bit if `spoil` is not 0. */
static void say_final(client *c, unsigned spoil)
{
    bool challenged = c->code == SASL_CONTINUE && c->server_first.len > 2 && c->first.len > 0;
    if (!challenged)
        return;
    pgw_buf body = {0};
    add_proof(c, &body);
    if (spoil > 0)
        body.ptr[spoil % body.len] ^= 4; /* never the case of a letter alone */
    c->proven = spoil == 0 && (c->noise || (c->known && c->fits));
    say_password(c, &body);
    pgw_buf_free(&body);
    listen_to(c);
    require(c->welcome || !c->proven || c->stray || !c->answers);
}

/* ---- one run ---- */

static void use_rules(unsigned tls, unsigned auth)
{
    const setup_rules *rules = &place.rules[tls % MODES][auth % MODES];
    place.worker.config = rules->config;
    px_credentials_drop(place.worker.credentials);
    place.worker.credentials = px_credentials_take(rules->credentials);
}

static void act(client *c, pgw_reader *input)
{
    unsigned what = pgw_read_u8(input), how = what >> 4;
    pgw_buf password = {0};
    switch (what % 8) {
    case 0:
        say_bytes(c, input);
        break;
    case 1:
        say_packet(c, how);
        break;
    case 2:
        handshake(c, how);
        break;
    case 3:
        say_first(c, how);
        break;
    case 4:
        say_final(c, how == 0 ? 0 : 1 + pgw_read_u8(input));
        break;
    case 5: /* a password */
        pgw_buf_add(&password, SETUP_PASSWORD, how % 2 ? sizeof SETUP_PASSWORD : 0);
        pgw_buf_add(&password, "x", how & 2 ? 2 : 0);
        say_password(c, &password);
        c->stray = true;
        break;
    case 6: /* a reload */
        use_rules(how % 4, how / 4);
        break;
    case 7:
        if (c->ssl != NULL)
            SSL_shutdown(c->ssl);
        else
            shutdown(c->fd, SHUT_WR);
        c->stray = true;
        break;
    }
    pgw_buf_free(&password);
    if ((what & 8) == 0) /* else it comes together with the next */
        listen_to(c);
}

static px_address *address_of(bool local)
{
    struct sockaddr_storage from = {.ss_family = local ? AF_UNIX : AF_INET};
    unsigned count;
    px_address *address = px_address_enter(place.server.addresses, &from, &count);
    require(count == !local); /* nobody of before is still counted */
    return address;
}

static client come(unsigned options)
{
    int fds[2];
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    use_rules(options & 3, options >> 2 & 3);
    client c = {.fd = fds[0], .local = options & 16, .config = place.worker.config};
    c.busy = options & 32 ? c.config->backend.max_links : 0;
    atomic_store(&place.server.seats.links, c.busy);
    atomic_fetch_add(&place.server.unauthenticated, 1);
    atomic_fetch_add(&place.worker.load, 1);
    px_session_io_begin(&place.worker, fds[1], address_of(c.local), NULL);
    return c;
}

static bool is_somebody_there(void)
{
    return atomic_load(&place.worker.load) > 0 || handles() > idle_handles;
}

static void leave(client *c)
{
    SSL_free(c->ssl);
    ERR_clear_error();
    close(c->fd);
    pgw_buf_free(&c->in);
    pgw_buf_free(&c->first);
    pgw_buf_free(&c->server_first);
    for (int i = 0; i < TURNS && is_somebody_there(); i++)
        turn();
    if (is_somebody_there()) { /* waits for a link, to do what was sent behind the startup */
        c->busy = 0;
        atomic_store(&place.server.seats.links, 0);
    }
    for (int i = 0; i < TURNS && is_somebody_there(); i++)
        uv_run(&place.worker.loop, UV_RUN_ONCE);
    require(handles() == idle_handles);
    require(
        atomic_load(&place.worker.load) == 0 && atomic_load(&place.server.seats.links) == c->busy &&
        atomic_load(&place.server.unauthenticated) == 0 && atomic_load(&place.server.clients) == 0);
}

static void begin(void)
{
    setup_make(&place);
    turn();
    idle_handles = handles();
    client_context = SSL_CTX_new(TLS_client_method());
    require(client_context != NULL);
    pgw_scram_secret salt;
    pgw_scram_secret_mock(PGW_LITERAL(SETUP_USER), place.worker.credentials->salt_key, &salt);
    keys =
        client_derive(PGW_LITERAL(SETUP_PASSWORD), salt.salt, salt.salt_len, PGW_SCRAM_ITERATIONS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (place.worker.config == NULL)
        begin();
    pgw_reader input = pgw_reader_of((pgw_slice){(const char *)data, size});
    client c = come(pgw_read_u8(&input));
    for (int acts = 0; acts < MAX_ACTS && !pgw_reader_done(&input) && !c.over; acts++)
        act(&c, &input);
    leave(&c);
    return 0;
}
