/* plan_print.c -- see plan_print.h. */
#include "plan_print.h"

#include "common/figures.h"
#include "common/output.h"

void note_policy(app *a, const pb_schedule *s)
{
    char text[2 * FIGURE_ROOM];
    if (!s->policy_asked || s->policy || !s->has_metrics)
        return;
    policy_use_text(s->policy_asked, false, text);
    app_note(a, "%s; choose one with --strategy", text);
}

bool wants_plot(const app *a)
{
    if (app_option(a, OPT_NO_PLOT) || app_option(a, OPT_QUIET))
        return false;
    return app_option(a, OPT_PLOT) || a->terminal;
}

pb_status print_plot(app *a, const pb_certificate *c, int height)
{
    pb_plot_style style = {
        .width = (uint32_t)a->width, .height = (uint32_t)height, .color = a->color, .unicode = a->unicode};
    return pb_plot_write(&a->ctx, c, &style, stream_sink(stdout));
}
