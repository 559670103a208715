/* game.c -- names of games and objectives. */
#include "pebble/game.h"

#include <string.h>

const char *pb_game_kind_name(pb_game_kind kind)
{
    switch (kind) {
    case PB_GAME_REMAT: return "remat";
    case PB_GAME_REVERSIBLE: return "reversible";
    case PB_GAME_TIERED: return "tiered";
    case PB_GAME_TIMED: return "timed";
    }
    return "unknown";
}

bool pb_game_kind_parse(const char *name, pb_game_kind *out)
{
    for (unsigned kind = 1; kind <= PB_GAME_TIMED; kind *= 2)
        if (strcmp(name, pb_game_kind_name((pb_game_kind)kind)) == 0) {
            *out = (pb_game_kind)kind;
            return true;
        }
    return false;
}

static const char *const objectives[] = {"makespan", "span"};

const char *pb_objective_name(pb_objective objective)
{
    return (unsigned)objective <= PB_OBJECTIVE_SPAN ? objectives[objective] : "unknown";
}

bool pb_objective_parse(const char *name, pb_objective *out)
{
    for (unsigned i = 0; i <= PB_OBJECTIVE_SPAN; i++)
        if (strcmp(name, objectives[i]) == 0) {
            *out = (pb_objective)i;
            return true;
        }
    return false;
}
