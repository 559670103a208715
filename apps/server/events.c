/* events.c -- see events.h. */
#define _XOPEN_SOURCE 700
#include "events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PING_SECONDS = 10, MOST_EVENTS = 4096, BLOCK = 16384, HEAD_ROOM = 96 };

typedef struct event {
    uint64_t number;
    const char *name; /* a constant */
    char *text;       /* as it goes over the wire; the data follow the head and end before two line ends */
    size_t head, length;
    unsigned held; /* by the log, and by streams in the middle of it */
} event;

struct event_log {
    event_hub *hub;
    event **events;
    size_t count, room;
    uint64_t numbers;
    bool ended;
};

typedef struct event_stream {
    event_log *log;
    struct MHD_Connection *connection;
    uint64_t last; /* number of the last event that was begun */
    event *now;    /* being told, up to `at` */
    size_t at;
    time_t spoke_at;
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
    pthread_mutex_unlock(&hub->lock);
}

void hub_tick(event_hub *hub)
{
    time_t now = seconds();
    pthread_mutex_lock(&hub->lock);
    for (event_stream *s = hub->streams; s; s = s->next)
        if (now - s->spoke_at >= PING_SECONDS || s->last < s->log->numbers)
            wake(s);
    pthread_mutex_unlock(&hub->lock);
}

/* ---- the log ---- */

event_log *log_new(event_hub *hub)
{
    event_log *log = calloc(1, sizeof *log);
    if (log)
        log->hub = hub;
    return log;
}

static void drop_event(event *e)
{
    if (--e->held)
        return;
    free(e->text);
    free(e);
}

void log_free(event_log *log)
{
    if (!log)
        return;
    for (size_t i = 0; i < log->count; i++)
        drop_event(log->events[i]);
    free(log->events);
    free(log);
}

static event *event_new(uint64_t number, const char *name, const char *data)
{
    char head[HEAD_ROOM];
    size_t length = strlen(data);
    event *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    int used = snprintf(head, sizeof head, "id: %" PRIu64 "\nevent: %s\ndata: ", number, name);
    *e = (event){.number = number, .name = name, .head = (size_t)used, .held = 1};
    e->length = e->head + length + 2;
    e->text = malloc(e->length + 1);
    if (!e->text) {
        free(e);
        return NULL;
    }
    memcpy(e->text, head, e->head);
    memcpy(e->text + e->head, data, length);
    for (size_t i = e->head; i < e->head + length; i++) /* a line end would end the data */
        if (e->text[i] == '\n' || e->text[i] == '\r')
            e->text[i] = ' ';
    memcpy(e->text + e->head + length, "\n\n", 3);
    return e;
}

/* Makes room by forgetting what is of no use later: progress, then every other plan on the way. */
static void thin(event_log *log)
{
    static const char *const lesser[] = {"progress", "incumbent"};
    for (size_t pass = 0; pass < 2 && log->count >= MOST_EVENTS / 2; pass++) {
        size_t kept = 0, seen = 0;
        for (size_t i = 0; i < log->count; i++) {
            bool drop = strcmp(log->events[i]->name, lesser[pass]) == 0 && (pass == 0 || seen++ % 2 == 0);
            if (drop)
                drop_event(log->events[i]);
            else
                log->events[kept++] = log->events[i];
        }
        log->count = kept;
    }
}

static bool has_room(event_log *log)
{
    if (log->count && log->count % MOST_EVENTS == 0)
        thin(log);
    if (log->count < log->room)
        return true;
    size_t room = log->room ? 2 * log->room : 32;
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

void log_add(event_log *log, const char *name, char *data, bool merge)
{
    pthread_mutex_lock(&log->hub->lock);
    event *e = data && has_room(log) ? event_new(log->numbers + 1, name, data) : NULL;
    if (e) {
        log->numbers++;
        if (merge && log->count && strcmp(log->events[log->count - 1]->name, name) == 0)
            drop_event(log->events[--log->count]);
        else
            wake_log(log); /* what may be replaced soon waits for the next tick */
        log->events[log->count++] = e;
    }
    pthread_mutex_unlock(&log->hub->lock);
    free(data);
}

void log_end(event_log *log)
{
    pthread_mutex_lock(&log->hub->lock);
    log->ended = true;
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
    fprintf(out, "{\"state\":\"%s\",\"events\":[", log->ended ? "ended" : "running");
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

static ssize_t tell_more(event_stream *s, char *bytes, size_t room)
{
    static const char ping[] = ": ping\n\n";
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
        s->spoke_at = seconds();
        return (ssize_t)count;
    }
    if (s->log->ended || s->log->hub->closing)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (seconds() - s->spoke_at >= PING_SECONDS && room >= sizeof ping - 1) {
        memcpy(bytes, ping, sizeof ping - 1);
        s->spoke_at = seconds();
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
    ssize_t count = tell_more(s, bytes, room);
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

struct MHD_Response *log_stream(event_log *log, struct MHD_Connection *connection, uint64_t last,
                                void (*drop)(void *state), void *state, bool *nothing)
{
    event_stream *s = calloc(1, sizeof *s);
    struct MHD_Response *response = NULL;
    *nothing = false;
    if (!s)
        return NULL;
    *s = (event_stream){.log = log, .connection = connection, .last = last, .spoke_at = seconds()};
    s->drop = drop;
    s->state = state;
    pthread_mutex_lock(&log->hub->lock);
    *nothing = log->ended && !next_event(s);
    if (!*nothing)
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, s, free_stream);
    if (response) {
        s->next = log->hub->streams;
        log->hub->streams = s;
    }
    pthread_mutex_unlock(&log->hub->lock);
    if (!response)
        free(s);
    return response;
}
