/* parts.h -- what the solvers of blocks.h share: the needs of single actions, and the list of them.
 *
 * A segment (i, j) is blocks i+1 .. j. Its memory counts all its own values: value i, gradient j, value j while it
 * is resident, and everything in between.
 */
#ifndef PBI_PLAN_BLOCKS_PARTS_H
#define PBI_PLAN_BLOCKS_PARTS_H

#include "base/checked.h"
#include "plan/blocks/blocks.h"

/* May the left value be freed, or is it needed afterwards? Is the right value resident? */
enum { PBI_FREE, PBI_KEEP };
enum { PBI_BARE, PBI_HELD };

/* The states that differ at all: 1 or 2 for either end. With 1, the other state is treated as PBI_FREE or PBI_BARE. */
typedef struct pbi_block_states {
    unsigned lefts, rights;
} pbi_block_states;
pbi_block_states pbi_blocks_states(const pbi_blocks *b);

/* No plan has more work; UINT64_MAX when that could exceed 64 bits. */
uint64_t pbi_blocks_max_work(const pbi_blocks *b);
/* PB_ERANGE when the work of some plan could exceed 62 bits. */
pb_status pbi_blocks_check(pb_context *ctx, const pbi_blocks *b);

static inline const pbi_block_way *pbi_block_way_of(const pbi_blocks *b, uint32_t block, uint32_t way)
{
    return &b->way[b->block[block].way + way];
}

/* Gradient j, and value j if it is resident. */
static inline uint64_t pbi_block_right(const pbi_blocks *b, uint32_t j, unsigned right)
{
    return right == PBI_HELD ? pbi_add_saturated(b->gradient[j], b->value[j]) : b->gradient[j];
}

/* Block k as part of a plain run that began at value i, which is held. */
static inline uint64_t pbi_block_run_need(const pbi_blocks *b, uint32_t i, uint32_t k, uint32_t j, unsigned right)
{
    uint64_t own = k == i + 1 ? b->block[k].run_keeping : b->block[k].through;
    return pbi_add_saturated(pbi_add_saturated(b->value[i], own), pbi_block_right(b, j, right));
}

/* The forward part of block i+1 in a way. */
static inline uint64_t pbi_block_forward_need(const pbi_blocks *b, uint32_t i, const pbi_block_way *w, uint32_t j,
                                              unsigned right)
{
    return pbi_add_saturated(pbi_add_saturated(b->value[i], w->forward), pbi_block_right(b, j, right));
}

/* Value i, if it is kept until the backward part of block i+1. */
static inline uint64_t pbi_block_left(const pbi_blocks *b, uint32_t i, const pbi_block_way *w, unsigned left)
{
    return left == PBI_KEEP || w->reads_left ? b->value[i] : 0;
}

/* Memory held from the forward part of block i+1 to its backward part. */
static inline uint64_t pbi_block_held(const pbi_blocks *b, uint32_t i, const pbi_block_way *w, unsigned left)
{
    return pbi_add_saturated(w->kept, pbi_block_left(b, i, w, left));
}

static inline uint64_t pbi_block_back_need(const pbi_blocks *b, uint32_t i, const pbi_block_way *w, unsigned left)
{
    return pbi_add_saturated(w->backward, pbi_block_left(b, i, w, left));
}

/* Does a segment of one block need its forward part? Not if all that is read is resident. */
static inline bool pbi_block_runs(const pbi_block_way *w, unsigned right)
{
    return w->reads_run || (w->reads_right && right == PBI_BARE);
}

/* A segment of one block, in a way: what it needs and costs. */
typedef struct pbi_block_single {
    uint64_t need, cost;
} pbi_block_single;
pbi_block_single pbi_block_alone(const pbi_blocks *b, uint32_t i, const pbi_block_way *w, unsigned left,
                                 unsigned right);

/* Running block i+1 in a way before anything else of segment (i, j), and its backward part at the end: the max of
 * both. */
static inline uint64_t pbi_block_way_need(const pbi_blocks *b, uint32_t i, const pbi_block_way *w, uint32_t j,
                                          unsigned left, unsigned right)
{
    uint64_t there = pbi_block_forward_need(b, i, w, j, right), back = pbi_block_back_need(b, i, w, left);
    return there > back ? there : back;
}

/* The plan being written. */
typedef struct pbi_block_list {
    const pbi_blocks *b;
    pb_arena *arena;
    pbi_block_action *action;
    size_t count, room;
    uint64_t work;
} pbi_block_list;
pb_status pbi_block_list_run(pbi_block_list *list, uint32_t from, uint32_t to);
pb_status pbi_block_list_way(pbi_block_list *list, uint32_t block, uint32_t way);
pb_status pbi_block_list_back(pbi_block_list *list, uint32_t block, uint32_t way);

#endif
