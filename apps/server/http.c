/* http.c -- connections: requests come in, clerks answer them, nobody waits for a slow one. */
#define _XOPEN_SOURCE 700
#include "request.h"
#include "whole.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MOST_CONNECTIONS = 2000,
    IDLE_SECONDS = 60,        /* a connection that says nothing */
    LEAST_RATE = 1 << 16,     /* bytes a second of a body, beyond the time for the head */
    BODIES_AT_A_TIME = 2,     /* of the largest size */
    MOST_CONTROL = 1 << 20,   /* bytes of a control document: taken apart it is many times as large */
    SMALL_ANSWER = 1 << 16,   /* bytes of an answer that is always sent */
    LEAST_ANSWERS = 64 << 20, /* bytes of larger ones that may be on their way, whatever --memory says */
};

/* ---- streams of events ---- */

typedef struct listening {
    server *s;
    job *j;
} listening;

static void stop_listening(void *state)
{
    listening *l = state;
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

/* Large answers wait in memory for those who read them slowly, so there is a limit to all of them together; one alone is
 * always sent. */
static bool count_answer(request *r)
{
    server *s = r->s;
    size_t most = s->options.most_kept > LEAST_ANSWERS ? (size_t)s->options.most_kept : LEAST_ANSWERS;
    size_t length = r->answer.length;
    if (r->answer.fixed || length <= SMALL_ANSWER)
        return true;
    pthread_mutex_lock(&s->lock);
    bool room = s->answer_bytes == 0 || (s->answer_bytes < most && length <= most - s->answer_bytes);
    if (room) {
        s->answer_bytes += length;
        r->answer_bytes = length;
    }
    pthread_mutex_unlock(&s->lock);
    return room;
}

static enum MHD_Result send_answer(request *r)
{
    if (!count_answer(r)) {
        free(r->answer.bytes);
        r->answer = (answer){.fixed = true};
        answer_fail(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too much is being downloaded at a time");
    }
    answer a = r->answer;
    struct MHD_Response *response = response_new(r, &a);
    r->answer = (answer){.fixed = true}; /* the response has the bytes now */
    if (!response)
        return MHD_NO;
    enum MHD_Result sent = MHD_queue_response(r->connection, a.status, response);
    MHD_destroy_response(response);
    return sent;
}

/* The job, held, and the event after which it is heard; false with the answer filled. */
static bool find_job(request *r, uint64_t number, uint64_t *last, job **j)
{
    const char *text = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Last-Event-ID");
    *last = 0;
    if (!arguments_known(r, ""))
        return false;
    if (text && !whole_read(text, UINT64_MAX, last)) {
        answer_fail(r, MHD_HTTP_BAD_REQUEST, "Last-Event-ID: the number of an event is expected");
        return false;
    }
    lookup found = store_job(&r->s->store, number, j);
    if (found != FOUND_IT)
        answer_fail(r, found == FOUND_GONE ? MHD_HTTP_GONE : MHD_HTTP_NOT_FOUND, "there is no job j%llu%s",
                    (unsigned long long)number, found == FOUND_GONE ? " any more" : "");
    return found == FOUND_IT;
}

/* A stream that cannot be opened is answered like any other request. */
static enum MHD_Result refuse_stream(request *r, stream_state state)
{
    if (state == STREAM_NOTHING)
        return send_status(r, MHD_HTTP_NO_CONTENT); /* a browser then asks no more */
    if (state == STREAM_AHEAD)
        answer_fail(r, MHD_HTTP_BAD_REQUEST, "Last-Event-ID: the job has not told that many events");
    else
        answer_no_memory(r);
    return send_answer(r);
}

static enum MHD_Result open_stream(request *r, uint64_t number)
{
    struct MHD_Response *response;
    uint64_t last;
    job *j;
    if (!find_job(r, number, &last, &j))
        return send_answer(r);
    listening *l = malloc(sizeof *l);
    if (!l) {
        store_release_job(&r->s->store, j);
        return refuse_stream(r, STREAM_NO_MEMORY);
    }
    *l = (listening){r->s, j};
    stream_state state = log_stream(j->log, r->connection, last, stop_listening, l, &response);
    if (state != STREAM_OPEN) {
        stop_listening(l);
        return refuse_stream(r, state);
    }
    response_headers(response, NULL);
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    enum MHD_Result sent = MHD_queue_response(r->connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return sent;
}

/* ---- requests ---- */

static request *request_new(server *s, struct MHD_Connection *connection, const char *method, const char *url)
{
    request *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->s = s;
    r->connection = connection;
    r->answer.fixed = true;
    const char *type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");
    snprintf(r->method, sizeof r->method, "%s", method);
    snprintf(r->path, sizeof r->path, "%s", strlen(url) < sizeof r->path ? url : "/too-long");
    snprintf(r->type, sizeof r->type, "%s", type ? type : "");
    request_arguments(r);
    return r;
}

static void request_free(request *r)
{
    pthread_mutex_lock(&r->s->lock);
    r->s->body_bytes -= r->room;
    r->s->answer_bytes -= r->answer_bytes;
    pthread_mutex_unlock(&r->s->lock);
    for (int i = 0; i < r->argument_count; i++)
        free(r->arguments[i].value);
    free(r->body);
    if (!r->answer.fixed)
        free(r->answer.bytes);
    free(r);
}

static void on_completed(void *state, struct MHD_Connection *connection, void **place,
                         enum MHD_RequestTerminationCode code)
{
    (void)state;
    (void)connection;
    (void)code;
    if (*place) {
        visitor_wait(*place, visitor_clock() + IDLE_SECONDS); /* for the next request on this connection */
        request_free(*place);
    }
    *place = NULL;
}

/* Files of the page are there for anyone, who must not fill the memory; only graphs are large. */
static uint64_t largest_body(const request *r)
{
    uint64_t most = r->s->options.most_body;
    bool control = strcmp(r->path, "/api/graphs") != 0 || strncasecmp(r->type, "application/json", 16) == 0;
    if (strncmp(r->path, "/api/", 5) != 0)
        return 0;
    return control && most > MOST_CONTROL ? MOST_CONTROL : most;
}

/* Room for the body as it was announced. False with the answer filled. */
static bool reserve_body(request *r, size_t length)
{
    server *s = r->s;
    pthread_mutex_lock(&s->lock);
    bool allowed = s->body_bytes + length <= BODIES_AT_A_TIME * s->options.most_body + 65536;
    s->body_bytes += allowed ? length : 0;
    pthread_mutex_unlock(&s->lock);
    if (!allowed) {
        answer_fail(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too much is being sent at a time");
        return false;
    }
    r->room = length; /* counted until the request is freed */
    r->body = malloc(length);
    if (!r->body)
        answer_no_memory(r);
    return r->body != NULL;
}

/* Is the size of the body told, and allowed, and is there room for it? */
static bool body_check(request *r)
{
    const char *text = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Content-Length");
    const char *coding = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Transfer-Encoding");
    uint64_t most = largest_body(r);
    char *end;
    if (coding) {
        answer_fail(r, MHD_HTTP_LENGTH_REQUIRED, "a body needs its Content-Length");
        return false;
    }
    if (!text)
        return true;
    errno = 0;
    unsigned long long length = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end) {
        answer_fail(r, MHD_HTTP_BAD_REQUEST, "Content-Length: a whole number is expected");
        return false;
    }
    if (errno || length > most) {
        answer_fail(r, 413, "the body is too large: at most %llu bytes are taken here%s", (unsigned long long)most,
                    most == r->s->options.most_body ? " (--max-body)" : "");
        return false;
    }
    return length == 0 || reserve_body(r, (size_t)length);
}

/* Appends to the body; false when it is longer than announced. */
static bool take_body(request *r, const char *bytes, size_t count)
{
    if (count > r->room - r->length)
        return false;
    memcpy(r->body + r->length, bytes, count);
    r->length += count;
    return true;
}

static enum MHD_Result answer_complete(request *r)
{
    uint64_t number;
    visitor_wait(r, 0);
    if (strncmp(r->path, "/api/", 5) != 0) {
        page_answer(r);
        return send_answer(r);
    }
    if (is_stream(r, &number))
        return open_stream(r, number);
    if (clerk_hand_over(r))
        return MHD_YES;
    answer_fail(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests at a time");
    return send_answer(r);
}

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
        r->began = visitor_clock();
        visitor_wait(r, r->began);
        if (access_check(r) && body_check(r))
            return MHD_YES;
        visitor_wait(r, 0);
        return send_answer(r);
    }
    if (r->stage == STAGE_ANSWER)
        return send_answer(r);
    if (r->stage == STAGE_WORK)
        return MHD_YES;
    if (*upload_count) {
        bool taken = take_body(r, upload, *upload_count);
        visitor_wait(r, r->began + (time_t)(r->length / LEAST_RATE));
        *upload_count = 0;
        return taken ? MHD_YES : MHD_NO;
    }
    return answer_complete(r);
}

/* A NUL in an address would hide what follows it: it becomes another character that nothing here has. */
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
    while (s->thread_count < CLERKS && pthread_create(&s->clerks[s->thread_count], NULL, clerk_work, s) == 0)
        s->thread_count++;
    s->ticking = pthread_create(&s->ticker, NULL, visitor_watch, s) == 0;
    if (!s->ticking || s->thread_count < 2)
        return false;
    s->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)s->socket,
                                 MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_CONNECTION_LIMIT,
                                 (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
                                 MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_NOTIFY_CONNECTION,
                                 visitor_changes, s, MHD_OPTION_UNESCAPE_CALLBACK, unescape, s, MHD_OPTION_END);
    return s->daemon != NULL;
}

void http_stop(server *s)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->wanted);
    pthread_mutex_unlock(&s->lock);
    hub_close(&s->hub);
    for (int i = 0; i < s->thread_count; i++)
        pthread_join(s->clerks[i], NULL);
    if (s->ticking)
        pthread_join(s->ticker, NULL);
    if (s->daemon) {
        MHD_stop_daemon(s->daemon);
        s->socket = -1; /* closed with it */
    }
    s->daemon = NULL;
}
