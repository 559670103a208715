/* certificate.h -- what the replays of the games hand out. */
#ifndef PBI_CERTIFICATE_H
#define PBI_CERTIFICATE_H

#include "pebble/verify.h"

struct pb_certificate {
    const pb_game *game;
    const pb_moves *moves;
    pb_totals totals;
};

/* pb_verify of the timed game. */
pb_status pbi_verify_timed(pb_context *ctx, const pb_game *game, const pb_moves *moves, pb_arena *result,
                           pb_verdict *v);

#endif
