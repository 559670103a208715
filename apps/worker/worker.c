/* worker.c -- see worker.h. */
#define _XOPEN_SOURCE 700
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BODY_MIB = 256 };

static server here;
static request now;
static worker_response answer;

const char *server_libraries(void) { return "WebAssembly"; }

bool worker_start(uint32_t first, uint32_t megabytes)
{
    here.options.threads = 1;
    here.options.max_body = (uint64_t)MAX_BODY_MIB << 20;
    here.options.max_kept = (uint64_t)megabytes << 20;
    hub_init(&here.hub);
    store_init(&here.store, (size_t)here.options.max_kept);
    here.store.job_numbers = here.store.plan_numbers = first;
    here.jobs.store = &here.store;
    here.jobs.worker_count = 1;
    return true;
}

void worker_number_graph(uint32_t number) { here.store.graph_numbers = number - 1; }

/* The next text of the head, or "" at its end. */
static const char *next_text(const char **at, const char *end)
{
    const char *text = *at < end ? *at : "";
    if (*at < end)
        *at += strlen(*at) + 1;
    return text;
}

static void read_head(request *r, const char *head, uint32_t length)
{
    const char *at = head, *end = head + length;
    snprintf(r->method, sizeof r->method, "%s", next_text(&at, end));
    const char *path = next_text(&at, end);
    snprintf(r->path, sizeof r->path, "%s", strlen(path) < sizeof r->path ? path : "/api/too-long");
    snprintf(r->type, sizeof r->type, "%s", next_text(&at, end));
    while (at < end) {
        const char *key = next_text(&at, end);
        request_add_argument(r, key, next_text(&at, end));
    }
}

void worker_release(void)
{
    if (!now.response.fixed)
        free(now.response.bytes);
    for (int i = 0; i < now.argument_count; i++)
        free(now.arguments[i].value);
    free(now.body);
    now = (request){.response.fixed = true};
}

const worker_response *worker_request(char *head, uint32_t head_length, char *body, uint32_t length)
{
    now = (request){.s = &here, .body = body, .length = length, .response.fixed = true};
    read_head(&now, head, head_length);
    free(head);
    if (length > here.options.max_body)
        respond_error(&now, 413, "the file is too large for the page; use the command `pebble`");
    else if (strncmp(now.path, "/api/", 5) != 0)
        respond_error(&now, MHD_HTTP_NOT_FOUND, "this address does not exist; docs/server.md lists the addresses");
    else if (arguments_once(&now))
        api_respond(&now);
    const http_response *a = &now.response;
    answer = (worker_response){.status = a->status, .length = (uint32_t)a->length};
    answer.type = (uint32_t)(uintptr_t)(a->type ? a->type : "application/json; charset=utf-8");
    answer.disposition = (uint32_t)(uintptr_t)a->disposition;
    answer.bytes = (uint32_t)(uintptr_t)a->bytes;
    return &answer;
}

void worker_run(void) { queue_run(&here.jobs); }
