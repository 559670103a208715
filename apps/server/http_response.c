/* http_response.c -- pages for refused requests, and responses as the HTTP library sends them. */
#define _XOPEN_SOURCE 700
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- pages for refused requests ---- */

#define PAGE_STYLE "body{font:16px/1.5 sans-serif;max-width:40em;margin:3em auto;padding:0 1em}"
/* The hash of PAGE_STYLE; tests/server/test_access.py checks it. */
static const char page_policy[] =
    "default-src 'none'; style-src 'sha256-pfd9GyRe6Hi/zOieSDKRZl+ySIiBIsGiVWy8l+MaDPs='; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
#define PAGE_HEAD(title)                                                                             \
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"                              \
    "<meta name=\"viewport\" content=\"width=device-width\"><title>Pebble-Bridge: " title "</title>" \
    "<style>" PAGE_STYLE "</style></head>\n<body><h1>" title "</h1>\n"
#define PAGE_HELP                                                                                                      \
    "<h2>What to do</h2>\n<ul><li>Copy the whole address that <code>pebble ui</code> printed in its terminal, from "   \
    "<code>http://</code> to the end of the token, and open it here. It works in every browser of this machine while " \
    "<code>pebble ui</code> runs.</li>\n"                                                                              \
    "<li>If you no longer have that terminal or address, stop <code>pebble ui</code> and start it again: it prints "   \
    "a new address.</li></ul>\n</body></html>\n"

static const char token_page[] = PAGE_HEAD(
    "this browser has no access yet") "<p><code>pebble ui</code> runs on this machine and accepts a browser "
                                      "only with the address that it printed when it started. That address ends "
                                      "in a token, a secret that only the browser that opened it keeps.</p>\n"
                                      "<p>A link from another browser, a bookmark or a link from an earlier "
                                      "<code>pebble ui</code> has no token or an old one.</p>\n" PAGE_HELP;
static const char address_page[] =
    PAGE_HEAD("this is not the address of the page") "<p>This request reached a <code>pebble ui</code>, but with "
                                                     "another host name, or from another page. It accepts only "
                                                     "requests to the address that it printed when it "
                                                     "started.</p>\n" PAGE_HELP;
static const char path_page[] =
    PAGE_HEAD("there is nothing here") "<p><code>pebble ui</code> runs, but this address does not exist. "
                                       "<a href=\"/\">Open its page.</a></p>\n</body></html>\n";

/* Is this a page view in a browser, rather than an API call? */
static bool is_visit(const request *r)
{
    const char *accept = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Accept");
    return strncmp(r->path, "/api/", 5) != 0 && (strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0) &&
           accept && strstr(accept, "text/html");
}

void respond_refused(request *r, unsigned status, refusal why, const char *sentence)
{
    static const struct {
        const char *text;
        size_t length;
    } pages[] = {{token_page, sizeof token_page - 1},
                 {address_page, sizeof address_page - 1},
                 {path_page, sizeof path_page - 1}};
    if (!is_visit(r)) {
        respond_error(r, status, "%s", sentence);
        return;
    }
    r->response =
        (http_response){.status = status, .type = "text/html; charset=utf-8", .fixed = true, .policy = page_policy};
    r->response.bytes = (char *)(uintptr_t)pages[why].text;
    r->response.length = pages[why].length;
}

/* ---- responses ---- */

void response_headers(struct MHD_Response *response, const char *policy)
{
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    MHD_add_response_header(response, "Content-Security-Policy",
                            policy ? policy
                                   : "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
}

struct MHD_Response *response_new(request *r, const http_response *a)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(a->length, a->bytes, a->fixed ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (!response) {
        if (!a->fixed)
            free(a->bytes);
        return NULL;
    }
    response_headers(response, a->policy);
    MHD_add_response_header(response, "Content-Type", a->type ? a->type : "application/json; charset=utf-8");
    if (a->status == MHD_HTTP_SEE_OTHER)
        MHD_add_response_header(response, "Location", r->s->address);
    if (a->disposition[0])
        MHD_add_response_header(response, "Content-Disposition", a->disposition);
    if (a->status == MHD_HTTP_OK && (strcmp(r->path, "/") == 0 || strcmp(r->path, "/index.html") == 0)) {
        char cookie[128];
        snprintf(cookie, sizeof cookie, "pebble_token_%u=%s; HttpOnly; SameSite=Strict; Path=/", (unsigned)r->s->port,
                 r->s->token);
        MHD_add_response_header(response, "Set-Cookie", cookie);
    }
    return response;
}
