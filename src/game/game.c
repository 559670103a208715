/* game.c -- names of games. */
#include "pebble/game.h"

#include <string.h>

const char *pb_game_kind_name(pb_game_kind kind)
{
    switch (kind) {
    case PB_GAME_REMAT: return "remat";
    case PB_GAME_REVERSIBLE: return "reversible";
    case PB_GAME_TIERED: return "tiered";
    }
    return "unknown";
}

bool pb_game_kind_parse(const char *name, pb_game_kind *out)
{
    for (unsigned kind = 1; kind <= PB_GAME_TIERED; kind *= 2)
        if (strcmp(name, pb_game_kind_name((pb_game_kind)kind)) == 0) {
            *out = (pb_game_kind)kind;
            return true;
        }
    return false;
}
