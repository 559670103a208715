/* line.h -- a chain of the reversible game as a line of places, and schedules as a tree of cuts.
 *
 * Place 0 is what exists before the start (a given node, or nothing); places 1..count are the needed nodes. To
 * *make* `to` from `from`, which is resident, means: afterwards `to` is resident as well, and nothing between. Cut
 * at a place: make it, make `to` from it, unmake it; and so on down to single steps. Unmaking is the reverse.
 */
#ifndef PBI_PLAN_REVERSIBLE_LINE_LINE_H
#define PBI_PLAN_REVERSIBLE_LINE_LINE_H

#include "plan/reversible/units.h"

typedef struct pbi_line {
    const pb_graph *g;
    pb_node *node; /* place p is node[p - 1] */
    uint32_t count;
    uint32_t *stop; /* places that are kept at the end, ascending; the last is `count` */
    uint32_t stop_count;
    uint64_t budget;                /* memory in addition to what is always in use */
    uint64_t size, cost, workspace; /* the largest */
    bool equal_sizes, equal_costs;
    bool overwrites; /* some node may be computed in place: schedules with in-place moves are not considered */
} pbi_line;

/* Gives up, with *is_line false, on a graph that is neither a chain nor empty. */
pb_status pbi_line_read(const pb_game *game, pb_arena *scratch, pbi_plan *plan, pbi_line *line, bool *is_line);

/* Where to cut, and the levels of the three parts: the chooser defines what a level means. */
typedef struct pbi_cut {
    uint32_t at;                /* from < at < to */
    uint64_t make, reach, back; /* levels: for making `at` from `from`, `to` from `at`, and for unmaking `at` */
} pbi_cut;
typedef pbi_cut (*pbi_cutter)(const void *state, uint32_t from, uint32_t to, uint64_t level);

typedef struct pbi_line_task {
    uint64_t level;
    uint32_t from, to;
    bool undo;
} pbi_line_task;

typedef struct pbi_line_player {
    const pbi_line *line;
    pbi_reversible *r;
    pbi_cutter cut;
    const void *state;
    pb_arena *arena;
    pbi_line_task *task; /* starts as NULL */
    size_t depth, room;
} pbi_line_player;

/* Make `to` from `from`. PB_OK also when stuck. O(moves). */
pb_status pbi_line_play(pbi_line_player *p, uint32_t from, uint32_t to, uint64_t level);

#endif
