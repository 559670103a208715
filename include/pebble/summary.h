/* summary.h -- comparisons and graph information as records and JSON: the output of `pebble compare --json` and
 * `pebble info --json`, for the command, the server and other languages. */
#ifndef PEBBLE_SUMMARY_H
#define PEBBLE_SUMMARY_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fields of one row of a comparison, without the braces. `base` is the game if the row has none. */
pb_status pb_row_json_write(pb_context *ctx, const pb_plan_result *p, const pb_game *base, pb_sink sink);

/* ---- the minimum work of the reversible game, shown with a comparison ---- */

typedef struct pb_front_view {
    pb_front front;    /* no points: the graph is too large */
    uint64_t *bennett; /* work of Bennett's recursion in the memory of each point; UINT64_MAX: it does not fit */
} pb_front_view;

/* Takes a fraction of a second, and a fraction of the time limit (in nanoseconds from now; 0: none). */
pb_status pb_front_view_make(pb_context *ctx, const pb_graph *g, uint64_t time_ns, pb_arena *result,
                             pb_front_view *out);
/* Whether this plan is the point of the front. */
bool pb_front_is_point(const pb_plan_result *p, const pb_front_point *point);
/* Whether there are rows of the reversible game, for which a front can be shown. */
bool pb_front_matters(const pb_comparison *rows);

/* The document of `pebble compare --json`. `view` may be NULL. */
pb_status pb_comparison_json_write(pb_context *ctx, const pb_game *base, uint64_t program_peak,
                                   const pb_comparison *rows, const pb_front_view *view, pb_sink sink);

/* ---- graphs ---- */

/* What `pebble info` shows about a graph. */
typedef struct pb_info {
    const pb_graph *g;
    uint64_t program_peak, largest;
    pb_node largest_at;
    uint32_t given, byproducts, once, keep;
    pb_least_fact games[3];
    int game_count;
} pb_info;

/* Everything except the games. */
pb_status pb_info_make(pb_context *ctx, const pb_graph *g, pb_info *out);
/* Adds what is known about one more game: the proven minimum cap, and the smallest cap that a plan shows. A stop
 * ends planning; the result is then what is known so far. */
pb_status pb_info_add_game(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_info *info);
/* The fields of `pebble info --json`, without the braces. */
pb_status pb_info_json_write(pb_context *ctx, const pb_info *info, pb_sink sink);

#ifdef __cplusplus
}
#endif
#endif
