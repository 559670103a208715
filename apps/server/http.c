/* http.c -- the HTTP server: receives requests, queues them for the request threads, sends responses. */
#define _XOPEN_SOURCE 700
#include "request.h"
#include "whole.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MAX_CONNECTIONS = 2000,
    IDLE_SECONDS = 60,        /* of a silent connection */
    MIN_RATE = 1 << 16,       /* bytes per second of a body, in addition to the time for the headers */
    BODIES_AT_A_TIME = 2,     /* bodies of the largest size */
    MAX_CONTROL = 1 << 20,    /* bytes of a control document: parsed, it is many times as large */
    SMALL_RESPONSE = 1 << 16, /* bytes of a response that is always sent */
    MIN_RESPONSES = 64 << 20, /* bytes of larger responses that may be in progress, even if --memory is smaller */
};

/* ---- event streams ---- */

typedef struct stream_owner {
    server *s;
    job *j;
} stream_owner;

static void release_stream(void *state)
{
    stream_owner *l = state;
    store_release_job(&l->s->store, l->j);
    free(l);
}

/* /api/jobs/jN/events */
static bool is_stream(const request *r, uint64_t *number)
{
    const char *what;
    return strncmp(r->path, "/api/jobs/", 10) == 0 && strcmp(r->method, "GET") == 0 &&
           whole_id(r->path + 10, 'j', number, &what) && strcmp(what, "events") == 0;
}

static enum MHD_Result send_status(request *r, unsigned status)
{
    static char nothing[1];
    struct MHD_Response *response = MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    response_headers(response, NULL);
    enum MHD_Result sent = MHD_queue_response(r->connection, status, response);
    MHD_destroy_response(response);
    return sent;
}

/* Large responses wait in memory for slow readers, so their sum is limited; a single one is always sent. */
static bool count_response(request *r)
{
    server *s = r->s;
    size_t max = s->options.max_kept > MIN_RESPONSES ? (size_t)s->options.max_kept : MIN_RESPONSES;
    size_t length = r->response.length;
    if (r->response.fixed || length <= SMALL_RESPONSE)
        return true;
    pthread_mutex_lock(&s->lock);
    bool room = s->response_bytes == 0 || (s->response_bytes < max && length <= max - s->response_bytes);
    if (room) {
        s->response_bytes += length;
        r->response_bytes = length;
    }
    pthread_mutex_unlock(&s->lock);
    return room;
}

static enum MHD_Result send_response(request *r)
{
    if (!count_response(r)) {
        free(r->response.bytes);
        r->response = (http_response){.fixed = true};
        respond_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too many large downloads at the same time; try again later");
    }
    http_response a = r->response;
    struct MHD_Response *response = response_new(r, &a);
    r->response = (http_response){.fixed = true}; /* the MHD response owns the bytes now */
    if (!response)
        return MHD_NO;
    enum MHD_Result sent = MHD_queue_response(r->connection, a.status, response);
    MHD_destroy_response(response);
    return sent;
}

/* A reference to the job, and the last event that the client has; false with the response filled. */
static bool find_job(request *r, uint64_t number, uint64_t *last, job **j)
{
    const char *text = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Last-Event-ID");
    *last = 0;
    if (!arguments_known(r, ""))
        return false;
    if (text && !whole_read(text, UINT64_MAX, last)) {
        respond_error(r, MHD_HTTP_BAD_REQUEST, "Last-Event-ID: expected the number of an event");
        return false;
    }
    lookup found = store_job(&r->s->store, number, j);
    if (found != LOOKUP_FOUND)
        respond_error(r, found == LOOKUP_EVICTED ? MHD_HTTP_GONE : MHD_HTTP_NOT_FOUND,
                      found == LOOKUP_EVICTED ? "job j%llu was evicted to free memory; start it again"
                                              : "there is no job j%llu; docs/server.md shows how to start one",
                      (unsigned long long)number);
    return found == LOOKUP_FOUND;
}

/* A stream that cannot be opened gets an ordinary response. */
static enum MHD_Result refuse_stream(request *r, stream_state state)
{
    if (state == STREAM_NOTHING)
        return send_status(r, MHD_HTTP_NO_CONTENT); /* then the browser does not reconnect */
    if (state == STREAM_AHEAD)
        respond_error(r, MHD_HTTP_BAD_REQUEST,
                      "Last-Event-ID: the job has not sent that many events; omit it to get all");
    else
        respond_no_memory(r);
    return send_response(r);
}

static enum MHD_Result open_stream(request *r, uint64_t number)
{
    struct MHD_Response *response;
    uint64_t last;
    job *j;
    if (!find_job(r, number, &last, &j))
        return send_response(r);
    stream_owner *l = malloc(sizeof *l);
    if (!l) {
        store_release_job(&r->s->store, j);
        return refuse_stream(r, STREAM_NO_MEMORY);
    }
    *l = (stream_owner){r->s, j};
    stream_state state = log_stream(j->log, r->connection, last, release_stream, l, &response);
    if (state != STREAM_OPEN) {
        release_stream(l);
        return refuse_stream(r, state);
    }
    response_headers(response, NULL);
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    enum MHD_Result sent = MHD_queue_response(r->connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return sent;
}

/* ---- requests ---- */

static enum MHD_Result take_argument(void *state, enum MHD_ValueKind kind, const char *key, const char *value)
{
    (void)kind;
    request_add_argument(state, key, value);
    return MHD_YES;
}

static request *request_new(server *s, struct MHD_Connection *connection, const char *method, const char *url)
{
    request *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->s = s;
    r->connection = connection;
    r->response.fixed = true;
    const char *type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");
    snprintf(r->method, sizeof r->method, "%s", method);
    snprintf(r->path, sizeof r->path, "%s", strlen(url) < sizeof r->path ? url : "/too-long");
    snprintf(r->type, sizeof r->type, "%s", type ? type : "");
    MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, take_argument, r);
    return r;
}

static void request_free(request *r)
{
    pthread_mutex_lock(&r->s->lock);
    r->s->body_bytes -= r->room;
    r->s->response_bytes -= r->response_bytes;
    pthread_mutex_unlock(&r->s->lock);
    for (int i = 0; i < r->argument_count; i++)
        free(r->arguments[i].value);
    free(r->body);
    if (!r->response.fixed)
        free(r->response.bytes);
    free(r);
}

static void on_completed(void *state, struct MHD_Connection *connection, void **place,
                         enum MHD_RequestTerminationCode code)
{
    (void)state;
    (void)connection;
    (void)code;
    if (*place) {
        client_set_wait(*place, clock_seconds() + IDLE_SECONDS); /* until the next request on this connection */
        request_free(*place);
    }
    *place = NULL;
}

/* Requests for the page need no token, so they may not use memory for bodies; only graphs are large. */
static uint64_t largest_body(const request *r)
{
    uint64_t max = r->s->options.max_body;
    bool control = strcmp(r->path, "/api/graphs") != 0 || strncasecmp(r->type, "application/json", 16) == 0;
    if (strncmp(r->path, "/api/", 5) != 0)
        return 0;
    return control && max > MAX_CONTROL ? MAX_CONTROL : max;
}

/* Allocates the body according to its Content-Length. False with the response filled. */
static bool reserve_body(request *r, size_t length)
{
    server *s = r->s;
    pthread_mutex_lock(&s->lock);
    bool allowed = s->body_bytes + length <= BODIES_AT_A_TIME * s->options.max_body + 65536;
    s->body_bytes += allowed ? length : 0;
    pthread_mutex_unlock(&s->lock);
    if (!allowed) {
        respond_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too many large uploads at the same time; try again later");
        return false;
    }
    r->room = length; /* counted until the request is freed */
    r->body = malloc(length);
    if (!r->body)
        respond_no_memory(r);
    return r->body != NULL;
}

/* Is the size of the body known, allowed, and is there memory for it? */
static bool body_check(request *r)
{
    const char *text = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Content-Length");
    const char *coding = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Transfer-Encoding");
    uint64_t max = largest_body(r);
    char *end;
    if (coding) {
        respond_error(r, MHD_HTTP_LENGTH_REQUIRED,
                      "Transfer-Encoding is not supported; send the body with a Content-Length");
        return false;
    }
    if (!text)
        return true;
    errno = 0;
    unsigned long long length = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end) {
        respond_error(r, MHD_HTTP_BAD_REQUEST, "Content-Length: expected a whole number of bytes");
        return false;
    }
    if (errno || length > max) {
        respond_error(r, 413, "the body is too large: at most %llu bytes are allowed here%s", (unsigned long long)max,
                      max == r->s->options.max_body ? "; start pebble ui with a larger --max-body"
                                                    : "; send a smaller one");
        return false;
    }
    return length == 0 || reserve_body(r, (size_t)length);
}

/* Appends to the body; false if it is longer than its Content-Length. */
static bool take_body(request *r, const char *bytes, size_t count)
{
    if (count > r->room - r->length)
        return false;
    memcpy(r->body + r->length, bytes, count);
    r->length += count;
    return true;
}

static enum MHD_Result request_complete(request *r)
{
    uint64_t number;
    client_set_wait(r, 0);
    if (strncmp(r->path, "/api/", 5) != 0) {
        page_respond(r);
        return send_response(r);
    }
    if (is_stream(r, &number))
        return open_stream(r, number);
    if (request_enqueue(r))
        return MHD_YES;
    respond_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests at the same time; try again later");
    return send_response(r);
}

/* Callback of libmicrohttpd: first for the head of a request, then for each part of its body, and once more. */
static enum MHD_Result on_request(void *state, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_count, void **place)
{
    server *s = state;
    request *r = *place;
    (void)version;
    if (!r) {
        *place = r = request_new(s, connection, method, url);
        if (!r)
            return MHD_NO;
        r->began = clock_seconds();
        client_set_wait(r, r->began);
        if (access_check(r) && body_check(r))
            return MHD_YES;
        client_set_wait(r, 0);
        return send_response(r);
    }
    if (r->stage == STAGE_RESPOND)
        return send_response(r);
    if (r->stage == STAGE_WORK)
        return MHD_YES;
    if (*upload_count) {
        bool taken = take_body(r, upload, *upload_count);
        client_set_wait(r, r->began + (time_t)(r->length / MIN_RATE));
        *upload_count = 0;
        return taken ? MHD_YES : MHD_NO;
    }
    return request_complete(r);
}

/* A NUL would end the address early: it is replaced by a character that no valid address has. */
static size_t unescape(void *state, struct MHD_Connection *connection, char *text)
{
    (void)state;
    (void)connection;
    for (char *at = strstr(text, "%00"); at; at = strstr(at, "%00"))
        at[2] = '1';
    return MHD_http_unescape(text);
}

bool http_start(server *s)
{
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    flags |= MHD_is_feature_supported(MHD_FEATURE_EPOLL) == MHD_YES ? (unsigned)MHD_USE_EPOLL : (unsigned)MHD_USE_POLL;
    while (s->thread_count < REQUEST_THREADS &&
           pthread_create(&s->request_threads[s->thread_count], NULL, request_thread, s) == 0)
        s->thread_count++;
    s->ticking = pthread_create(&s->ticker, NULL, client_watch, s) == 0;
    if (!s->ticking || s->thread_count < 2)
        return false;
    s->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)s->socket,
                                 MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_CONNECTION_LIMIT,
                                 (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
                                 MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_NOTIFY_CONNECTION,
                                 client_changed, s, MHD_OPTION_UNESCAPE_CALLBACK, unescape, s, MHD_OPTION_END);
    return s->daemon != NULL;
}

void http_stop(server *s)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->work_ready);
    pthread_mutex_unlock(&s->lock);
    hub_close(&s->hub);
    for (int i = 0; i < s->thread_count; i++)
        pthread_join(s->request_threads[i], NULL);
    if (s->ticking)
        pthread_join(s->ticker, NULL);
    if (s->daemon) {
        MHD_stop_daemon(s->daemon);
        s->socket = -1; /* closed with it */
    }
    s->daemon = NULL;
}
