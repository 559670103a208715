/* stores.c -- sweeps in a store for other languages; see bindings.h. */
#include "api/session/session.h"

#include "base/context.h"
#include "pebble/store.h"

#include <inttypes.h>
#include <stdio.h>

static pb_status store_open(pb_session *s, const char *path, bool create, pb_store **out)
{
    return pb_store_open(&s->ctx, path, create, &s->arena, out);
}

pb_status pb_session_store_add(pb_session *s, const pb_graph *g, const char *path)
{
    pb_store *store;
    pb_store_sweep added;
    if (!s)
        return PB_EINVAL;
    pb_status status = pbi_session_begin(s);
    if (status == PB_OK)
        status = store_open(s, path, true, &store);
    if (status != PB_OK)
        return pbi_session_finish(s, status);
    status = pbi_session_name(s, pb_store_add(&s->ctx, store, g, &s->settings, &added));
    pb_store_close(store);
    if (status == PB_OK)
        status = pbi_session_say(s, added.id);
    return pbi_session_finish(s, status);
}

pb_status pb_session_store_work(pb_session *s, const char *path, const char *only, uint32_t threads, bool wait)
{
    pb_store *store;
    pb_work_report report = {.end = PB_WORK_NONE_LEFT};
    char text[200];
    if (!s)
        return PB_EINVAL;
    pb_status status = pbi_session_begin(s);
    if (status == PB_OK)
        status = store_open(s, path, false, &store);
    if (status != PB_OK)
        return pbi_session_finish(s, status);
    const pb_work_options how = {.threads = threads, .time_ns = s->left_ns, .only = only, .wait = wait};
    s->ctx.memory_limit = 0; /* cells have their own */
    status = pb_store_work(&s->ctx, store, &how, &report);
    pb_store_close(store);
    if (status == PB_OK) {
        snprintf(text, sizeof text,
                 "{\"done\":%" PRIu64 ",\"returned\":%" PRIu64 ",\"taken_over\":%" PRIu64 ",\"failed\":%" PRIu64 "}",
                 report.done, report.returned, report.taken_over, report.given_up);
        status = pbi_session_say(s, text);
    }
    if (report.end == PB_WORK_INTERRUPT)
        s->ctx.stopped = PB_STOP_INTERRUPT;
    return pbi_session_finish(s, status);
}

pb_status pb_session_store_collect(pb_session *s, const char *path, const char *id, const pb_sweep **out)
{
    pb_store *store;
    uint64_t missing;
    if (!s)
        return PB_EINVAL;
    pb_sweep *sweep = pb_arena_zero(&s->arena, 1, sizeof *sweep);
    pb_status status = sweep ? pbi_session_begin(s) : PB_ENOMEM;
    if (status == PB_OK)
        status = store_open(s, path, false, &store);
    if (status != PB_OK)
        return pbi_session_finish(s, status);
    status = pb_store_collect(&s->ctx, store, id, &s->arena, sweep, &missing);
    pb_store_close(store);
    if (status == PB_OK)
        *out = sweep;
    return pbi_session_finish(s, status);
}
