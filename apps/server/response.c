/* response.c -- fills responses. */
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
