/* report.h -- plots, tables, explanations and exports of certified schedules. */
#ifndef PEBBLE_REPORT_H
#define PEBBLE_REPORT_H

#include "layout.h"
#include "metrics.h"
#include "sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pb_plot_style {
    uint32_t width, height; /* characters, at least 20 x 4 */
    bool color, unicode;
} pb_plot_style;
/* Memory over time as text, with the cap line and the peak. */
pb_status pb_plot_write(pb_context *ctx, const pb_certificate *c, const pb_plot_style *style, pb_sink sink);

/* Where the time of a plan goes. A value's first computation is forward or, in the backward pass of a training step or
 * adjoint code (pb_layout_backward), gradients; all later ones are recomputation. Work counts as time. */
typedef enum pb_phase {
    PB_PHASE_FORWARD,
    PB_PHASE_RECOMPUTE,
    PB_PHASE_UNCOMPUTE,
    PB_PHASE_STORES,
    PB_PHASE_LOADS,
    PB_PHASE_GRADIENTS,
    PB_PHASE_COUNT
} pb_phase;
typedef struct pb_phases {
    uint64_t time[PB_PHASE_COUNT], moves[PB_PHASE_COUNT];
    uint64_t total; /* the makespan */
    bool backward;  /* the graph has a backward pass; if not, gradients are 0 */
} pb_phases;
/* forward, recomputation, uncomputing, stores, loads, gradients */
const char *pb_phase_name(pb_phase phase);
pb_status pb_phases_make(pb_context *ctx, const pb_certificate *c, pb_phases *out);

/* The decisions that differ from keeping everything: "free X after Y, compute X again before Z". */
pb_status pb_decisions_write(pb_context *ctx, const pb_certificate *c, pb_sink sink);
/* One row per move: step, op, node, cost, memory during and after, cumulative work, flux. */
pb_status pb_steps_csv_write(pb_context *ctx, const pb_certificate *c, pb_sink sink);
/* The same as one JSON document, with names. */
pb_status pb_steps_json_write(pb_context *ctx, const pb_certificate *c, const pb_schedule *s, pb_sink sink);
/* The graph in DOT, coloured by the plan's treatment of each value. */
pb_status pb_plan_dot_write(pb_context *ctx, const pb_certificate *c, pb_sink sink);
/* Memory over time as a picture, stacked by group, with the cap, the peak and the time spent on recomputation. */
pb_status pb_plan_svg_write(pb_context *ctx, const pb_certificate *c, pb_sink sink);
/* Chrome/Perfetto trace: moves as slices on compute and transfer tracks, memory as counters. */
pb_status pb_trace_write(pb_context *ctx, const pb_certificate *c, pb_sink sink);
/* Adjoint chains in the remat and tiered games: Forward, Reverse, Copy and Move actions, one per line
 * (docs/adjoint.md).
 *   returns PB_EINVAL  another game or graph; ctx->error names the difference */
pb_status pb_actions_write(pb_context *ctx, const pb_certificate *c, pb_sink sink);
/* Pipelines: a line for each device with its steps in order, as torch's _PipelineScheduleRuntime._load_csv reads them
 * (docs/stages.md). ctx->log reports what cannot be expressed.
 *   returns PB_EINVAL  another graph; ctx->error names the difference */
pb_status pb_pipeline_csv_write(pb_context *ctx, const pb_certificate *c, pb_sink sink);

/* Why values are kept or recomputed. `node` PB_NO_NODE: the whole plan. */
pb_status pb_explain_text(pb_context *ctx, const pb_certificate *c, pb_node node, pb_sink sink);
pb_status pb_explain_json(pb_context *ctx, const pb_certificate *c, pb_node node, pb_sink sink);

/* The forms that a plan can be exported in: one table for the command, the server and the session. */
typedef struct pb_plan_form {
    const char *name, *summary;
    pb_status (*write)(pb_context *ctx, const pb_certificate *c, const pb_schedule *s, pb_sink sink);
} pb_plan_form;
const pb_plan_form *pb_plan_forms(uint32_t *count);
/* PB_EUNKNOWN with the closest name, or all of them. */
pb_status pb_plan_form_find(pb_context *ctx, const char *name, const pb_plan_form **out);

/* The metrics of a schedule as one JSON object, as its file has them. */
pb_status pb_metrics_json_write(pb_context *ctx, const pb_metrics *m, const pb_weights *weights, pb_sink sink);

/* ---- arrays that the page plays (docs/server.md describes the bytes); little-endian on every machine ---- */

/* Places, edges, sizes and costs. */
pb_status pb_player_layout_write(pb_context *ctx, const pb_graph *g, const pb_layout_options *options, pb_sink sink);
/* The same with groups closed, but those with `open[group]` (NULL: every one), and what its nodes stand for. */
pb_status pb_player_groups_write(pb_context *ctx, const pb_graph *g, const pb_layout_options *options, const bool *open,
                                 pb_sink sink);
/* Names of nodes, then of groups. */
pb_status pb_player_names_write(pb_context *ctx, const pb_graph *g, pb_sink sink);
/* The moves, with memory and time of each.
 *   returns PB_ERANGE   2^32-1 moves or more */
pb_status pb_player_frames_write(pb_context *ctx, const pb_certificate *c, pb_sink sink);
/* The same for `attempt` of a strategy without a plan: its last move exceeds the cap, and needs `need`. */
pb_status pb_player_attempt_write(pb_context *ctx, const pb_game *game, const pb_moves *attempt, uint64_t need,
                                  pb_sink sink);

/* ---- sweeps ---- */

/* Sweeps (docs/sweep.md). One row per cell, with or without the header line. */
pb_status pb_sweep_csv_write(pb_context *ctx, const pb_sweep *s, bool names, pb_sink sink);
/* One document for all of them: pebble-sweep/1. */
pb_status pb_sweep_json_write(pb_context *ctx, const pb_sweep *const *sweeps, uint32_t count, pb_sink sink);
/* Overhead over the cap, one panel per sweep: strategies as lines, the proved infeasible region shaded, knee and
 * flips marked. If there are several weights, only the first are drawn. */
pb_status pb_sweep_svg_write(pb_context *ctx, const pb_sweep *const *sweeps, uint32_t count, pb_sink sink);

#ifdef __cplusplus
}
#endif
#endif
