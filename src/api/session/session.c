/* session.c -- sessions: what calls from other languages go through; see bindings.h.
 *
 * The record of a session is the first piece of an arena on its own context, so that the allocator of the context holds
 * everything, the session included. The clock is here and not in the planners: they still count ticks, and hear of time
 * through ctx->stop as from any application.
 */
#define _POSIX_C_SOURCE 200809L
#include "api/session/session.h"

#include "base/context.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t now_ns(void *state)
{
    struct timespec t;
    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static pb_stop should_stop(void *state)
{
    pb_session *s = state;
    if (atomic_load_explicit(&s->stop_asked, memory_order_relaxed))
        return PB_STOP_INTERRUPT;
    return s->deadline_ns && now_ns(NULL) >= s->deadline_ns ? PB_STOP_TIME : PB_GO_ON;
}

static void tell(pb_session *s, const char *what, uint64_t done, uint64_t total)
{
    pthread_mutex_lock(&s->lock);
    if (what)
        snprintf(s->what, sizeof s->what, "%s", what);
    s->done = done;
    s->total = total;
    pb_watch watch = s->watch;
    void *state = s->watch_state;
    pthread_mutex_unlock(&s->lock);
    if (watch)
        watch(state, what ? what : "", done, total);
}

static void on_progress(void *state, const char *what, uint64_t done, uint64_t total)
{
    tell(state, what, done, total);
}

static void on_event(void *state, const pb_event *event)
{
    pb_session *s = state;
    if (event->kind == PB_EVENT_PLAN) {
        pthread_mutex_lock(&s->lock);
        s->plans++;
        s->peak = event->peak;
        s->makespan = event->makespan;
        pthread_mutex_unlock(&s->lock);
    } else if (event->kind == PB_EVENT_BEGIN) {
        tell(s, event->strategy, 0, 0);
    }
}

static void on_note(void *state, const char *message)
{
    pb_session *s = state;
    pb_sink sink = pb_sink_buffer(&s->notes);
    if (sink.write(sink.state, message, strlen(message)) == PB_OK)
        sink.write(sink.state, "\n", 1);
}

pb_session *pb_session_new(void)
{
    pb_context first;
    pb_arena home;
    pb_context_init(&first);
    pb_arena_init(&home, &first);
    pb_session *s = pb_arena_zero(&home, 1, sizeof *s);
    if (!s || pthread_mutex_init(&s->lock, NULL) != 0) {
        pb_arena_release(&home);
        return NULL;
    }
    s->ctx = first;
    s->home = home;
    s->home.ctx = &s->ctx;
    s->ctx.clock_ns = now_ns;
    s->ctx.progress = on_progress;
    s->ctx.log = on_note;
    s->ctx.callback_state = s;
    pb_arena_init(&s->arena, &s->ctx);
    pb_arena_init(&s->words, &s->ctx);
    pb_buffer_init(&s->text, &s->words);
    pb_buffer_init(&s->notes, &s->arena);
    pb_moves_init(&s->moves, &s->arena);
    atomic_init(&s->stop_asked, 0);
    return s;
}

void pb_session_free(pb_session *s)
{
    if (!s)
        return;
    pb_builder_free(s->builder);
    pb_arena_release(&s->words);
    pb_arena_release(&s->arena);
    pthread_mutex_destroy(&s->lock);
    pb_context last = s->ctx; /* the record goes with the arena that it lies in */
    pb_arena home = s->home;
    home.ctx = &last;
    pb_arena_release(&home);
}

static const char *const setting_names[] = {
#define SETTING(name) #name,
#include "api/session/settings.def"
#undef SETTING
};

pb_status pb_session_set(pb_session *s, const char *key, const char *value)
{
    char *copy = NULL;
    for (int i = 0; key && i < PBI_SETTING_COUNT; i++) {
        if (strcmp(setting_names[i], key) != 0)
            continue;
        if (value && !(copy = pb_arena_text(&s->arena, value, strlen(value))))
            return pbi_session_end(s, PB_ENOMEM);
        s->setting[i] = copy;
        return pbi_session_end(s, PB_OK);
    }
    return pbi_session_end(s, pbi_fail(&s->ctx, PB_EUNKNOWN, "there is no setting \"%.60s\"", key ? key : ""));
}

void pb_session_stop(pb_session *s) { atomic_store(&s->stop_asked, 1); }
void pb_session_go_on(pb_session *s) { atomic_store(&s->stop_asked, 0); }
int pb_session_stopped(const pb_session *s) { return (int)s->stopped; }

int pb_session_status(const pb_session *s) { return (int)s->status; }
const char *pb_session_message(const pb_session *s) { return s->error.message; }
uint64_t pb_session_line(const pb_session *s) { return s->error.line; }
uint64_t pb_session_column(const pb_session *s) { return s->error.column; }
const char *pb_session_notes(const pb_session *s) { return s->notes.bytes ? s->notes.bytes : ""; }

const char *pb_session_text(const pb_session *s, uint64_t *length)
{
    if (length)
        *length = s->text.length;
    return s->text.bytes ? s->text.bytes : "";
}

static void put(uint64_t *to, uint64_t value)
{
    if (to)
        *to = value;
}

void pb_session_progress(pb_session *s, char *what, uint64_t room, uint64_t *done, uint64_t *total, uint64_t *plans,
                         uint64_t *peak, uint64_t *makespan)
{
    pthread_mutex_lock(&s->lock);
    if (what && room)
        snprintf(what, (size_t)room, "%s", s->what);
    put(done, s->done);
    put(total, s->total);
    put(plans, s->plans);
    put(peak, s->peak);
    put(makespan, s->makespan);
    pthread_mutex_unlock(&s->lock);
}

void pb_session_watch(pb_session *s, pb_watch watch, void *state)
{
    pthread_mutex_lock(&s->lock);
    s->watch = watch;
    s->watch_state = state;
    pthread_mutex_unlock(&s->lock);
}

/* ---- inside ---- */

pb_status pbi_session_end(pb_session *s, pb_status status)
{
    if (status != PB_OK) {
        s->status = status;
        s->error = s->ctx.error;
        if (!s->error.message[0])
            snprintf(s->error.message, sizeof s->error.message, "%s", pb_status_text(status));
    }
    s->ctx.error = (pb_error){.message = ""}; /* also of what was tried and did not matter */
    return status;
}

pb_sink pbi_session_write(pb_session *s)
{
    pb_arena_release(&s->words);
    pb_arena_init(&s->words, &s->ctx);
    pb_buffer_init(&s->text, &s->words);
    return pb_sink_buffer(&s->text);
}

pb_status pbi_session_say(pb_session *s, const char *text)
{
    pb_sink sink = pbi_session_write(s);
    return sink.write(sink.state, text, strlen(text));
}

pb_status pbi_session_begin(pb_session *s)
{
    double seconds = 0;
    uint64_t memory, ticks;
    const char *time = s->setting[PBI_SET_time];
    if (time && !pb_time_parse(time, &seconds))
        return pbi_fail(&s->ctx, PB_EINVAL, "expected a time such as 5s, 500ms, 2m or 1h, not `%.60s`", time);
    pb_status status = pbi_take_number(s, PBI_SET_memory, 0, SIZE_MAX, &memory);
    if (status == PB_OK)
        status = pbi_take_number(s, PBI_SET_ticks, 0, UINT64_MAX, &ticks);
    if (status != PB_OK)
        return status;
    s->left_ns = !time ? 0 : seconds < 1e9 ? (uint64_t)(1e9 * seconds) + 1 : (uint64_t)1e18;
    s->deadline_ns = time ? now_ns(NULL) + s->left_ns : 0;
    s->stopped = PB_GO_ON;
    s->ctx.memory_limit = (size_t)memory;
    s->ctx.tick_limit = ticks;
    s->ctx.ticks = 0;
    s->ctx.stopped = PB_GO_ON;
    s->ctx.stop = should_stop;
    pthread_mutex_lock(&s->lock);
    s->what[0] = '\0';
    s->done = s->total = s->plans = s->peak = s->makespan = 0;
    pthread_mutex_unlock(&s->lock);
    return PB_OK;
}

void pbi_session_begin_reading(pb_session *s)
{
    s->deadline_ns = s->left_ns = 0;
    s->stopped = PB_GO_ON;
    s->ctx.stopped = PB_GO_ON;
    s->ctx.stop = should_stop;
}

pb_status pbi_session_finish(pb_session *s, pb_status status)
{
    s->stopped = s->ctx.stopped;
    s->ctx.stop = NULL;
    s->ctx.stopped = PB_GO_ON;
    s->ctx.tick_limit = 0;
    s->ctx.memory_limit = 0;
    return pbi_session_end(s, status);
}

pb_event_handler pbi_session_handler(pb_session *s) { return (pb_event_handler){on_event, s}; }
