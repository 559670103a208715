/* plan_print.c -- see plan_print.h. */
#include "plan_print.h"

#include "common/output.h"
#include "table.h"

#include <string.h>

enum { EXACT = 15 }; /* longer costs with decimals are rounded */

void note_policy(app *a, const pb_schedule *s)
{
    char text[2 * FIGURE_ROOM];
    if (!s->policy_asked || s->policy || !s->has_metrics)
        return;
    policy_use_text(s->policy_asked, false, text);
    app_note(a, "%s", text);
}

void flux_text(pb_u128 flux, const pb_graph *g, int digits, char text[FIGURE_ROOM])
{
    if (!pb_flux_text(flux, g->size_unit, g->cost_unit, text, FIGURE_ROOM))
        short_number(flux, digits, text);
}

void weighted_text(const pb_schedule *s, const pb_graph *g, int digits, char text[FIGURE_ROOM])
{
    char exact[PB_COST_TEXT];
    pb_u128 cost = s->metrics.cost;
    bool time = pb_unit_is_time(g->cost_unit);
    double value = pb_u128_double(cost);
    for (uint32_t i = 0; i < s->weights.digits; i++)
        value /= 10;
    pb_cost_text(cost, &s->weights, exact);
    bool small = s->weights.digits && value < 1000;
    if (!s->weights.digits)
        short_cost(cost, g->cost_unit, digits, text);
    else if (strlen(exact) <= EXACT && (small || !time))
        snprintf(text, FIGURE_ROOM, "%s%s%s", exact, time ? " " : "", time ? g->cost_unit : "");
    else if (small)
        snprintf(text, FIGURE_ROOM, "%.4g%s%s", value, time ? " " : "", time ? g->cost_unit : "");
    else if (value < 1e19)
        short_cost((pb_u128){0, (uint64_t)(value + 0.5)}, g->cost_unit, digits, text);
    else
        snprintf(text, FIGURE_ROOM, "%.3e", value);
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
