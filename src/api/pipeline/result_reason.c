/* result_reason.c -- why there is no plan, as text. */
#include "pebble/api.h"

#include <stdio.h>

void pb_result_reason(const pb_plan_result *p, const pb_game *game, char *text, size_t room)
{
    const pb_graph *g = game->graph;
    char need[128], cap[128];
    if (p->schedule.reason && p->schedule.reason[0]) {
        snprintf(text, room, "%s", p->schedule.reason);
    } else if (p->failed_need && p->failed_node != PB_NO_NODE) {
        pb_amount_text(p->failed_need, g->size_unit, need, sizeof need);
        pb_amount_text(game->cap, g->size_unit, cap, sizeof cap);
        snprintf(text, room, "does not fit: move %llu (compute %.60s) needs %s, over the cap of %s",
                 (unsigned long long)p->failed_step, pb_graph_name(g, p->failed_node), need, cap);
    } else {
        snprintf(text, room, "%s",
                 p->schedule.outcome == PB_INFEASIBLE ? "no schedule fits the cap" : "no plan was found");
    }
}
