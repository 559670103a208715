/* stays.h -- a plan as the stays of its values in memory, which can be joined, shortened and removed.
 *
 * A stay is the time from the move that computes, loads or stores a value to the move that removes it from that
 * memory; both moves count. Each memory has its height at every move, so O(log moves) decides whether a longer stay
 * fits.
 */
#ifndef PBI_PLAN_CLEANUP_STAYS_H
#define PBI_PLAN_CLEANUP_STAYS_H

#include "base/range_max.h"
#include "pebble/schedule.h"

#define PBI_NONE UINT32_MAX

/* Where a value stays: fast memory, slow tiers 1 .. 8, borrowed memory. */
enum { PBI_FAST = 0, PBI_BORROWED = PB_MAX_TIERS + 1, PBI_PLACES = PB_MAX_TIERS + 2 };

/* What happened to a move. */
enum {
    PBI_MOVE_THERE,
    PBI_MOVE_DROPPED,
    PBI_MOVE_FREES /* its computation was dropped; what it would have overwritten is freed */
};

typedef struct pbi_stay {
    pb_node node;
    uint32_t from, to;              /* moves; PBI_NONE: from the start, to the end */
    uint32_t first_read, last_read; /* of pbi_stays.read; PBI_NONE: nothing reads it */
    uint32_t earlier, later;        /* stays of the same value: in a tier, or in fast and borrowed memory */
    uint32_t joined;                /* the stay that it was joined to; itself if it was not */
    uint32_t next_added;            /* list of the stays that another computation than at first begins: the next one */
    uint8_t place;
    bool gone;   /* joined to another or removed */
    bool early;  /* freed right behind move `to`, which is not the move that removed it at first */
    bool queued; /* one of its reads was removed */
} pbi_stay;

typedef struct pbi_read {
    uint32_t stay, before, at; /* `before`: the previous read of the stay */
} pbi_read;

typedef struct pbi_stays {
    const pb_game *game;
    const pb_graph *graph;
    const pb_moves *moves;
    uint32_t count, stay_count;
    pbi_stay *stay;
    pbi_read *read;
    uint32_t *read_start; /* per move, and the end */
    uint32_t *made;       /* per move: the first stay that it began; they are consecutive */
    uint8_t *makes;       /* per move: whether its node was one of them */
    uint32_t *removes;    /* per move: the stay that it ends */
    uint8_t *state;       /* per move */
    uint8_t *apart;       /* per move: it overwrote a value at first, and no longer does */
    uint32_t *computed;   /* per move: the computation of its node before it; NULL without by-products */
    /* per move: by-products that it computes now and did not at first; NULL without by-products */
    uint32_t *added;
    uint32_t *done;     /* per node: how many of its stays a computation begins */
    uint8_t *recovered; /* per node: some move of the plan computes it by recipe */
    uint32_t *queue, queue_count;
    uint64_t work;                     /* stays and reads visited so far */
    pbi_range_max *height[PBI_PLACES]; /* NULL: unlimited memory */
    uint64_t limit[PBI_PLACES];
    uint64_t *time; /* per move, as a sum tree: its cost; NULL if the weights do not need it */
} pbi_stays;

/* Of a legal plan of fewer than 2^32 - 1 moves and reads. PB_ECANCELLED: the context stopped. */
pb_status pbi_stays_make(pb_context *ctx, pbi_stays *s, const pb_game *game, const pb_moves *moves, pb_arena *scratch);
/* The moves as they are now. */
pb_status pbi_stays_write(const pbi_stays *s, pb_arena *scratch, pb_moves *out);

/* Is there room for `size` more at moves from .. to? True if there are no such moves. */
bool pbi_stays_fit(const pbi_stays *s, uint8_t place, uint32_t from, uint32_t to, uint64_t size);
void pbi_stays_raise(pbi_stays *s, uint8_t place, uint32_t from, uint32_t to, uint64_t size);
/* The cost of the remaining moves from .. to. */
uint64_t pbi_stays_time(const pbi_stays *s, uint32_t from, uint32_t to);

/* What move k, a computation or uncomputation, reads, and its cost and workspace. */
pb_way pbi_stays_way(const pbi_stays *s, uint32_t k);
/* What move k overwrites, or PB_NO_NODE; what that saves. */
pb_node pbi_stays_over(const pbi_stays *s, uint32_t k);
uint64_t pbi_stays_saved(const pbi_stays *s, uint32_t k);
uint64_t pbi_stays_cost(const pbi_stays *s, uint32_t k);
/* The last remaining computation of the node of move k before k that may compute by-products, or PBI_NONE. */
uint32_t pbi_stays_computed(pbi_stays *s, uint32_t k);

/* Stay `later` continues stay `earlier`: the value is not removed between them. Room for it has been made. */
void pbi_stays_join(pbi_stays *s, uint32_t earlier, uint32_t later);
/* Computation k, before the one that did, now computes the by-product of stay x; room has been made. */
void pbi_stays_add(pbi_stays *s, uint32_t x, uint32_t k);
/* Move k no longer has results: it is removed, or frees what it overwrote. */
void pbi_stays_drop_make(pbi_stays *s, uint32_t k);
/* Remove a stay that nothing reads, unless it is a goal of the plan. */
bool pbi_stays_remove(pbi_stays *s, uint32_t x);
/* Remove or shorten the stays that have lost reads, and those that follow from that. */
void pbi_stays_shorten_all(pbi_stays *s);

#endif
