/* division.h -- trees of the reversible game cut into parts, parts into parts, and the resulting plans.
 *
 * A *division* is a connected piece of a tree, ending with its root: a single place, or a list of divisions each of
 * whose roots is read by a later one. To *make* it: make part by part, keeping each root, then unmake all but the
 * last, backwards. Unmaking is the reverse. A piece that fits into memory as a whole is made place by place instead:
 * nothing is cheaper.
 *
 * Cut at the edge of the highest rank into two, and so on, a tree needs the fewest pebbles. Lists of many parts need
 * more and recompute less: a place is computed and removed at most twice for each list that it is not in the last
 * part of.
 */
#ifndef PBI_PLAN_REVERSIBLE_TREE_DIVISION_H
#define PBI_PLAN_REVERSIBLE_TREE_DIVISION_H

#include "plan/reversible/tree/trees.h"

enum { PBI_MAX_LEVELS = 8 };

typedef struct pbi_division {
    uint32_t first, count;     /* of its parts; none: a single place */
    uint32_t root;             /* place */
    uint32_t from, to;         /* its places in pbi_divisions.place */
    uint64_t sizes, workspace; /* sum of all its sizes, and the largest workspace */
    uint64_t min_memory;       /* memory that it needs if made this way */
} pbi_division;

typedef struct pbi_divisions {
    const pbi_trees *trees;
    pbi_division *item; /* the first trees->count are the places */
    uint32_t count;
    uint32_t *part;
    uint32_t part_count;
    uint32_t *place; /* every division is a range of it, inputs first */
    uint32_t *top;   /* of each tree */
    uint32_t ranks;  /* inside blocks */
} pbi_divisions;

/* Blocks of at least `block` places are cut inside by ranks; lists of them, lists of lists and so on, `levels` deep,
 * make up each tree. The parts of a list are of one size, or smaller towards the end, because the roots of those
 * before take memory: that suits chains. No levels: by ranks alone, and the other fields are ignored. */
typedef struct pbi_shape {
    uint32_t levels;
    uint64_t block;
    bool even;
    const uint32_t *cuts; /* without levels: NULL, or the order of all cuts, the first highest */
} pbi_shape;

/* Memory from `arena`. */
pb_status pbi_divisions_make(pb_context *ctx, const pbi_trees *trees, const pbi_shape *shape, pb_arena *arena,
                             pbi_divisions *out);

/* Memory for all trees, one after the other. */
uint64_t pbi_divisions_min_memory(const pbi_divisions *d);

/* Computes one tree after the other, with `budget` memory in addition to what is always in use. PB_OK also when stuck.
 * O(moves). */
pb_status pbi_divisions_play(const pbi_divisions *d, pbi_reversible *r, uint64_t budget, pb_arena *arena);

#endif
