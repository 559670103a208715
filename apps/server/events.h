/* events.h -- the event log of a job, and the connections that receive it.
 *
 * Every stream reads the same log at its own speed, so a slow one delays no other and needs no buffer. A stream that
 * has sent everything is suspended: it uses neither a thread nor time until there is another event.
 */
#ifndef PEBBLE_SERVER_EVENTS_H
#define PEBBLE_SERVER_EVENTS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One lock for all logs, because events are rare. */
typedef struct event_hub {
    pthread_mutex_t lock;
    struct event_stream *streams;
    bool closing;
} event_hub;

typedef struct event_log event_log;

void hub_init(event_hub *hub);
/* Ends every stream with a final event, waits briefly until it is sent, and lets no new stream wait. */
void hub_close(event_hub *hub);
/* Wakes streams that have events to send or are due for a ping. Called ten times a second. */
void hub_tick(event_hub *hub);

/* NULL if out of memory. Also allocates the final event that log_end sends if there is no memory for another. */
event_log *log_new(event_hub *hub);
void log_free(event_log *log);
/* Appends an event; takes over `data` (malloc), where NULL means out of memory. If `merge` is set and the last event
 * has the same name, it is replaced. Nothing is added after `done`. */
void log_add(event_log *log, const char *name, char *data, bool merge);
/* Was an event lost for lack of memory that no newer event replaces? */
bool log_lost(event_log *log);
/* Sets the state of the job, a constant such as "queued". After log_end it is "ended". */
void log_state(event_log *log, const char *state);
/* Ends the log: streams end after they have sent all events. If there was no memory for `done`, the reserved final
 * event is sent. */
void log_end(event_log *log);
/* The memory that the log uses. */
size_t log_bytes(event_log *log);
/* {"state":"running","events":[{"event":...,"data":...}...]} */
void log_print(event_log *log, FILE *out);

/* Nothing: the log has ended, and all of it was sent before. Ahead: there is no event `last` yet. */
typedef enum stream_state { STREAM_OPEN, STREAM_NOTHING, STREAM_AHEAD, STREAM_NO_MEMORY } stream_state;
/* A response that sends all events after `last`. If it is STREAM_OPEN, `drop(state)` is called when the connection is
 * done with it. */
stream_state log_stream(event_log *log, struct MHD_Connection *connection, uint64_t last, void (*drop)(void *state),
                        void *state, struct MHD_Response **response);

#endif
