/* planned_reason.c -- why there is no plan, in words. */
#include "pebble/api.h"

#include <stdio.h>
#include <string.h>

/* "12,345 pebble", "1.5 GiB" */
static void amount(uint64_t value, const char *unit, char text[128])
{
    size_t used = pb_quantity_text(value, unit, text, 128);
    if (used < 128 && strcmp(unit, "byte") != 0)
        snprintf(text + used, 128 - used, " %.60s", unit);
}

void pb_planned_reason(const pb_planned *p, const pb_game *game, char *text, size_t room)
{
    const pb_graph *g = game->graph;
    char need[128], over[128];
    if (p->schedule.reason && p->schedule.reason[0]) {
        snprintf(text, room, "%s", p->schedule.reason);
    } else if (p->failed_need && p->failed_node != PB_NO_NODE) {
        amount(p->failed_need, g->size_unit, need);
        amount(p->failed_need - game->cap, g->size_unit, over);
        snprintf(text, room, "does not fit: move %llu (compute %.60s) needs %s, %s over the cap",
                 (unsigned long long)p->failed_step, pb_graph_name(g, p->failed_node), need, over);
    } else {
        snprintf(text, room, "%s",
                 p->schedule.outcome == PB_INFEASIBLE ? "no schedule fits the cap" : "nothing was found");
    }
}
