#include "ydb/places/viewer.h"

#include "ydb/places/described.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_MS = 5000, ANSWER_MS = 15000 };

/* Paths of the handler that describes a table; a server has one or the other. */
static const char *const handlers[] = {"/viewer/json/describe", "/viewer/describe"};
enum { HANDLERS = sizeof handlers / sizeof *handlers };

struct px_viewer {
    CURL *curl;
    char *url, *database; /* the url has no slash at its end, the database has one in front */
    size_t handler;       /* place in `handlers` of the one that was there last */
    const _Atomic bool *stopping;
};

void px_viewer_global(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* ---- libcurl ---- */

/* Takes bytes of the answer; libcurl gives up if fewer than all are taken. */
static size_t on_bytes(char *bytes, size_t size, size_t count, void *owner)
{
    pgw_buf *body = owner;
    if (body->len + size * count > RW_DESCRIBED_MOST)
        return 0;
    pgw_buf_add(body, bytes, size * count);
    return size * count;
}

static int on_progress(void *owner, curl_off_t total, curl_off_t now, curl_off_t up_total,
                       curl_off_t up)
{
    (void)total, (void)now, (void)up_total, (void)up;
    const px_viewer *viewer = owner;
    return atomic_load(viewer->stopping);
}

/* Sets libcurl to use no signals, other protocols, redirects or proxies of the environment. */
static void set_options(px_viewer *viewer)
{
    curl_easy_setopt(viewer->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(viewer->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(viewer->curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(viewer->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(viewer->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(viewer->curl, CURLOPT_TIMEOUT_MS, (long)ANSWER_MS);
    curl_easy_setopt(viewer->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(viewer->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(viewer->curl, CURLOPT_XFERINFODATA, viewer);
    curl_easy_setopt(viewer->curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(viewer->curl, CURLOPT_USERAGENT, "keyspread");
}

px_viewer *px_viewer_new(const char *url, const char *database, const _Atomic bool *stopping)
{
    px_viewer *viewer = pgw_calloc(1, sizeof *viewer);
    pgw_buf path = {0};
    pgw_buf_addf(&path, "%s%s", *database == '/' ? "" : "/", database);
    size_t len = strlen(url);
    viewer->database = pgw_strndup(path.ptr, path.len);
    viewer->url = pgw_strndup(url, len > 0 && url[len - 1] == '/' ? len - 1 : len);
    viewer->stopping = stopping;
    viewer->curl = curl_easy_init();
    if (viewer->curl == NULL)
        abort(); /* out of memory */
    set_options(viewer);
    pgw_buf_free(&path);
    return viewer;
}

void px_viewer_free(px_viewer *viewer)
{
    if (viewer == NULL)
        return;
    curl_easy_cleanup(viewer->curl);
    free(viewer->url);
    free(viewer->database);
    free(viewer);
}

/* ---- a question ---- */

static void add_escaped(const px_viewer *viewer, const char *text, pgw_buf *out)
{
    char *escaped = curl_easy_escape(viewer->curl, text, 0);
    pgw_buf_add_str(out, escaped != NULL ? escaped : "");
    curl_free(escaped);
}

static void make_url(const px_viewer *viewer, const cfg_table *table, pgw_buf *out)
{
    pgw_buf path = {0};
    pgw_buf_addf(&path, "%s/%s", viewer->database, table->name);
    pgw_buf_add_byte(&path, '\0');
    pgw_buf_addf(out, "%s%s?path=", viewer->url, handlers[viewer->handler]);
    add_escaped(viewer, path.ptr, out);
    pgw_buf_add_str(out, "&database=");
    add_escaped(viewer, viewer->database, out);
    pgw_buf_add_str(out, "&boundaries=true&partition_stats=false&partition_config=false&enums=true"
                         "&subs=0");
    pgw_buf_add_byte(out, '\0');
    pgw_buf_free(&path);
}

/* Asks for a description; returns the HTTP status, or 0, with a reason, without a whole answer. */
static long fetch(px_viewer *viewer, const cfg_table *table, pgw_buf *body, px_viewed *seen)
{
    pgw_buf url = {0};
    long status = 0;
    pgw_buf_clear(body);
    make_url(viewer, table, &url);
    curl_easy_setopt(viewer->curl, CURLOPT_URL, url.ptr);
    curl_easy_setopt(viewer->curl, CURLOPT_WRITEDATA, body);
    CURLcode code = curl_easy_perform(viewer->curl);
    if (code == CURLE_OK)
        curl_easy_getinfo(viewer->curl, CURLINFO_RESPONSE_CODE, &status);
    else
        snprintf(seen->reason, sizeof seen->reason, "%s",
                 code == CURLE_WRITE_ERROR ? "it is too long" : curl_easy_strerror(code));
    pgw_buf_free(&url);
    return status;
}

static void read_answer(const cfg_table *table, const pgw_buf *body, px_viewed *seen)
{
    rw_hash_type type = table->hash_type == CFG_HASH_INT8 ? RW_HASH_INT8 : RW_HASH_UINT64;
    const char *reason = rw_partitions_described(pgw_slice_buf(body), table->hash_column, type,
                                                 table->hash_buckets, &seen->partitions);
    if (reason != NULL)
        snprintf(seen->reason, sizeof seen->reason, "%s", reason);
}

void px_viewer_ask(px_viewer *viewer, const cfg_table *table, px_viewed *seen)
{
    enum { OK = 200, NOT_FOUND = 404 };
    pgw_buf body = {0};
    *seen = (px_viewed){.reason = ""};
    long status = fetch(viewer, table, &body, seen);
    for (size_t i = 1; i < HANDLERS && status == NOT_FOUND; i++) {
        viewer->handler = (viewer->handler + 1) % HANDLERS;
        status = fetch(viewer, table, &body, seen);
    }
    seen->answered = status != 0;
    if (status == OK)
        read_answer(table, &body, seen);
    else if (status != 0)
        snprintf(seen->reason, sizeof seen->reason, "it answers with the HTTP status %ld", status);
    pgw_buf_free(&body);
}
