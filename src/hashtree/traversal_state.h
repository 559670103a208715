/* traversal_state.h -- shared by the parts of a traversal: slots, stacks of hashes, and the queue they write to. */
#ifndef PBI_TRAVERSAL_STATE_H
#define PBI_TRAVERSAL_STATE_H

#include "pebble/hashtree.h"

enum { PBI_LEVELS = PB_TRAVERSAL_MAX_HEIGHT + 1 };
#define PBI_NO_SLOT UINT32_MAX
#define PBI_NO_LEVEL 255u

/* A hash that waits on a stack. */
typedef struct pbi_tail {
    uint32_t slot;
    uint8_t level;
} pbi_tail;

/* Computes one node of the tree from its leaves, from left to right. */
typedef struct pbi_treehash {
    uint64_t leaf;  /* the next to compute */
    uint8_t target; /* level of the node */
    bool busy;      /* started or to be started, and not done */
    uint8_t count;
    pbi_tail tail[PBI_LEVELS + 1]; /* levels decrease from the bottom; only the two on top may be equal */
} pbi_treehash;

/* fractal: levels start[i] .. start[i + 1] - 1 are band i; right nodes of its present and next subtree are stored. */
typedef struct pbi_bands {
    uint32_t count, start[PBI_LEVELS + 1];
    uint8_t band[PBI_LEVELS];   /* by level */
    uint32_t right[PBI_LEVELS]; /* by level: where its right nodes begin */
    uint32_t stored;            /* in all */
} pbi_bands;
void pbi_fractal_divide(uint32_t height, uint32_t k, pbi_bands *b);
/* The lowest bands with which an output takes no more units than published. */
uint32_t pbi_fractal_usual_k(uint32_t height);

typedef enum pbi_phase { PBI_BUILD, PBI_UPDATE, PBI_WORK, PBI_OUTPUT, PBI_OVER } pbi_phase;

struct pb_traversal_state {
    pb_traversal *t;
    pb_traversal_spec spec;
    uint32_t height;
    uint64_t leaves;
    uint64_t next; /* the leaf whose path is output next */
    pbi_phase phase;
    uint32_t todo; /* pieces of work before that */

    uint32_t *free; /* used slots that are free now */
    uint32_t free_count, slots;

    uint32_t auth[PBI_LEVELS]; /* the path */
    uint32_t keep[PBI_LEVELS]; /* bds: right nodes from which a left one will be computed */
    uint32_t *retain;          /* bds: right nodes near the root, by level and place; fractal: of two subtrees */
    uint32_t retain_start[PBI_LEVELS];
    pbi_bands bands;
    pbi_treehash build;             /* set-up: node 1 of each level, from the top level down */
    bool owes_leaf;                 /* bds, fractal: the leaf of the next path comes last */
    pbi_treehash stack[PBI_LEVELS]; /* by level */
};
typedef struct pb_traversal_state pbi_traversal;

static inline void pbi_put(pbi_traversal *s, pb_hash_action action) { s->t->action[s->t->count++] = action; }

static inline uint32_t pbi_slot_take(pbi_traversal *s) { return s->free_count ? s->free[--s->free_count] : s->slots++; }

static inline void pbi_slot_free(pbi_traversal *s, uint32_t slot)
{
    pbi_put(s, (pb_hash_action){.kind = PB_HASH_FREE, .slot = slot});
    s->free[s->free_count++] = slot;
}

/* Starts node `index` of level `target`; does nothing if the tree has no such node. */
void pbi_treehash_begin(pbi_traversal *s, pbi_treehash *h, uint8_t target, uint64_t index);
/* One leaf, or one hash of the two on top if they are on the same level. */
void pbi_treehash_unit(pbi_traversal *s, pbi_treehash *h);
/* One leaf and all hashes that follow from it. */
void pbi_treehash_leaf(pbi_traversal *s, pbi_treehash *h);
/* The level of the lowest hash on it; its own if it is empty, PBI_NO_LEVEL if there is nothing to do. */
static inline unsigned pbi_treehash_low(const pbi_treehash *h)
{
    return !h->busy ? PBI_NO_LEVEL : h->count ? h->tail[h->count - 1].level : h->target;
}
/* Takes the finished node. */
uint32_t pbi_treehash_take(pbi_treehash *h);

/* Computes nodes of the next path only when it needs them, from `level` down: one leaf at a time, until level 0 is
 * done. */
void pbi_descent_begin(pbi_traversal *s, unsigned level);
void pbi_descent_leaf(pbi_traversal *s);

/* bds. On one level the path changes from a right node to a left one: computes that node and returns the level. The
 * right nodes below it are still the old ones. On level 0 it is a leaf, which comes last, so that the work before it
 * can use its slot: pbi_pay_leaf computes it. */
unsigned pbi_turn_left(pbi_traversal *s);
void pbi_pay_leaf(pbi_traversal *s);

/* Of each algorithm: whether the set-up keeps node `index` of `level`, which is in `slot` (called once or twice);
 * what follows the output of path next - 1, before any piece of work (it sets s->todo); one piece of work. */
typedef struct pbi_algorithm {
    bool (*keeps)(pbi_traversal *s, uint8_t level, uint64_t index, uint32_t slot);
    void (*update)(pbi_traversal *s);
    void (*work)(pbi_traversal *s);
} pbi_algorithm;
extern const pbi_algorithm pbi_traversal_direct, pbi_traversal_classic, pbi_traversal_szydlo, pbi_traversal_lazy,
    pbi_traversal_bds, pbi_traversal_fractal;

#endif
