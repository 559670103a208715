/* infeasible.c -- see infeasible.h. */
#include "api/pipeline/infeasible.h"

#include <stdio.h>
#include <string.h>

static void impossible_text(const pb_game *game, const pb_bounds *b, char *text, size_t room)
{
    const char *name = pb_graph_name(game->graph, b->impossible_at);
    if (game->kind == PB_GAME_TIERED && game->tier_count)
        snprintf(text, room, "the given values in slow memory, up to %.80s, exceed the cap of tier 1", name);
    else
        snprintf(text, room, "%.80s is given in slow memory, which the %s game does not have; use the tiered game",
                 name, pb_game_kind_name(game->kind));
}

static void least_text(const pb_game *game, const pb_bounds *b, char *text, size_t room)
{
    const char *unit = game->graph->size_unit, *why = b->least_why;
    char need[128], cap[128], what[100];
    pb_amount_text(b->least_cap + b->borrowed, unit, need, sizeof need);
    pb_amount_text(b->borrowed ? game->cap + game->borrow : game->cap, unit, cap, sizeof cap);
    if (strcmp(why, "best traversal") == 0)
        snprintf(what, sizeof what, "any order of this tree, with any recomputation,");
    else if (strcmp(why, "edge ranks") == 0 || strcmp(why, "exhaustive search") == 0)
        snprintf(what, sizeof what, "every plan");
    else if (b->least_at == PB_NO_NODE)
        snprintf(what, sizeof what, "the %s alone", why);
    else if (strcmp(why, "working set") == 0)
        snprintf(what, sizeof what, "computing %.70s alone", pb_graph_name(game->graph, b->least_at));
    else
        snprintf(what, sizeof what, "what must be in memory when %.40s is computed",
                 pb_graph_name(game->graph, b->least_at));
    snprintf(text, room, "%s needs %s; %s %s%s", what, need,
             b->borrowed ? "the cap and the borrowed memory are" : "the cap is", cap,
             game->borrow && !b->borrowed ? ", and borrowed values cannot be kept" : "");
}

bool pbi_infeasible_text(const pb_game *game, const pb_bounds *b, char *text, size_t room)
{
    if (b->impossible)
        impossible_text(game, b, text, room);
    else if (game->cap < b->least_cap)
        least_text(game, b, text, room);
    else if (b->over && b->over_at == PB_NO_NODE)
        snprintf(text, room, "an exhaustive search found that no plan fits the cap");
    else if (b->over)
        snprintf(
            text, room,
            "the values that are needed after %.80s is first computed can be neither kept nor recomputed under the cap",
            pb_graph_name(game->graph, b->over_at));
    else
        return false;
    return true;
}
