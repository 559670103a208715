/* worker.h -- who is alive: every worker has a file whose counter rises, and watches those of the others.
 *
 * No clock is compared with another one. A worker is dead if its counter stands still for the timeout by the clock of
 * the process that watches; on the same computer, and in the same process namespace, at once if its process has ended.
 */
#ifndef PBI_STORE_WORKER_H
#define PBI_STORE_WORKER_H

#include "store/folder.h"

typedef struct pbi_worker {
    const pbi_folder *folder;
    char id[PBI_WORKER_TEXT];
    char process[160]; /* computer, namespace, process and its start: "" where that is not known */
    char host[64];
    uint64_t beats, cells, begin_ns, threads;
} pbi_worker;

/* A new worker with a name of its own. Its file appears with the first beat. */
pb_status pbi_worker_begin(pb_context *ctx, const pbi_folder *folder, uint32_t threads, pbi_worker *out);
/* Shows that it is alive. `now_ns` by the clock of this process. */
pb_status pbi_worker_beat(pb_context *ctx, pbi_worker *w, uint64_t now_ns);
void pbi_worker_end(const pbi_worker *w);

/* What another process knows of a worker. */
typedef struct pbi_watched {
    char id[PBI_WORKER_TEXT];
    uint64_t beats, since_ns; /* its last counter, and when that was first seen */
    bool moved;               /* its counter has risen since it is watched */
} pbi_watched;

typedef struct pbi_watch {
    const pbi_folder *folder;
    pb_arena *arena;
    const char *own_process; /* of the watching worker; "" for none */
    uint64_t timeout_ns;
    void *seen;
    size_t room, count;
} pbi_watch;

typedef enum pbi_life { PBI_DEAD, PBI_UNKNOWN, PBI_ALIVE } pbi_life;
/* Looks at a worker now. PB_ENOMEM only. */
pb_status pbi_watch_look(pb_context *ctx, pbi_watch *watch, const char *id, uint64_t now_ns, pbi_life *out);

/* A worker's file as it is, for reports. */
typedef struct pbi_worker_facts {
    char id[PBI_WORKER_TEXT];
    char host[64], process[160];
    uint64_t beats, cells, seconds, threads;
} pbi_worker_facts;
bool pbi_worker_read(const pbi_folder *folder, const char *id, pbi_worker_facts *out);
/* Whether its process is known to have ended; `process` is that of the caller. */
bool pbi_worker_ended(const pbi_worker_facts *facts, const char *process);
/* The process that calls, as it is in pbi_worker. */
void pbi_worker_process(char text[160]);

#endif
