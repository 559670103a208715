/* maker.h -- how the ways of a chain of blocks are found: one block at a time, lists of what is computed for it.
 *
 * Only for the files of this method: lists.c builds lists and replays them, ways.c chooses what to keep, alike.c
 * copies the ways to identical blocks.
 */
#ifndef PBI_PLAN_BLOCKS_MAKER_H
#define PBI_PLAN_BLOCKS_MAKER_H

#include "plan/blocks/ways.h"

#define PBI_BLOCK_NEVER UINT32_MAX
#define PBI_BLOCK_STAYS (UINT32_MAX - 1)

enum { PBI_BLOCKS_KNOWN = 256 }; /* number of different blocks that are remembered */

/* A network repeats its blocks. All that a block's ways depend on, in words: equal words, equal ways. */
typedef struct pbi_block_portrait {
    uint64_t *word;
    size_t count;
    uint64_t hash;
    uint32_t block;
} pbi_block_portrait;

typedef struct pbi_block_maker {
    pb_context *ctx;
    const pb_graph *g;
    const pbi_block_chain *c;
    pb_arena *arena;
    uint64_t *gradient; /* by cut: memory of the values that cross it in the backward pass */
    uint32_t *lowest;   /* per backward value: the lowest block that reads it, 0 if it is kept, else ..NEVER */

    uint32_t *last;   /* per node, of the list being replayed: where it is read last; or ..STAYS, ..NEVER */
    uint8_t *have;    /* per node, while a list is built: it is marked */
    pb_node *touched; /* nodes whose `last` or `have` is set */
    uint32_t touched_count;
    pb_node *stack;

    uint32_t block;      /* the current block */
    pb_node left, right; /* its cuts */
    bool left_counts;    /* its left value is part of the memory, and is freed after its last use */
    pb_node *read;       /* values of the block that its backward part reads */
    uint32_t read_count;

    uint32_t *position; /* per node: its place among the forward or the backward nodes */
    uint64_t *word;     /* the description of the current block */
    size_t word_count, word_room;
    pbi_block_portrait *known;
    uint32_t known_count;

    pbi_block_nodes *plain, *forward, *backward;
    pbi_block_way *way;
    size_t way_count, way_room, forward_room, backward_room;
    pb_node *event;
    size_t event_count, event_room;
} pbi_block_maker;

/* ---- lists ---- */

/* Is it a forward value of the current block? */
bool pbi_block_is_here(const pbi_block_maker *m, pb_node u);
/* Its size; 0 for values that are always resident. */
uint64_t pbi_block_size(const pbi_block_maker *m, pb_node u);
uint32_t pbi_block_parts(const pb_graph *g, pb_node v);
pb_status pbi_block_add_event(pbi_block_maker *m, pb_node v);
/* v is read last at this place of the list; or PBI_BLOCK_STAYS. */
void pbi_block_note(pbi_block_maker *m, pb_node v, uint32_t last);
/* Max memory during a list, from `memory` at its start. Kept values must have been noted. */
uint64_t pbi_block_replay(pbi_block_maker *m, pbi_block_nodes list, uint64_t memory);
/* Marks a node while a list is built; drops all marks. */
void pbi_block_have(pbi_block_maker *m, pb_node v);
void pbi_block_forget(pbi_block_maker *m);
/* Does the node, or the whole forward part, run whatever is kept? */
bool pbi_block_always_runs(const pbi_block_maker *m, pb_node v);
bool pbi_block_must_run(const pbi_block_maker *m);
pb_status pbi_block_list_forward(pbi_block_maker *m, pbi_block_nodes *out);
pb_status pbi_block_list_backward(pbi_block_maker *m, pbi_block_nodes *out);
/* Work of a list; does it read u? */
uint64_t pbi_block_work(const pbi_block_maker *m, pbi_block_nodes list);
bool pbi_block_reads(const pbi_block_maker *m, pbi_block_nodes list, pb_node u);

/* ---- ways ---- */

/* Room for one more. */
bool pbi_block_grow(pbi_block_maker *m);

/* ---- blocks that are alike ---- */

/* The block identical to the current one, 0 for none; a new description is remembered. */
uint32_t pbi_block_find_alike(pbi_block_maker *m, pb_status *status);
/* Copies the ways of block `other` to the current block. */
pb_status pbi_block_copy(pbi_block_maker *m, const pbi_block *from, uint32_t other, pbi_block *to);

#endif
