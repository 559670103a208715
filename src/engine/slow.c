/* slow.c -- see slow.h.
 *
 * Direct input and output needs aligned memory and lengths; values have neither. Each thread has a buffer through which
 * values pass in pieces, and computes their checksum on the way.
 */
#define _GNU_SOURCE /* O_DIRECT, O_TMPFILE */
#include "engine/slow.h"

#include "base/context.h"
#include "engine/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 18, MAX_THREADS = 16, IN_VAIN = 4 };

typedef struct slow_file {
    int file;
    bool direct;
    const char *name;
} slow_file;

typedef struct hand {
    struct pbi_slow *slow;
    unsigned char *buffer; /* PIECE bytes, aligned */
    pthread_t thread;
} hand;

struct pbi_slow {
    pthread_mutex_t lock;
    pthread_cond_t work, finished;
    pbi_transfer *first, *last; /* not started yet */
    bool closing;
    uint32_t hands, started;
    hand hand[MAX_THREADS];
    slow_file file[PB_MAX_TIERS];
    uint32_t file_count;
    pbi_slow_calls calls;
    uint64_t (*clock_ns)(void *state);
    void *clock_state;
};

static ssize_t system_write(void *state, int file, const void *bytes, size_t count, off_t at)
{
    (void)state;
    return pwrite(file, bytes, count, at);
}

static ssize_t system_read(void *state, int file, void *bytes, size_t count, off_t at)
{
    (void)state;
    return pread(file, bytes, count, at);
}

/* ---- transfers, in any thread ---- */

/* Where a transfer continues after `some` more bytes: a direct one only at the start of a unit. False: several
 * attempts made no progress (the file ends here, or the disk is full), so it will never finish. */
static bool go_on(const slow_file *f, size_t some, size_t goal, size_t *done, int *in_vain)
{
    size_t now = *done + some;
    if (f->direct && now < goal)
        now -= now % PBI_SLOW_UNIT;
    *in_vain = now > *done ? 0 : *in_vain + 1;
    *done = now;
    return *in_vain < IN_VAIN;
}

static bool put(const pbi_slow *s, pbi_transfer *t, const unsigned char *bytes, size_t count, uint64_t at)
{
    const slow_file *f = &s->file[t->tier];
    size_t done = 0;
    int in_vain = 0;
    while (done < count) {
        ssize_t wrote = s->calls.write(s->calls.state, f->file, bytes + done, count - done, (off_t)(at + done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0 || !go_on(f, (size_t)wrote, count, &done, &in_vain)) {
            t->error = wrote < 0 ? errno : PBI_SLOW_ENDS;
            t->failed_at = at + done;
            return false;
        }
    }
    return true;
}

/* At least `least` bytes, at most `count`. */
static bool get(const pbi_slow *s, pbi_transfer *t, unsigned char *bytes, size_t count, size_t least, uint64_t at)
{
    const slow_file *f = &s->file[t->tier];
    size_t done = 0;
    int in_vain = 0;
    while (done < least) {
        ssize_t got = s->calls.read(s->calls.state, f->file, bytes + done, count - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || !go_on(f, (size_t)got, least, &done, &in_vain)) {
            t->error = got < 0 ? errno : PBI_SLOW_ENDS;
            t->failed_at = at + done;
            return false;
        }
    }
    return true;
}

/* The offset in the file is the seed: a block from another place has another checksum. */
static void store(const pbi_slow *s, pbi_transfer *t, unsigned char *buffer)
{
    bool direct = s->file[t->tier].direct;
    pbi_sum sum;
    pbi_sum_begin(&sum, t->at);
    for (uint64_t done = 0; done < t->bytes; done += PIECE) {
        size_t left = (size_t)(t->bytes - done), count = left < PIECE ? left : PIECE, whole = count;
        const unsigned char *from = t->memory + done;
        if (direct) {
            whole = (count + PBI_SLOW_UNIT - 1) / PBI_SLOW_UNIT * PBI_SLOW_UNIT;
            memcpy(buffer, from, count);
            memset(buffer + count, 0, whole - count);
            from = buffer;
        }
        if (left > PIECE)
            pbi_sum_add(&sum, from, count);
        else
            t->sum = pbi_sum_end(&sum, from, count);
        if (!put(s, t, from, whole, t->at + done))
            return;
    }
}

static void load(const pbi_slow *s, pbi_transfer *t, unsigned char *buffer)
{
    bool direct = s->file[t->tier].direct;
    uint64_t found = 0;
    pbi_sum sum;
    pbi_sum_begin(&sum, t->at);
    for (uint64_t done = 0; done < t->bytes; done += PIECE) {
        size_t left = (size_t)(t->bytes - done), count = left < PIECE ? left : PIECE, whole = count;
        unsigned char *to = t->memory + done;
        if (direct)
            whole = (count + PBI_SLOW_UNIT - 1) / PBI_SLOW_UNIT * PBI_SLOW_UNIT;
        if (!get(s, t, direct ? buffer : to, whole, count, t->at + done))
            return;
        if (direct)
            memcpy(to, buffer, count);
        if (left > PIECE)
            pbi_sum_add(&sum, to, count);
        else
            found = pbi_sum_end(&sum, to, count);
    }
    t->differs = found != t->sum;
}

static void transfer(const pbi_slow *s, pbi_transfer *t, unsigned char *buffer)
{
    uint64_t from = s->clock_ns ? s->clock_ns(s->clock_state) : 0;
    if (t->store)
        store(s, t, buffer);
    else
        load(s, t, buffer);
    t->busy_ns = s->clock_ns ? s->clock_ns(s->clock_state) - from : 0;
}

void pbi_slow_transfer(pbi_slow *s, pbi_transfer *t, uint32_t number)
{
    t->differs = false;
    t->error = 0;
    transfer(s, t, s->hand[number].buffer);
    t->done = true;
}

static void *work(void *state)
{
    hand *h = state;
    pbi_slow *s = h->slow;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->first && !s->closing)
            pthread_cond_wait(&s->work, &s->lock);
        pbi_transfer *t = s->first;
        if (!t)
            break;
        s->first = t->next;
        pthread_mutex_unlock(&s->lock);
        transfer(s, t, h->buffer);
        pthread_mutex_lock(&s->lock);
        t->done = true;
        pthread_cond_broadcast(&s->finished);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

void pbi_slow_begin(pbi_slow *s, pbi_transfer *t)
{
    t->next = NULL;
    t->done = t->differs = false;
    t->error = 0;
    if (!s->started) { /* the system refused threads: transfer at once */
        transfer(s, t, s->hand[0].buffer);
        t->done = true;
        return;
    }
    pthread_mutex_lock(&s->lock);
    if (s->first)
        s->last->next = t;
    else
        s->first = t;
    s->last = t;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

bool pbi_slow_is_done(pbi_slow *s, const pbi_transfer *t)
{
    pthread_mutex_lock(&s->lock);
    bool done = t->done;
    pthread_mutex_unlock(&s->lock);
    return done;
}

void pbi_slow_wait(pbi_slow *s, const pbi_transfer *t)
{
    pthread_mutex_lock(&s->lock);
    while (!t->done)
        pthread_cond_wait(&s->finished, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

pb_status pbi_slow_judge(pb_context *ctx, const pbi_slow *s, const pbi_transfer *t, const char *name)
{
    char text[128];
    const char *file = s->file[t->tier].name, *what = t->store ? "storing" : "loading";
    if (t->error == PBI_SLOW_ENDS)
        return pbi_fail(ctx, PB_EIO, "%s %.80s failed in %.160s at offset %llu: %s", what, name, file,
                        (unsigned long long)t->failed_at,
                        t->store ? "nothing more was written; free space on that disk"
                                 : "the file ends there; let no other program write to it");
    if (t->error)
        return pbi_fail(ctx, PB_EIO, "%s %.80s failed in %.160s at offset %llu: %s; check that disk", what, name, file,
                        (unsigned long long)t->failed_at, strerror_r(t->error, text, sizeof text));
    if (t->differs)
        return pbi_fail(ctx, PB_EIO,
                        "loading %.80s failed in %.160s: the %llu bytes at offset %llu have changed since they were "
                        "stored; let no other program write there",
                        name, file, (unsigned long long)t->bytes, (unsigned long long)t->at);
    return PB_OK;
}

/* ---- files ---- */

/* A file that no folder lists: nothing is left of it, however the process ends. -1: not on this file system. */
static int unnamed_file(const char *folder) { return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); }

static pb_status make_file(pb_context *ctx, pb_arena *arena, const char *path, slow_file *out)
{
    struct stat about;
    size_t room = strlen(path) + sizeof "./pebble-slow-XXXXXX";
    char *name = pb_arena_alloc(arena, room, 1), *slash, text[128];
    if (!name)
        return PB_ENOMEM;
    bool folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    snprintf(name, room, "%s", path);
    slash = strrchr(name, '/');
    if (!folder && slash)
        slash[slash == name] = '\0';
    int file = unnamed_file(folder || slash ? name : ".");
    snprintf(name, room, folder ? "%s/pebble-slow-XXXXXX" : "%s-XXXXXX", path);
    if (file < 0) {
        file = mkstemp(name);
        if (file >= 0) {
            fcntl(file, F_SETFD, FD_CLOEXEC);
            unlink(name);
        }
    }
    if (file < 0)
        return pbi_fail(ctx, PB_EIO, "the file %.200s of a slow tier cannot be created: %s; choose another folder",
                        name, strerror_r(errno, text, sizeof text));
    *out = (slow_file){.file = file, .name = name};
    return PB_OK;
}

static pb_status make_memory(pb_context *ctx, slow_file *out)
{
    char text[128];
    int file = memfd_create("pebble-slow", MFD_CLOEXEC);
    if (file < 0)
        return pbi_fail(ctx, PB_EIO, "there is no memory for copies: %s; name a folder for them",
                        strerror_r(errno, text, sizeof text));
    *out = (slow_file){.file = file, .name = "memory"};
    return PB_OK;
}

/* Direct if the file system supports it: some refuse the flag, others the first write. */
static void make_direct(slow_file *f, unsigned char *buffer)
{
    int flags = fcntl(f->file, F_GETFL);
    if (flags < 0 || fcntl(f->file, F_SETFL, flags | O_DIRECT) < 0)
        return;
    memset(buffer, 0, PBI_SLOW_UNIT);
    f->direct = pwrite(f->file, buffer, PBI_SLOW_UNIT, 0) == PBI_SLOW_UNIT &&
                pread(f->file, buffer, PBI_SLOW_UNIT, 0) == PBI_SLOW_UNIT;
    if (!f->direct)
        (void)!fcntl(f->file, F_SETFL, flags);
}

static pb_status open_files(pb_context *ctx, pb_arena *arena, const pbi_slow_options *o, pbi_slow *s)
{
    const char *path = NULL;
    for (uint32_t t = 0; t < o->tier_count; t++) {
        path = o->path[t] ? o->path[t] : path;
        if (!path && !o->in_memory)
            return pbi_fail(ctx, PB_EINVAL, "slow tier %u needs a file, but no path was given; give one",
                            (unsigned)t + 1);
        pb_status status = o->in_memory ? make_memory(ctx, &s->file[t]) : make_file(ctx, arena, path, &s->file[t]);
        if (status != PB_OK)
            return status;
        s->file_count++;
        if (!o->no_direct && !o->in_memory)
            make_direct(&s->file[t], s->hand[0].buffer);
    }
    return PB_OK;
}

/* Signals are for the threads of the program. */
static void start_hands(pbi_slow *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (s->started < s->hands && pthread_create(&s->hand[s->started].thread, NULL, work, &s->hand[s->started]) == 0)
        s->started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

pb_status pbi_slow_open(pb_context *ctx, pb_arena *arena, const pbi_slow_options *o, pbi_slow **out)
{
    pbi_slow *s = pb_arena_zero(arena, 1, sizeof *s);
    if (!s)
        return PB_ENOMEM;
    s->calls = o->calls ? *o->calls : (pbi_slow_calls){system_write, system_read, NULL};
    s->clock_ns = ctx->clock_ns;
    s->clock_state = ctx->callback_state;
    s->hands = o->threads < 1 ? 1 : o->threads > MAX_THREADS ? MAX_THREADS : o->threads;
    for (uint32_t i = 0; i < s->hands; i++) {
        unsigned char *buffer = pb_arena_alloc(arena, PIECE + PBI_SLOW_UNIT, 1);
        if (!buffer)
            return PB_ENOMEM;
        s->hand[i] = (hand){.slow = s, .buffer = buffer + (PBI_SLOW_UNIT - (uintptr_t)buffer % PBI_SLOW_UNIT)};
    }
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->finished, NULL);
    pb_status status = open_files(ctx, arena, o, s);
    if (status == PB_OK) {
        if (!o->by_caller)
            start_hands(s);
        *out = s;
    } else {
        pbi_slow_close(s);
    }
    return status;
}

void pbi_slow_close(pbi_slow *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    for (uint32_t i = 0; i < s->started; i++)
        pthread_join(s->hand[i].thread, NULL);
    for (uint32_t t = 0; t < s->file_count; t++)
        close(s->file[t].file);
    pthread_cond_destroy(&s->finished);
    pthread_cond_destroy(&s->work);
    pthread_mutex_destroy(&s->lock);
}
