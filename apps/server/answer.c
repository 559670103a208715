/* answer.c -- answers, filled and sent. */
#define _XOPEN_SOURCE 700
#include "json_print.h"
#include "request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char json_type[] = "application/json; charset=utf-8";

void answer_bytes(request *r, const char *type, char *bytes, size_t length)
{
    r->answer.status = MHD_HTTP_OK;
    r->answer.type = type;
    r->answer.bytes = bytes;
    r->answer.length = length;
    r->answer.fixed = false;
}

void answer_no_memory(request *r)
{
    static const char text[] = "{\"error\":{\"message\":\"out of memory\",\"code\":\"PB_ENOMEM\"}}";
    r->answer = (answer){.status = MHD_HTTP_SERVICE_UNAVAILABLE, .type = json_type, .fixed = true};
    r->answer.bytes = (char *)(uintptr_t)text;
    r->answer.length = sizeof text - 1;
}

void answer_text(request *r, unsigned status, text_out *text)
{
    size_t length = 0;
    char *bytes = text_end(text, &length);
    if (!bytes) {
        answer_no_memory(r);
        return;
    }
    answer_bytes(r, json_type, bytes, length);
    r->answer.status = status;
}

void answer_fail(request *r, unsigned status, const char *format, ...)
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
    answer_text(r, status, &text);
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
    case PB_ELIMIT: return 413; /* its name differs between versions of the library */
    default: return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

void answer_status(request *r, pb_status status, const pb_error *error)
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
    answer_text(r, http_status(status), &text);
}

void response_headers(struct MHD_Response *response)
{
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Content-Security-Policy",
                            "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
}

struct MHD_Response *response_new(request *r, const answer *a)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(a->length, a->bytes, a->fixed ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (!response) {
        if (!a->fixed)
            free(a->bytes);
        return NULL;
    }
    response_headers(response);
    MHD_add_response_header(response, "Content-Type", a->type ? a->type : json_type);
    if (a->status == MHD_HTTP_SEE_OTHER)
        MHD_add_response_header(response, "Location", r->s->address);
    if (a->disposition[0])
        MHD_add_response_header(response, "Content-Disposition", a->disposition);
    if (a->status == MHD_HTTP_OK && strcmp(r->path, "/") == 0) {
        char cookie[128];
        snprintf(cookie, sizeof cookie, "pebble_token_%u=%s; HttpOnly; SameSite=Strict; Path=/", (unsigned)r->s->port,
                 r->s->token);
        MHD_add_response_header(response, "Set-Cookie", cookie);
    }
    return response;
}
