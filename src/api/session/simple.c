/* simple.c -- the calls of pebble.h, on top of the session: load graphs and save plans by path. */
#include "api/session/session.h"

#include "base/context.h"

#include <stdio.h>
#include <string.h>

/* Puts the place in front of the error message, as compilers do. */
static void name_place(pb_session *s, const char *path)
{
    char sentence[sizeof s->ctx.error.message];
    pb_error *e = &s->ctx.error;
    snprintf(sentence, sizeof sentence, "%s", e->message);
    if (e->line)
        snprintf(e->message, sizeof e->message, "%.120s:%llu:%llu: %.330s", path, (unsigned long long)e->line,
                 (unsigned long long)e->column, sentence);
    else
        snprintf(e->message, sizeof e->message, "%.120s: %.380s", path, sentence);
}

pb_status pb_load_graph(pb_session *s, const char *path, const pb_graph **out)
{
    pb_file_in in;
    if (!s || !path || !out)
        return pbi_session_refuse(s, "pb_load_graph needs a path, and a pointer for the graph");
    pb_status status = pb_file_open(&s->ctx, path, &in);
    if (status != PB_OK)
        return pbi_session_end(s, status);
    status = pbi_session_read(s, pb_file_source(&in), path, out);
    if (status != PB_OK && !in.error && s->settings.wrong == PB_SETTING_COUNT && s->ctx.error.message[0])
        name_place(s, path);
    s->settings.wrong = PB_SETTING_COUNT;
    return pbi_session_finish(s, pb_file_close(&s->ctx, path, &in, status));
}

pb_status pb_make_plan(pb_session *s, const pb_graph *g, const pb_plan_result **out)
{
    const pb_plan_result *p;
    if (!s || !g || !out)
        return pbi_session_refuse(s, "pb_make_plan needs a graph, and a pointer for the plan");
    pb_status status = pb_session_plan(s, g, NULL, &p);
    if (status != PB_OK)
        return status;
    *out = p;
    if (p->certificate)
        return PB_OK;
    char reason[sizeof s->message];
    status = pbi_plan_reason(s, p, reason, sizeof reason);
    pbi_session_end(s, status == PB_OK ? PB_ENOPLAN : status);
    if (status == PB_OK && reason[0])
        snprintf(s->message, sizeof s->message, "%s", reason);
    return status == PB_OK ? PB_ENOPLAN : status;
}

pb_status pb_save_plan(pb_session *s, const pb_plan_result *p, const char *path)
{
    pb_file_out file;
    pb_arena scratch;
    if (!s || !p || !path)
        return pbi_session_refuse(s, "pb_save_plan needs a plan and a path");
    if (!p->certificate)
        return pbi_session_refuse(s, "there is no plan to save; raise the cap or the time limit");
    pb_format format = pb_format_of_path(path) == PB_FORMAT_BINARY ? PB_FORMAT_BINARY : PB_FORMAT_JSON;
    pb_arena_init(&scratch, &s->ctx);
    pb_status status = pb_file_create(&s->ctx, path, &scratch, NULL, &file);
    if (status == PB_OK)
        status = pb_file_finish(&s->ctx, &file, pb_schedule_write(&s->ctx, &p->schedule, format, pb_file_sink(&file)));
    pb_arena_release(&scratch);
    return pbi_session_end(s, status);
}
