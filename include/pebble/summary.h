/* summary.h -- what comparisons and graphs come to, as records and JSON: what `pebble compare --json` and `pebble info --json`
 * print, for the command, the server and other languages. */
#ifndef PEBBLE_SUMMARY_H
#define PEBBLE_SUMMARY_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fields of one row of a comparison, without the braces. `base` is the game where the row has none. */
pb_status pb_row_json_write(pb_context *ctx, const pb_plan_result *p, const pb_game *base, pb_sink sink);

/* ---- the least work of the reversible game beside a comparison ---- */

typedef struct pb_front_view {
    pb_front front;    /* no points: the graph is too large for it */
    uint64_t *bennett; /* what Bennett's recursion takes in the memory of each point; UINT64_MAX: it does not fit */
} pb_front_view;

/* Takes a fraction of a second, and of a limit on the time (in nanoseconds from now; 0: none). */
pb_status pb_front_view_make(pb_context *ctx, const pb_graph *g, uint64_t time_ns, pb_arena *result,
                             pb_front_view *out);
/* Is this plan the point of the front? */
bool pb_front_is_point(const pb_plan_result *p, const pb_front_point *point);
/* Are there rows of the reversible game, which a front stands beside? */
bool pb_front_matters(const pb_comparison *rows);

/* The document of `pebble compare --json`. `view` may be NULL. */
pb_status pb_comparison_json_write(pb_context *ctx, const pb_game *base, uint64_t program_peak,
                                   const pb_comparison *rows, const pb_front_view *view, pb_sink sink);

/* ---- graphs ---- */

/* What `pebble info` tells of a graph. */
typedef struct pb_info {
    const pb_graph *g;
    uint64_t program_peak, largest;
    pb_node largest_at;
    uint32_t given, byproducts, once, keep;
    pb_least_fact games[3];
    int game_count;
} pb_info;

/* Everything but the games. */
pb_status pb_info_make(pb_context *ctx, const pb_graph *g, pb_info *out);
/* Adds what is known of one more game: the proved least cap, and the least that a plan shows. A stop is heard while plans are
 * made; what is known by then is the answer. */
pb_status pb_info_add_game(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_info *info);
/* The fields of `pebble info --json`, without the braces. */
pb_status pb_info_json_write(pb_context *ctx, const pb_info *info, pb_sink sink);

#ifdef __cplusplus
}
#endif
#endif
