/* events.c -- see events.h. */
#define _XOPEN_SOURCE 700
#include "events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PING_SECONDS = 3, MAX_EVENTS = 4096, FIRST_EVENTS = 32, BLOCK = 16384, HEAD_ROOM = 96, LAST_TENTHS = 10 };

/* The `done` event if there is no memory for another, and if the server stops before the job ends. */
#define DONE_DATA(message)                                                                          \
    "{\"state\":\"failed\",\"winner\":null,\"winner_index\":null,\"error\":{\"message\":\"" message \
    "\"},\"sentence\":null,\"elapsed_ms\":0}"
static const char lost_data[] = DONE_DATA("out of memory: the result of this job was lost; run it again");
static const char closing_event[] =
    "event: done\ndata: " DONE_DATA("the server is stopping; start pebble ui again") "\n\n";

typedef struct event {
    uint64_t number;
    const char *name; /* a constant */
    char *text;       /* as sent; the data follow the head and end before two newlines */
    size_t head, length;
    unsigned held; /* reference count: the log, and streams that are sending it */
} event;

struct event_log {
    event_hub *hub;
    event **events;
    size_t count, room;
    uint64_t numbers;
    const char *state;
    event *reserve; /* the final event if there is no memory for another */
    bool has_done, ended, lost;
};

typedef struct event_stream {
    event_log *log;
    struct MHD_Connection *connection;
    uint64_t last; /* number of the last event whose sending began */
    event *now;    /* being sent, up to `at` */
    size_t at, closing_at;
    time_t sent_at;
    bool waiting; /* suspended */
    void (*drop)(void *state);
    void *state;
    struct event_stream *next;
} event_stream;

static time_t seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

void hub_init(event_hub *hub)
{
    *hub = (event_hub){.closing = false};
    pthread_mutex_init(&hub->lock, NULL);
}

static void wake(event_stream *stream)
{
    if (!stream->waiting)
        return;
    stream->waiting = false;
    MHD_resume_connection(stream->connection);
}

void hub_close(event_hub *hub)
{
    pthread_mutex_lock(&hub->lock);
    hub->closing = true;
    for (event_stream *s = hub->streams; s; s = s->next)
        wake(s);
    for (int i = 0; i < LAST_TENTHS && hub->streams; i++) {
        struct timespec tenth = {.tv_nsec = 100000000};
        pthread_mutex_unlock(&hub->lock);
        nanosleep(&tenth, NULL);
        pthread_mutex_lock(&hub->lock);
    }
    pthread_mutex_unlock(&hub->lock);
}

void hub_tick(event_hub *hub)
{
    time_t now = seconds();
    pthread_mutex_lock(&hub->lock);
    for (event_stream *s = hub->streams; s; s = s->next)
        if (now - s->sent_at >= PING_SECONDS || s->last < s->log->numbers)
            wake(s);
    pthread_mutex_unlock(&hub->lock);
}

/* ---- the log ---- */

static void drop_event(event *e)
{
    if (--e->held)
        return;
    free(e->text);
    free(e);
}

/* Room for data of this length. */
static event *event_new(size_t length)
{
    event *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->held = 1;
    e->text = malloc(HEAD_ROOM + length + 3);
    if (e->text)
        return e;
    free(e);
    return NULL;
}

static void event_fill(event *e, uint64_t number, const char *name, const char *data)
{
    size_t length = strlen(data);
    e->number = number;
    e->name = name;
    e->head = (size_t)snprintf(e->text, HEAD_ROOM, "id: %" PRIu64 "\nevent: %s\ndata: ", number, name);
    e->length = e->head + length + 2;
    memcpy(e->text + e->head, data, length);
    for (size_t i = e->head; i < e->head + length; i++) /* a newline would end the data */
        if (e->text[i] == '\n' || e->text[i] == '\r')
            e->text[i] = ' ';
    memcpy(e->text + e->head + length, "\n\n", 3);
}

event_log *log_new(event_hub *hub)
{
    event_log *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->hub = hub;
    log->state = "queued";
    log->events = calloc(FIRST_EVENTS, sizeof *log->events);
    log->room = log->events ? FIRST_EVENTS : 0;
    log->reserve = event_new(sizeof lost_data);
    if (log->events && log->reserve)
        return log;
    log_free(log);
    return NULL;
}

void log_free(event_log *log)
{
    if (!log)
        return;
    for (size_t i = 0; i < log->count; i++)
        drop_event(log->events[i]);
    if (log->reserve)
        drop_event(log->reserve);
    free(log->events);
    free(log);
}

/* Drops the least useful events: progress, then every other incumbent. */
static void drop_minor_events(event_log *log)
{
    static const char *const minor[] = {"progress", "incumbent"};
    for (size_t pass = 0; pass < 2 && log->count >= MAX_EVENTS / 2; pass++) {
        size_t kept = 0, seen = 0;
        for (size_t i = 0; i < log->count; i++) {
            bool drop = strcmp(log->events[i]->name, minor[pass]) == 0 && (pass == 0 || seen++ % 2 == 0);
            if (drop)
                drop_event(log->events[i]);
            else
                log->events[kept++] = log->events[i];
        }
        log->count = kept;
    }
}

/* Makes room for one more event and the final one. */
static bool has_room(event_log *log)
{
    if (log->count && log->count % MAX_EVENTS == 0)
        drop_minor_events(log);
    if (log->count + 1 < log->room)
        return true;
    size_t room = 2 * log->room;
    event **events = realloc(log->events, room * sizeof *events);
    if (!events)
        return false;
    log->events = events;
    log->room = room;
    return true;
}

static void wake_log(const event_log *log)
{
    for (event_stream *s = log->hub->streams; s; s = s->next)
        if (s->log == log)
            wake(s);
}

/* Is it obsolete once there is a newer event of this name? */
static bool is_transient(const char *name)
{
    return strcmp(name, "progress") == 0 || strcmp(name, "incumbent") == 0 || strcmp(name, "state") == 0;
}

void log_add(event_log *log, const char *name, char *data, bool merge)
{
    pthread_mutex_lock(&log->hub->lock);
    bool done = strcmp(name, "done") == 0, late = log->has_done;
    event *e = !late && data && has_room(log) ? event_new(strlen(data)) : NULL;
    if (e) {
        event_fill(e, ++log->numbers, name, data);
        log->has_done = done;
        if (merge && log->count && strcmp(log->events[log->count - 1]->name, name) == 0)
            drop_event(log->events[--log->count]);
        else
            wake_log(log); /* an event that may be replaced soon waits for the next tick */
        log->events[log->count++] = e;
    }
    log->lost |= !e && !late && !is_transient(name);
    pthread_mutex_unlock(&log->hub->lock);
    free(data);
}

bool log_lost(event_log *log)
{
    pthread_mutex_lock(&log->hub->lock);
    bool lost = log->lost;
    pthread_mutex_unlock(&log->hub->lock);
    return lost;
}

void log_state(event_log *log, const char *state)
{
    pthread_mutex_lock(&log->hub->lock);
    log->state = state;
    pthread_mutex_unlock(&log->hub->lock);
}

void log_end(event_log *log)
{
    pthread_mutex_lock(&log->hub->lock);
    if (!log->has_done) {
        event_fill(log->reserve, ++log->numbers, "done", lost_data);
        log->events[log->count++] = log->reserve;
        log->reserve = NULL;
    }
    log->has_done = log->ended = true;
    wake_log(log);
    pthread_mutex_unlock(&log->hub->lock);
}

size_t log_bytes(event_log *log)
{
    pthread_mutex_lock(&log->hub->lock);
    size_t sum = sizeof *log + log->room * sizeof *log->events;
    for (size_t i = 0; i < log->count; i++)
        sum += sizeof *log->events[i] + log->events[i]->length;
    pthread_mutex_unlock(&log->hub->lock);
    return sum;
}

void log_print(event_log *log, FILE *out)
{
    pthread_mutex_lock(&log->hub->lock);
    fprintf(out, "{\"state\":\"%s\",\"events\":[", log->ended ? "ended" : log->state);
    for (size_t i = 0; i < log->count; i++) {
        const event *e = log->events[i];
        fprintf(out, "%s{\"event\":\"%s\",\"data\":", i ? ",\n" : "\n", e->name);
        fwrite(e->text + e->head, 1, e->length - e->head - 2, out);
        fputc('}', out);
    }
    fputs("\n]}", out);
    pthread_mutex_unlock(&log->hub->lock);
}

/* ---- streams ---- */

static event *next_event(const event_stream *s)
{
    const event_log *log = s->log;
    size_t low = 0, high = log->count; /* the first whose number is above s->last */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->events[middle]->number > s->last)
            high = middle;
        else
            low = middle + 1;
    }
    return low < log->count ? log->events[low] : NULL;
}

static ssize_t fill_buffer(event_stream *s, char *bytes, size_t room)
{
    static const char ping[] = ": ping\nevent: ping\ndata: {}\n\n"; /* scripts get events, but no comments */
    if (!s->now && (s->now = next_event(s)) != NULL) {
        s->now->held++;
        s->last = s->now->number;
        s->at = 0;
    }
    if (s->now) {
        size_t rest = s->now->length - s->at, count = rest < room ? rest : room;
        memcpy(bytes, s->now->text + s->at, count);
        s->at += count;
        if (s->at == s->now->length) {
            drop_event(s->now);
            s->now = NULL;
        }
        s->sent_at = seconds();
        return (ssize_t)count;
    }
    if (s->log->ended || s->closing_at == sizeof closing_event - 1)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (s->log->hub->closing) {
        size_t rest = sizeof closing_event - 1 - s->closing_at, count = rest < room ? rest : room;
        memcpy(bytes, closing_event + s->closing_at, count);
        s->closing_at += count;
        return (ssize_t)count;
    }
    if (seconds() - s->sent_at >= PING_SECONDS && room >= sizeof ping - 1) {
        memcpy(bytes, ping, sizeof ping - 1);
        s->sent_at = seconds();
        return (ssize_t)sizeof ping - 1;
    }
    s->waiting = true;
    MHD_suspend_connection(s->connection);
    return 0;
}

static ssize_t read_stream(void *state, uint64_t at, char *bytes, size_t room)
{
    event_stream *s = state;
    (void)at;
    pthread_mutex_lock(&s->log->hub->lock);
    ssize_t count = fill_buffer(s, bytes, room);
    pthread_mutex_unlock(&s->log->hub->lock);
    return count;
}

static void free_stream(void *state)
{
    event_stream *s = state, **at;
    event_hub *hub = s->log->hub;
    pthread_mutex_lock(&hub->lock);
    for (at = &hub->streams; *at != s; at = &(*at)->next)
        ;
    *at = s->next;
    if (s->now)
        drop_event(s->now);
    pthread_mutex_unlock(&hub->lock);
    s->drop(s->state);
    free(s);
}

stream_state log_stream(event_log *log, struct MHD_Connection *connection, uint64_t last, void (*drop)(void *state),
                        void *state, struct MHD_Response **response)
{
    event_stream *s = calloc(1, sizeof *s);
    if (!s)
        return STREAM_NO_MEMORY;
    *s = (event_stream){.log = log, .connection = connection, .last = last, .sent_at = seconds()};
    s->drop = drop;
    s->state = state;
    pthread_mutex_lock(&log->hub->lock);
    stream_state result = last > log->numbers ? STREAM_AHEAD : STREAM_NO_MEMORY;
    if (result != STREAM_AHEAD && log->ended && !next_event(s))
        result = STREAM_NOTHING;
    *response = result == STREAM_NO_MEMORY
                    ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, s, free_stream)
                    : NULL;
    if (*response) {
        result = STREAM_OPEN;
        s->next = log->hub->streams;
        log->hub->streams = s;
    }
    pthread_mutex_unlock(&log->hub->lock);
    if (result != STREAM_OPEN)
        free(s);
    return result;
}
