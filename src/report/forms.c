/* forms.c -- the forms of a plan that other programs read, in one table. */
#include "base/nearest.h"
#include "pebble/report.h"

#include <string.h>

static pb_status write_decisions(pb_context *ctx, const pb_certificate *c, const pb_schedule *s, pb_sink sink)
{
    (void)s;
    return pb_decisions_write(ctx, c, sink);
}

static pb_status write_csv(pb_context *ctx, const pb_certificate *c, const pb_schedule *s, pb_sink sink)
{
    (void)s;
    return pb_steps_csv_write(ctx, c, sink);
}

static pb_status write_dot(pb_context *ctx, const pb_certificate *c, const pb_schedule *s, pb_sink sink)
{
    (void)s;
    return pb_plan_dot_write(ctx, c, sink);
}

static pb_status write_svg(pb_context *ctx, const pb_certificate *c, const pb_schedule *s, pb_sink sink)
{
    (void)s;
    return pb_plan_svg_write(ctx, c, sink);
}

static pb_status write_trace(pb_context *ctx, const pb_certificate *c, const pb_schedule *s, pb_sink sink)
{
    (void)s;
    return pb_trace_write(ctx, c, sink);
}

static pb_status write_actions(pb_context *ctx, const pb_certificate *c, const pb_schedule *s, pb_sink sink)
{
    (void)s;
    return pb_actions_write(ctx, c, sink);
}

static pb_status write_pipeline(pb_context *ctx, const pb_certificate *c, const pb_schedule *s, pb_sink sink)
{
    (void)s;
    return pb_pipeline_csv_write(ctx, c, sink);
}

static pb_status write_explanation(pb_context *ctx, const pb_certificate *c, const pb_schedule *s, pb_sink sink)
{
    (void)s;
    return pb_explain_text(ctx, c, PB_NO_NODE, sink);
}

static const pb_plan_form forms[] = {
    {"decisions", "what differs from keeping everything, one line each", write_decisions},
    {"csv", "one row for each move", write_csv},
    {"json", "the moves with names and memory as JSON", pb_steps_json_write},
    {"dot", "the graph in DOT, coloured by the plan", write_dot},
    {"svg", "memory over time as a picture, stacked by group", write_svg},
    {"trace", "a trace for Perfetto and Chrome", write_trace},
    {"actions", "the actions of an adjoint code, one line each", write_actions},
    {"torch-pipeline", "a pipeline's steps by device, for torch", write_pipeline},
    {"explain", "why values are kept or recomputed, as text", write_explanation},
};
enum { FORM_COUNT = sizeof forms / sizeof *forms };

const pb_plan_form *pb_plan_forms(uint32_t *count)
{
    *count = FORM_COUNT;
    return forms;
}

pb_status pb_plan_form_find(pb_context *ctx, const char *name, const pb_plan_form **out)
{
    const char *names[FORM_COUNT];
    for (int i = 0; i < FORM_COUNT; i++) {
        names[i] = forms[i].name;
        if (strcmp(names[i], name) == 0) {
            *out = &forms[i];
            return PB_OK;
        }
    }
    return pbi_unknown_name(ctx, "form", name, names, FORM_COUNT);
}
