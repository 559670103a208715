/* prop_layout.c -- random graphs are drawn as layout.h promises, the same each time, in every form. */
#include "pebble/full.h"
#include "support/law.h"
#include "support/layout_check.h"

#include <string.h>

static bool same(const pb_graph *g, const pb_layout *a, const pb_layout *b)
{
    return a->kind == b->kind && a->width == b->width && a->height == b->height &&
           memcmp(a->x, b->x, g->node_count * sizeof *a->x) == 0 &&
           memcmp(a->y, b->y, g->node_count * sizeof *a->y) == 0;
}

static bool drawing_fails(law_bench *b)
{
    const pb_graph *g = b->game.graph;
    const pb_graph *whole = g;
    for (int form = 0; form < 4; form++) {
        pb_layout_options options = {.lanes = form & 1 ? PB_LANES_NEVER : PB_LANES_AUTO};
        pb_layout_groups groups;
        char why[300];
        if (form & 2) {
            if (pb_layout_close(&b->ctx, whole, options.lanes, NULL, &b->arena, &groups) != PB_OK)
                return law_broken(b, "%s", b->ctx.error.message);
            if (!layout_groups_are_right(whole, &groups, NULL, why, sizeof why))
                return law_broken(b, "form %d: %s", form, why);
            options.lane = groups.lane;
            options.lanes = PB_LANES_NEVER;
            g = groups.graph;
        }
        pb_layout one, two;
        if (pb_layout_make(&b->ctx, g, &options, &b->arena, &one) != PB_OK ||
            pb_layout_make(&b->ctx, g, &options, &b->arena, &two) != PB_OK)
            return law_broken(b, "%s", b->ctx.error.message);
        if (!layout_is_right(g, &one, why, sizeof why))
            return law_broken(b, "form %d: %s", form, why);
        if (!same(g, &one, &two))
            return law_broken(b, "form %d: another layout when run again", form);
    }
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 4000);
    law_run("graphs are drawn as promised", drawing_fails, PB_GAME_ALL, cases);
    law_run_large("larger graphs are drawn as promised", drawing_fails, PB_GAME_ALL, cases);
    return law_finish();
}
