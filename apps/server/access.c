/* access.c -- access control: the token, and the Host and Origin that browsers send.
 *
 * A foreign web page must not reach the server through the user's browser. It does not have the token. A host name that
 * was made to point at this machine (DNS rebinding) is visible in Host. A form or script of another page is visible in
 * Origin. And changes need a content type that a plain form cannot send.
 */
#define _XOPEN_SOURCE 700
#include "request.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *header(const request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

/* Constant time: independent of where the two differ. */
static bool same_token(const char *token, const char *given)
{
    unsigned difference = 0;
    if (!given || strlen(given) != strlen(token))
        return false;
    for (size_t i = 0; token[i]; i++)
        difference |= (unsigned)(token[i] ^ given[i]);
    return difference == 0;
}

static bool is_address(const char *name, size_t length)
{
    char text[64];
    unsigned char room[16];
    if (length >= sizeof text)
        return false;
    memcpy(text, name, length);
    text[length] = '\0';
    if (text[0] == '[' && text[length - 1] == ']') {
        text[length - 1] = '\0';
        return inet_pton(AF_INET6, text + 1, room) == 1;
    }
    return inet_pton(AF_INET, text, room) == 1;
}

/* The length of NAME in NAME:PORT if the port is ours, else 0. Browsers omit port 80. */
static size_t name_length(const server *s, const char *host)
{
    char port[8];
    const char *colon = strrchr(host, ':');
    bool has_port = colon && !strchr(colon, ']');
    snprintf(port, sizeof port, "%u", (unsigned)s->port);
    if (!has_port)
        return s->port == 80 ? strlen(host) : 0;
    return strcmp(colon + 1, port) == 0 ? (size_t)(colon - host) : 0;
}

/* A name of this machine, and our port. */
static bool is_ours(const server *s, const char *host)
{
    const char *const names[] = {"127.0.0.1", "localhost", "[::1]", s->host};
    size_t length = host ? name_length(s, host) : 0;
    if (!length)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncasecmp(names[i], host, length) == 0)
            return true;
    return s->open_to_all && is_address(host, length); /* nobody can redirect a numeric address */
}

/* ---- security-relevant headers: at most one each ---- */

static const char *const single_headers[] = {"Host",          "Origin",         "Cookie",       "X-Pebble-Token",
                                             "Authorization", "Content-Length", "Content-Type", "Transfer-Encoding",
                                             "Last-Event-ID", "Sec-Fetch-Site"};
enum { SINGLE_HEADERS = sizeof single_headers / sizeof *single_headers };

static enum MHD_Result count_header(void *state, enum MHD_ValueKind kind, const char *key, const char *value)
{
    unsigned *counts = state;
    (void)kind;
    (void)value;
    for (size_t i = 0; i < SINGLE_HEADERS; i++)
        counts[i] += strcasecmp(key, single_headers[i]) == 0;
    return MHD_YES;
}

/* With two headers, we would check one, and other software might use the other. */
static bool headers_once(request *r)
{
    unsigned counts[SINGLE_HEADERS] = {0};
    MHD_get_connection_values(r->connection, MHD_HEADER_KIND, count_header, counts);
    for (size_t i = 0; i < SINGLE_HEADERS; i++)
        if (counts[i] > 1) {
            respond_error(r, MHD_HTTP_BAD_REQUEST, "the header %s was sent twice; send it once", single_headers[i]);
            return false;
        }
    return true;
}

/* ---- the token ---- */

typedef struct cookie_search {
    char name[32]; /* with the port, because cookies are shared between ports and several servers may run */
    const char *token;
    bool found;
} cookie_search;

/* Another server on this machine may set a cookie with our name for some of our paths, and the browser sends both:
 * either may be the valid one. */
static enum MHD_Result check_cookie(void *state, enum MHD_ValueKind kind, const char *key, const char *value)
{
    cookie_search *search = state;
    (void)kind;
    search->found |= strcmp(key, search->name) == 0 && same_token(search->token, value);
    return MHD_YES;
}

static bool has_token(const request *r)
{
    const char *token = r->s->token;
    cookie_search search = {.token = token};
    snprintf(search.name, sizeof search.name, "pebble_token_%u", (unsigned)r->s->port);
    MHD_get_connection_values(r->connection, MHD_COOKIE_KIND, check_cookie, &search);
    return search.found || same_token(token, header(r, "X-Pebble-Token")) ||
           same_token(token, request_argument(r, "token"));
}

/* The browser's first request: its ticket is exchanged for the address with the token. */
static bool use_ticket(request *r)
{
    server *s = r->s;
    if (strcmp(r->path, "/") != 0 || strcmp(r->method, "GET") != 0)
        return false;
    pthread_mutex_lock(&s->lock);
    bool good = s->ticket[0] && same_token(s->ticket, request_argument(r, "ticket"));
    if (good)
        s->ticket[0] = '\0';
    pthread_mutex_unlock(&s->lock);
    if (good)
        respond_error(r, MHD_HTTP_SEE_OTHER, "follow the redirect to the address with the token");
    return good;
}

static bool is_change(const request *r) { return strcmp(r->method, "POST") == 0 || strcmp(r->method, "DELETE") == 0; }

static bool known_type(const request *r)
{
    size_t length = strcspn(r->type, "; ");
    static const char *const types[] = {"application/json", "application/octet-stream"};
    for (size_t i = 0; i < 2; i++)
        if (strlen(types[i]) == length && strncasecmp(r->type, types[i], length) == 0)
            return true;
    return false;
}

/* Browsers report where a request comes from. For cookies, pages on other ports of this machine are the same site. */
static bool from_elsewhere(const request *r)
{
    const char *site = header(r, "Sec-Fetch-Site");
    return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

/* Is the request addressed to us, and, if it comes from a page, from ours? */
static bool check_origin(request *r, bool is_api)
{
    const char *origin = header(r, "Origin");
    if (!is_ours(r->s, header(r, "Host"))) {
        respond_refused(r, MHD_HTTP_FORBIDDEN, REFUSED_ADDRESS,
                        "the Host of this request is not this server; use the address that pebble ui printed");
        return false;
    }
    if ((origin && (strncmp(origin, "http://", 7) != 0 || !is_ours(r->s, origin + 7))) ||
        (is_api && from_elsewhere(r))) {
        respond_refused(r, MHD_HTTP_FORBIDDEN, REFUSED_ADDRESS,
                        "the Origin of this request is another page; use the address that pebble ui printed");
        return false;
    }
    return true;
}

static bool api_check(request *r)
{
    if (!has_token(r)) {
        respond_error(r, MHD_HTTP_FORBIDDEN, "the token is missing or wrong; use the address that pebble ui printed");
        return false;
    }
    if (is_change(r) && !known_type(r)) {
        respond_error(r, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                      "POST and DELETE need Content-Type application/json or application/octet-stream");
        return false;
    }
    return true;
}

bool access_check(request *r)
{
    bool is_api = strncmp(r->path, "/api/", 5) == 0;
    bool is_page = strcmp(r->path, "/") == 0 || strcmp(r->path, "/index.html") == 0;
    if (!headers_once(r) || !check_origin(r, is_api) || !arguments_once(r))
        return false;
    if (!is_api && strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0) {
        respond_error(r, MHD_HTTP_METHOD_NOT_ALLOWED, "the files of the page accept only GET and HEAD; use GET");
        return false;
    }
    if (is_api)
        return api_check(r);
    if (use_ticket(r))
        return false;
    if (!is_page || has_token(r))
        return true;
    respond_refused(r, MHD_HTTP_FORBIDDEN, REFUSED_TOKEN,
                    "the token is missing or wrong; use the address that pebble ui printed");
    return false;
}
