/* progress.c -- see progress.h. The globals are for the signal handler. */
#define _XOPEN_SOURCE 700
#include "progress.h"

#include "plain_print.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INTERRUPTED = 130 };

static volatile sig_atomic_t interrupts, planning;
static const char *volatile guarded;

static void on_interrupt(int signal)
{
    (void)signal;
    if (interrupts || !planning) {
        if (guarded)
            unlink(guarded);
        _exit(INTERRUPTED);
    }
    interrupts = 1;
}

static uint64_t now_ns(void *state)
{
    struct timespec t;
    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void *state)
{
    struct timespec t;
    (void)state;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double seconds_now(void) { return 1e-9 * (double)now_ns(NULL); }

static pb_stop should_stop(void *state)
{
    const progress *p = state;
    if (interrupts)
        return PB_STOP_INTERRUPT;
    return p->deadline > 0 && seconds_now() >= p->deadline ? PB_STOP_TIME : PB_GO_ON;
}

static void show_progress(void *state, const char *what, uint64_t done, uint64_t total)
{
    progress *p = state;
    double now = p->show ? seconds_now() : 0;
    if (!p->show || now - p->begin < 1.0 || now - p->shown_at < 0.1)
        return;
    p->shown_at = now;
    p->visible = true;
    char shown[61];
    pb_plain_text(what, shown, sizeof shown);
    if (total)
        fprintf(stderr, "\r\033[K%s %3.0f %%  %.0f s", shown, 100.0 * (double)done / (double)total, now - p->begin);
    else
        fprintf(stderr, "\r\033[K%s  %.0f s", shown, now - p->begin);
    fflush(stderr);
}

/* A message of the library that is not an error. */
static void show_message(void *state, const char *message)
{
    progress *p = state;
    progress_clear(p);
    print_line(stderr, "pebble: %s", message);
}

void progress_begin(progress *p, pb_context *ctx, bool show)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* not under nohup */
        sigaction(SIGHUP, &action, NULL);
    *p = (progress){.begin = seconds_now(), .show = show && isatty(STDERR_FILENO)};
    p->ctx = ctx;
    ctx->clock_ns = now_ns;
    ctx->progress = show_progress;
    ctx->log = show_message;
    ctx->callback_state = p;
}

void progress_limit(progress *p, double seconds)
{
    double now = seconds_now(), least = now + seconds / 2;
    p->deadline = p->begin + seconds > least ? p->begin + seconds : least;
}

uint64_t progress_left_ns(const progress *p)
{
    double left = p->deadline > 0 ? 1e9 * (p->deadline - seconds_now()) : 0;
    return left < 1 ? p->deadline > 0 : left < 1e18 ? (uint64_t)left : (uint64_t)1e18;
}

void progress_clear(progress *p)
{
    if (!p->visible)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->visible = false;
}

/* After planning, the stop callback is removed: an interrupt or time limit must not end the writing of the plan. */
void progress_planning(progress *p, bool begins)
{
    planning = begins;
    p->ctx->stop = begins ? should_stop : NULL;
    if (begins) {
        if (!p->ctx->tick_limit)
            p->ctx->tick_limit = p->tick_limit; /* of an earlier planning */
        p->tick_limit = p->ctx->tick_limit;
        p->ctx->ticks = 0;
        return;
    }
    p->stopped = p->ctx->stopped;
    p->ctx->stopped = PB_GO_ON;
    p->ctx->tick_limit = 0;
    progress_clear(p);
}

void progress_cpu_clock(progress *p, bool begins) { p->ctx->clock_ns = begins ? cpu_ns : now_ns; }

bool progress_interrupted(void) { return interrupts != 0; }

void progress_guard_file(const char *path) { guarded = path; }
