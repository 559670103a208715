/* untimed.c -- see untimed.h. */
#include "game/untimed.h"

#include "base/context.h"

pb_status pbi_untimed(pb_context *ctx, const pb_game *game, const char *what)
{
    if (game->kind != PB_GAME_TIMED)
        return PB_OK;
    return pbi_fail(
        ctx, PB_EINVAL,
        "%s: not available for the timed game, in which several moves happen at once; use the remat or "
        "tiered game. Timed plans work with plan, run, verify, explain, and export as trace, csv or decisions",
        what);
}
