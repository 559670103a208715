/* worker.h -- the handlers of apps/server in a Web Worker: what the page calls, and what it provides (docs/page.md).
 *
 *     _initialize(), worker_start(first)
 *     worker_request(head, ...) -> a response; read it, worker_release()
 *     worker_run()              -> runs the job that the last request started; events come through worker_event
 *
 * One instance has one thread. While it runs a job it answers no requests: the page has one instance for requests, and
 * others for jobs.
 */
#ifndef PEBBLE_WORKER_H
#define PEBBLE_WORKER_H

#include "server/handlers.h"

typedef struct worker_response {
    uint32_t status, type, disposition, bytes, length; /* addresses as the page reads them */
} worker_response;

/* Numbers of jobs and plans begin after `first`, so that several instances do not share any. */
bool worker_start(uint32_t first, uint32_t megabytes);
/* The next new graph gets this number. */
void worker_number_graph(uint32_t number);
/* `head` has texts that end in NUL: method, path, type, then key and value of each argument. Both blocks come from
 * malloc and are freed here. The response is valid until worker_release. NULL: out of memory. */
const worker_response *worker_request(char *head, uint32_t head_length, char *body, uint32_t length);
void worker_release(void);
/* Runs the waiting job, if there is one. */
void worker_run(void);

/* Runs the job that waits. */
void queue_run(job_queue *q);

/* Provided by the page. */
void worker_event(const char *name, const char *data, size_t length);
bool worker_stop_requested(void);

#endif
