/* worker.c -- see worker.h. */
#define _XOPEN_SOURCE 700
#include "store/worker.h"

#include "base/arena.h"
#include "base/context.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the process ---- */

/* The first line of a small file; "" if it cannot be read. */
static void first_line(const char *path, char *text, size_t room)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, text, room - 1);
    if (file >= 0)
        close(file);
    text[count > 0 ? count : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

/* When a process began, by the kernel's count; "" if there is none. */
static void start_of(long process, char text[32])
{
    char path[64], line[600];
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    first_line(path, line, sizeof line);
    const char *at = strrchr(line, ')'); /* the name before it may contain anything */
    enum { FIELDS_TO_START = 20 };
    for (int field = 0; at && field < FIELDS_TO_START; field++)
        at = strchr(at + 1, ' ');
    snprintf(text, 32, "%.*s", at ? (int)strcspn(at + 1, " ") : 0, at ? at + 1 : "");
}

void pbi_worker_process(char text[160])
{
    char boot[48], space[48] = "", start[32];
    first_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    ssize_t length = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    start_of((long)getpid(), start);
    text[0] = '\0';
    if (boot[0] && length > 0 && start[0])
        snprintf(text, 160, "%s/%s/%ld/%s", boot, space, (long)getpid(), start);
}

/* The length of computer and namespace in a process text. */
static size_t place_length(const char *process)
{
    const char *first = strchr(process, '/'), *second = first ? strchr(first + 1, '/') : NULL;
    return second ? (size_t)(second - process) : 0;
}

bool pbi_worker_ended(const pbi_worker_facts *facts, const char *process)
{
    char start[32];
    long number;
    size_t length = place_length(process);
    if (!length || place_length(facts->process) != length || strncmp(process, facts->process, length) != 0)
        return false;
    char theirs[32] = "";
    if (sscanf(facts->process + length, "/%ld/%31[0-9]", &number, theirs) != 2)
        return false;
    start_of(number, start);
    return strcmp(start, theirs) != 0;
}

/* ---- a worker ---- */

static void file_of(const char *id, char name[PBI_PATH_ROOM]) { snprintf(name, PBI_PATH_ROOM, "workers/%s", id); }

pb_status pbi_worker_begin(pb_context *ctx, const pbi_folder *folder, uint32_t threads, pbi_worker *out)
{
    *out = (pbi_worker){.folder = folder, .threads = threads};
    pb_status status = pbi_folder_mark(ctx, out->id);
    if (status != PB_OK)
        return status;
    pbi_worker_process(out->process);
    if (gethostname(out->host, sizeof out->host) != 0)
        snprintf(out->host, sizeof out->host, "?");
    out->host[sizeof out->host - 1] = '\0';
    for (char *c = out->host; *c; c++)
        *c = *c <= ' ' || *c > '~' ? '?' : *c;
    return PB_OK;
}

pb_status pbi_worker_beat(pb_context *ctx, pbi_worker *w, uint64_t now_ns)
{
    char name[PBI_PATH_ROOM], text[512];
    if (!w->beats)
        w->begin_ns = now_ns;
    uint64_t seconds = (now_ns - w->begin_ns) / 1000000000u;
    int length = snprintf(text, sizeof text,
                          "pebble-worker/1\nhost %s\nprocess %s\nbeats %" PRIu64 "\ncells %" PRIu64 "\nseconds %" PRIu64
                          "\nthreads %" PRIu64 "\n",
                          w->host, w->process[0] ? w->process : "-", ++w->beats, w->cells, seconds, w->threads);
    file_of(w->id, name);
    int file = openat(w->folder->file, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return pbi_folder_fail(ctx, w->folder, name, "written", errno);
    bool done = write(file, text, (size_t)length) == length;
    int error = errno;
    close(file);
    return done ? PB_OK : pbi_folder_fail(ctx, w->folder, name, "written", error);
}

void pbi_worker_end(const pbi_worker *w)
{
    char name[PBI_PATH_ROOM];
    file_of(w->id, name);
    pbi_folder_remove(w->folder, name);
}

bool pbi_worker_read(const pbi_folder *folder, const char *id, pbi_worker_facts *out)
{
    char name[PBI_PATH_ROOM], text[512];
    *out = (pbi_worker_facts){.beats = 0};
    snprintf(out->id, sizeof out->id, "%s", id);
    file_of(id, name);
    int file = openat(folder->file, name, O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (count < 0)
        return false;
    text[count] = '\0';
    return sscanf(text,
                  "pebble-worker/1 host %63s process %159s beats %" SCNu64 " cells %" SCNu64 " seconds %" SCNu64
                  " threads %" SCNu64,
                  out->host, out->process, &out->beats, &out->cells, &out->seconds, &out->threads) == 6;
}

/* ---- the others ---- */

pb_status pbi_watch_look(pb_context *ctx, pbi_watch *watch, const char *id, uint64_t now_ns, pbi_life *out)
{
    pbi_worker_facts facts;
    pbi_watched *seen = watch->seen;
    size_t at = 0;
    (void)ctx;
    bool there = pbi_worker_read(watch->folder, id, &facts);
    *out = PBI_DEAD;
    if (there && pbi_worker_ended(&facts, watch->own_process))
        return PB_OK;
    while (at < watch->count && strcmp(seen[at].id, id) != 0)
        at++;
    if (at == watch->count) {
        if (!pbi_arena_reserve(watch->arena, &watch->seen, &watch->room, at + 1, sizeof *seen))
            return PB_ENOMEM;
        seen = watch->seen;
        seen[watch->count++] = (pbi_watched){.beats = facts.beats, .since_ns = now_ns};
        snprintf(seen[at].id, sizeof seen[at].id, "%s", id);
    }
    pbi_watched *w = &seen[at];
    if (w->beats != facts.beats) {
        w->moved = true;
        w->beats = facts.beats;
        w->since_ns = now_ns;
    }
    if (now_ns < w->since_ns || now_ns - w->since_ns < watch->timeout_ns)
        *out = w->moved ? PBI_ALIVE : PBI_UNKNOWN;
    return PB_OK;
}
