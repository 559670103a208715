/* session.c -- sessions, which all calls from other languages use; see bindings.h.
 *
 * The record of a session is the first piece of an arena on its own context. So the allocator of the context holds
 * everything, including the session. The clock is here and not in the planners: they count ticks, and ctx->stop ends
 * them when the time is over, as in any application.
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

static void report_progress(pb_session *s, const char *what, uint64_t done, uint64_t total)
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
    report_progress(state, what, done, total);
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
        report_progress(s, event->strategy, 0, 0);
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
    s->settings.wrong = PB_SETTING_COUNT;
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
    pb_context last = s->ctx; /* releasing `home` frees the record of the session */
    pb_arena home = s->home;
    home.ctx = &last;
    pb_arena_release(&home);
}

pb_status pb_session_set(pb_session *s, const char *key, const char *value)
{
    pb_setting which;
    char *copy = NULL;
    if (!s)
        return PB_EINVAL;
    pb_status status = pb_setting_find(&s->ctx, key ? key : "", &which);
    if (status == PB_OK && value && !(copy = pb_arena_text(&s->arena, value, strlen(value))))
        status = PB_ENOMEM;
    if (status == PB_OK)
        s->settings.text[which] = copy;
    return pbi_session_end(s, status);
}

void pb_session_stop(pb_session *s)
{
    if (s)
        atomic_store(&s->stop_asked, 1);
}

void pb_session_go_on(pb_session *s)
{
    if (s)
        atomic_store(&s->stop_asked, 0);
}

int pb_session_stopped(const pb_session *s) { return s ? (int)s->stopped : 0; }

int pb_session_status(const pb_session *s) { return s ? (int)s->status : PB_EINVAL; }
const char *pb_session_message(const pb_session *s) { return s ? s->message : ""; }
uint64_t pb_session_line(const pb_session *s) { return s ? s->error.line : 0; }
uint64_t pb_session_column(const pb_session *s) { return s ? s->error.column : 0; }
const char *pb_session_notes(const pb_session *s) { return s && s->notes.bytes ? s->notes.bytes : ""; }

const char *pb_session_text(const pb_session *s, uint64_t *length)
{
    if (length)
        *length = s ? s->text.length : 0;
    return s && s->text.bytes ? s->text.bytes : "";
}

void pb_session_progress(pb_session *s, char *what, uint64_t room, uint64_t *numbers)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    if (what && room)
        snprintf(what, (size_t)room, "%s", s->what);
    const uint64_t now[PB_PROGRESS_FIELDS] = {s->done, s->total, s->plans, s->peak, s->makespan};
    memcpy(numbers, now, sizeof now);
    pthread_mutex_unlock(&s->lock);
}

void pb_session_watch(pb_session *s, pb_watch watch, void *state)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->watch = watch;
    s->watch_state = state;
    pthread_mutex_unlock(&s->lock);
}

/* ---- internal ---- */

pb_status pbi_session_end(pb_session *s, pb_status status)
{
    if (status != PB_OK) {
        s->status = status;
        s->error = s->ctx.error;
        snprintf(s->message, sizeof s->message, "%s", s->error.message[0] ? s->error.message : pb_status_text(status));
    }
    s->ctx.error = (pb_error){.message = ""}; /* also clears errors of attempts that did not matter */
    return status;
}

pb_status pbi_session_refuse(pb_session *s, const char *sentence)
{
    return s ? pbi_session_end(s, pbi_fail(&s->ctx, PB_EINVAL, "%s", sentence)) : PB_EINVAL;
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

pb_status pbi_session_name(pb_session *s, pb_status status)
{
    if (status != PB_OK && s->settings.wrong < PB_SETTING_COUNT)
        pb_error_name(&s->ctx, pb_setting_name(s->settings.wrong));
    s->settings.wrong = PB_SETTING_COUNT;
    return status;
}

pb_status pbi_take_number(pb_session *s, pb_setting which, uint64_t default_value, uint64_t max, uint64_t *out)
{
    *out = default_value;
    return pbi_session_name(s, pb_settings_number(&s->ctx, &s->settings, which, max, out));
}

pb_status pbi_take_game(pb_session *s, const pb_graph *g, pb_game *game)
{
    *game = PB_GAME_DEFAULT(g);
    pb_status status = pb_settings_game(&s->ctx, &s->settings, &s->arena, game);
    if (status == PB_OK && game->kind == PB_GAME_TIMED) /* rows of moves have no times */
        return pbi_fail(&s->ctx, PB_EINVAL,
                        "game: the timed game is not available here; use the command `pebble plan --game timed`");
    return pbi_session_name(s, status);
}

pb_status pbi_take_request(pb_session *s, pb_request *request, pb_event_handler *handler)
{
    *request = PB_REQUEST_DEFAULT;
    request->read_files = true; /* the caller runs on this machine, with its own rights */
    *handler = (pb_event_handler){on_event, s};
    request->time_ns = s->left_ns;
    request->handler = handler;
    return pbi_session_name(s, pb_settings_request(&s->ctx, &s->settings, request));
}

pb_status pbi_session_begin(pb_session *s)
{
    pb_limits limits = {.timed = false};
    pb_status status = pbi_session_name(s, pb_settings_limits(&s->ctx, &s->settings, &limits));
    if (status != PB_OK)
        return status;
    bool time = limits.timed;
    s->left_ns = !time ? 0 : limits.seconds < 1e9 ? (uint64_t)(1e9 * limits.seconds) + 1 : (uint64_t)1e18;
    s->deadline_ns = time ? now_ns(NULL) + s->left_ns : 0;
    s->stopped = PB_GO_ON;
    s->ctx.memory_limit = (size_t)limits.memory;
    s->ctx.tick_limit = limits.ticks;
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
