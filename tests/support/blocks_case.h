/* blocks_case.h -- random chains of blocks, what a list of actions needs, and the cheapest list by trying all of them.
 *
 * Written from the definitions in plan/blocks/blocks.h, with no code of the solvers.
 */
#ifndef BLOCKS_CASE_H
#define BLOCKS_CASE_H

#include "base/rng.h"
#include "plan/blocks/blocks.h"

enum { CASE_BLOCKS = 300, CASE_WAYS = 3 };

typedef struct blocks_case {
    pbi_blocks b;
    pbi_block block[CASE_BLOCKS + 1];
    pbi_block_way way[CASE_BLOCKS * CASE_WAYS];
    uint64_t value[CASE_BLOCKS + 1], gradient[CASE_BLOCKS + 1];
} blocks_case;

/* What a random chain is like. */
typedef struct blocks_like {
    uint32_t count, ways; /* of each block: 1 .. ways */
    uint64_t size, cost;  /* sizes and costs are 0 .. size, 0 .. cost, times the units */
    uint64_t size_unit, cost_unit;
    bool usual; /* every way reads the left value and the run */
} blocks_like;
void blocks_draw(pbi_rng *rng, const blocks_like *like, blocks_case *out);

/* The memory that holds everything: no plan needs more. */
uint64_t blocks_enough(const pbi_blocks *b);

/* Replays the actions: false (and *why) when one of them lacks something; else the most memory and all the work. */
bool blocks_replay(const pbi_blocks *b, const pbi_block_action *action, size_t count, uint64_t *peak, uint64_t *work,
                   const char **why);

/* The least work of any persistent plan, UINT64_MAX for none: at most 5 blocks of 3 ways. */
uint64_t blocks_search(const pbi_blocks *b, uint64_t memory);

#endif
