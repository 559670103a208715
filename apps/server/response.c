/* response.c -- fills responses and creates them for the HTTP library. */
#define _XOPEN_SOURCE 700
#include "common/json_print.h"
#include "request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char json_type[] = "application/json; charset=utf-8";

void respond_bytes(request *r, const char *type, char *bytes, size_t length)
{
    r->response.status = MHD_HTTP_OK;
    r->response.type = type;
    r->response.bytes = bytes;
    r->response.length = length;
    r->response.fixed = false;
    r->response.policy = NULL;
}

void respond_no_memory(request *r)
{
    static const char text[] = "{\"error\":{\"message\":\"the server is out of memory; close other programs, or try "
                               "again later\",\"code\":\"PB_ENOMEM\"}}";
    r->response = (http_response){.status = MHD_HTTP_SERVICE_UNAVAILABLE, .type = json_type, .fixed = true};
    r->response.bytes = (char *)(uintptr_t)text;
    r->response.length = sizeof text - 1;
}

void respond_text(request *r, unsigned status, text_out *text)
{
    size_t length = 0;
    char *bytes = text_end(text, &length);
    if (!bytes) {
        respond_no_memory(r);
        return;
    }
    respond_bytes(r, json_type, bytes, length);
    r->response.status = status;
}

void respond_error(request *r, unsigned status, const char *format, ...)
{
    char sentence[700];
    va_list args;
    text_out text;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    FILE *out = text_begin(&text);
    if (out) {
        fputs("{\"error\":{\"message\":", out);
        json_text(out, sentence);
        fputs("}}", out);
    }
    respond_text(r, status, &text);
}

static const char *status_name(pb_status status)
{
    static const char *const names[] = {
#define PB_STATUS(code, text) #code,
#include "pebble/status.def"
#undef PB_STATUS
    };
    return names[status];
}

static unsigned http_status(pb_status status)
{
    switch (status) {
    case PB_EINVAL:
    case PB_EUNKNOWN:
    case PB_ERANGE:
    case PB_EFORMAT:
    case PB_EGRAPH: return MHD_HTTP_BAD_REQUEST;
    case PB_ENOMEM:
    case PB_ELIMIT: return 413; /* content too large; its name differs between versions of the library */
    default: return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

void respond_status(request *r, pb_status status, const pb_error *error)
{
    text_out text;
    FILE *out = text_begin(&text);
    if (out) {
        fputs("{\"error\":{\"message\":", out);
        json_text(out, error && error->message[0] ? error->message : pb_status_text(status));
        fprintf(out, ",\"code\":\"%s\"", status_name(status));
        if (error && error->line)
            fprintf(out, ",\"line\":%llu,\"column\":%llu", (unsigned long long)error->line,
                    (unsigned long long)error->column);
        fputs("}}", out);
    }
    respond_text(r, http_status(status), &text);
}

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
    MHD_add_response_header(response, "Content-Type", a->type ? a->type : json_type);
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
