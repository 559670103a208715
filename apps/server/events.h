/* events.h -- what happened in a job, in order, and the connections that listen.
 *
 * Every listener reads the same log at its own pace, so a slow one holds up nobody and needs no buffer of its own. A
 * listener that has read everything is suspended and costs neither a thread nor time until there is more.
 */
#ifndef PEBBLE_SERVER_EVENTS_H
#define PEBBLE_SERVER_EVENTS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One lock for all logs: events are rare. */
typedef struct event_hub {
    pthread_mutex_t lock;
    struct event_stream *streams;
    bool closing;
} event_hub;

typedef struct event_log event_log;

void hub_init(event_hub *hub);
/* Ends every stream, with an event that says so, and lets no new one wait. Gives those who listen a moment to hear it. */
void hub_close(event_hub *hub);
/* Wakes those who have something to hear, and those who have heard nothing for long, for a sign of life. Ten times a
 * second. */
void hub_tick(event_hub *hub);

/* NULL when memory is out. The memory that the last event needs at the least is taken here. */
event_log *log_new(event_hub *hub);
void log_free(event_log *log);
/* Appends; `data` (malloc) is taken, NULL stands for memory that ran out. Where `merge` is set and the last event has the same
 * name, it is replaced. Nothing comes after `done`. */
void log_add(event_log *log, const char *name, char *data, bool merge);
/* Was an event lost that others than the newest listener need, because memory was out? */
bool log_lost(event_log *log);
/* What the job does now, a constant: "queued". Once it has ended that is "ended". */
void log_state(event_log *log, const char *state);
/* No more events will come: streams end once they have told all. If there was no memory for `done`, one that was kept
 * ready says so. */
void log_end(event_log *log);
/* The memory that it takes. */
size_t log_bytes(event_log *log);
/* {"state":"running","events":[{"event":...,"data":...}...]} */
void log_print(event_log *log, FILE *out);

/* Nothing: the log has ended and all of it is known. Ahead: there is no event `last` yet. */
typedef enum stream_state { STREAM_OPEN, STREAM_NOTHING, STREAM_AHEAD, STREAM_NO_MEMORY } stream_state;
/* A response that tells everything after event `last`. Once it is open, `drop(state)` is called when the connection is done
 * with it. */
stream_state log_stream(event_log *log, struct MHD_Connection *connection, uint64_t last, void (*drop)(void *state),
                        void *state, struct MHD_Response **response);

#endif
