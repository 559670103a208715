/* engine_parts.h -- shared by the files of the engine. */
#ifndef PBI_ENGINE_PARTS_H
#define PBI_ENGINE_PARTS_H

#include "engine/slow.h"
#include "pebble/engine.h"

#include <stdatomic.h>

/* A load that may start before its move: before move `issue` at the earliest. */
typedef struct pbi_prefetch {
    pb_step issue, at;
    uint32_t life;
} pbi_prefetch;

/* A certified schedule with addresses: the whole run, or the remainder of a run after replanning. */
typedef struct pbi_phase {
    const pb_game *game;
    const pb_moves *moves;
    uint64_t peak;
    pb_lifetimes lives; /* in the block; fixed memory is at offset 0 */
    pb_packing packing;
    pb_lifetimes lent; /* in borrowed memory */
    pb_packing lent_packing;
    /* An offset for each store, in the order of moves, after the values given in tier 1. */
    pb_packing filed[PB_MAX_TIERS];
    pbi_prefetch *prefetch; /* in the order of `issue` */
    uint32_t prefetch_count;
} pbi_phase;

/* How a move changes memory: `during` is in addition to what is in use before it; then `made` more and `gone` less. */
typedef struct pbi_effect {
    uint64_t during, made, gone;
} pbi_effect;
/* `there`, by node: 0 not resident, 1 resident, 2 in borrowed memory; updated by the call. */
pbi_effect pbi_move_effect(const pb_graph *g, const pb_moves *moves, pb_step k, uint8_t *there);

/* Guard bytes behind everything in the checking mode: a multiple of the alignment. */
static inline uint64_t pbi_guard(const pb_engine_options *o)
{
    if (!o->check)
        return 0;
    return o->align > PB_ALIGN_DEFAULT ? o->align : (PB_ALIGN_DEFAULT + o->align - 1) / o->align * o->align;
}

/* `first`: the run starts here, so values given in slow memory must be stored first. Memory and errors: those of
 * `arena`. */
pb_status pbi_phase_make(const pb_certificate *plan, const pb_engine_options *options, bool first, uint64_t max_bytes,
                         pb_arena *arena, pbi_phase *out);
/* The loads that can start early: their places are free, and memory stays within the peak. */
pb_status pbi_phase_find_prefetches(pb_context *ctx, pb_arena *arena, pbi_phase *phase);

typedef struct pbi_timed pbi_timed;

/* A running store or load. */
typedef struct pbi_pending {
    pbi_transfer transfer;
    uint64_t offset, room; /* its bytes of the block */
    bool leaving;          /* the value was freed: its memory is in use until the store ends */
    bool prefetch;         /* a load whose move has not come yet */
    pb_step at;            /* its move */
} pbi_pending;
enum { PBI_MAX_PENDING = 32 };

typedef struct pbi_slot {
    uint64_t at, sum; /* in the file */
} pbi_slot;

typedef struct pbi_check {
    unsigned char *decoy; /* the bytes that a kernel sees in place of other values */
    unsigned char *saved; /* of an input that is overwritten */
    void **table;         /* the addresses that a kernel may see */
    uint64_t *sum;        /* by node: of the first result; 0: not computed yet */
    uint8_t *stray; /* by node: it has had different bits, or an input of it has; only if differences are reported */
    uint64_t largest;
} pbi_check;

typedef struct pbi_granted {
    uint64_t offset, room;
} pbi_granted;
enum { PBI_MAX_GRANTED = 8 };

struct pb_engine {
    pb_context *ctx;
    pb_arena arena;
    const pb_graph *graph; /* of the whole run */
    const pb_kernels *kernels;
    pb_engine_options options;
    pbi_phase whole, remainder;
    const pbi_phase *phase; /* the current one */
    pb_arena remainder_arena;
    unsigned char *block; /* aligned; fixed memory first */
    uint64_t block_bytes;
    unsigned char *lent; /* borrowed memory, aligned */
    void **value;        /* by node: its address, or NULL */
    uint64_t *times;     /* by node: computations in this run */
    uint8_t *part_done;  /* by node: a by-product was made; NULL: there are none */
    uint64_t *workspace; /* by node, as known now; NULL: the graph's */
    void **hidden;       /* addresses of a node's by-products while they are hidden from its kernel */
    const pb_node *hidden_part;
    uint32_t hidden_count;
    uint64_t *lent_sum; /* by node: checksum of the bytes it covers in borrowed memory; NULL: nothing is borrowed */
    pbi_slot *slot;     /* by tier and node; NULL without slow tiers */
    uint8_t *stored;    /* by node: one bit per tier */
    uint8_t *loading;   /* by node: the move of a load has come, and it may still be running */
    pbi_check check;

    uint64_t used;       /* bytes in use now, by the plan */
    uint64_t limit;      /* for `used` and running transfers */
    uint64_t cap;        /* the cap that applies now */
    uint64_t lent_used;  /* bytes in borrowed memory */
    uint32_t lent_count; /* values in it */
    bool lends;          /* some move computes a value in it */
    bool special;        /* kernels are checked, or have flags */
    uint32_t next, next_lent, next_filed[PB_MAX_TIERS], next_prefetch;
    uint64_t file_end[PB_MAX_TIERS]; /* offsets of the current phase start here */
    uint64_t last_ns;                /* when the last timed action ended */
    pb_measured m;

    struct pbi_timed *timed; /* of timed plans; else NULL */
    pbi_slow *slow;
    pbi_pending room[PBI_MAX_PENDING], *pending[PBI_MAX_PENDING]; /* in the order they started */
    uint32_t pending_count;
    uint64_t leaving_bytes, prefetch_bytes;

    uint64_t requested;                   /* workspace that a kernel requested and did not get; 0: none */
    uint64_t during;                      /* bytes in use during the current move */
    pbi_granted granted[PBI_MAX_GRANTED]; /* more workspace of the running kernel */
    uint32_t granted_count;
    uint64_t granted_bytes;
    uint64_t spare_used;      /* bytes used of the plan's reserve for more workspace */
    _Atomic uint64_t lowered; /* the cap that was requested */
    uint64_t nothing[8];      /* the address of values without a size */
};

static inline uint64_t pbi_now(const pb_engine *e)
{
    return e->ctx->clock_ns ? e->ctx->clock_ns(e->ctx->callback_state) : 0;
}
static inline uint64_t pbi_round_up(uint64_t bytes, uint64_t align) { return (bytes + align - 1) & ~(align - 1); }
/* The bytes that a value takes in the block. */
static inline uint64_t pbi_room_of(const pb_engine *e, uint64_t bytes)
{
    return bytes ? pbi_round_up(bytes, e->options.align) + pbi_guard(&e->options) : 0;
}
/* Bytes in use during a move. */
static inline void pbi_note_peak(pb_engine *e, uint64_t during)
{
    during += e->leaving_bytes + e->prefetch_bytes;
    e->during = during;
    e->m.peak = during > e->m.peak ? during : e->m.peak;
}
static inline void pbi_forget_grants(pb_engine *e)
{
    e->granted_count = 0;
    e->granted_bytes = e->spare_used = e->requested = 0;
}
static inline bool pbi_in_block(const pb_engine *e, const void *at)
{
    uintptr_t a = (uintptr_t)at, from = (uintptr_t)e->block;
    return a >= from && a - from < e->block_bytes;
}

/* As pb_engine_new, with other calls for the slow tiers; NULL: the system's. */
pb_status pbi_engine_new(pb_context *ctx, const pb_certificate *plan, const pb_kernels *kernels,
                         const pb_engine_options *options, const pbi_slow_calls *calls, pb_engine **out);
void pbi_engine_begin_phase(pb_engine *e, const pbi_phase *phase);

/* ---- transfers.c: running stores and loads ---- */

pb_status pbi_store(pb_engine *e, pb_node v, uint32_t tier);
pb_status pbi_load(pb_engine *e, pb_step k);
pb_status pbi_drop(pb_engine *e, pb_node v, uint32_t tier);
/* Stores the values given in slow memory. */
pb_status pbi_fill_slow(pb_engine *e);
/* The value was freed: its bytes are available once no store reads them. */
pb_status pbi_leave(pb_engine *e, pb_node v);
/* Before a computation of v: waits until its inputs are loaded, and what it overwrites is stored. */
pb_status pbi_wait_for_operands(pb_engine *e, pb_node v, uint32_t by, pb_node over);
/* Waits until memory during the next move, and the places of values that start then, are available. */
pb_status pbi_make_room(pb_engine *e, uint64_t during, pb_step k);
/* Starts the loads that are due. */
pb_status pbi_start_prefetches(pb_engine *e, pb_step k);
pb_status pbi_drain(pb_engine *e);

/* ---- engine_check.c ---- */

pb_status pbi_check_open(pb_engine *e);
/* Fresh memory: fills it without old values, and sets the guard bytes. */
void pbi_check_fresh(pb_engine *e, void *at, uint64_t bytes, uint64_t guard_from);
/* Whether the guard bytes of a value are unchanged. */
pb_status pbi_check_guard(pb_engine *e, pb_node v);
pb_status pbi_check_run(pb_engine *e, const pb_call *call, pb_node over, const pb_node *part, uint32_t parts,
                        bool was_there);
pb_status pbi_check_cleared(pb_engine *e, pb_node v);

/* ---- grant.c, gap.c ---- */

pb_status pbi_grant(const pb_call *call, uint64_t bytes, void **out);

/* The lowest gap of the block with `room` bytes, outside the workspace of the running kernel. */
bool pbi_find_gap(const pb_engine *e, uint64_t room, const void *workspace, uint64_t workspace_bytes, uint64_t *out);

/* ---- remainder.c: the game of the remaining moves ---- */

typedef struct pbi_state {
    const pb_game *game;
    const uint8_t *resident;   /* by node */
    const uint8_t *done;       /* by node: was computed in this run, or was given */
    const uint8_t *stored;     /* by node, one bit per tier; or NULL */
    const uint64_t *workspace; /* by node, as known now */
    uint64_t cap;
} pbi_state;

/* How many resident values are given in the remaining game: all that are useful; of the useful ones the deepest in
 * the graph, up to half of the cap; only those that cannot be recomputed. A game cannot recompute a given value, so
 * more is not always better. */
typedef enum pbi_remainder_use {
    PBI_REMAINDER_ALL,
    PBI_REMAINDER_NEAR,
    PBI_REMAINDER_MIN,
    PBI_REMAINDER_USES
} pbi_remainder_use;

typedef struct pbi_remainder {
    pb_game game;  /* the same nodes; kept values are given, stored ones are given in slow memory */
    uint8_t *kept; /* by node: resident now and given; the others are freed before */
    uint8_t *slow; /* by node: given in slow memory */
    bool done;     /* nothing remains to be done */
} pbi_remainder;

/* PB_ELIMIT with a sentence: a value is needed that cannot be recomputed. */
pb_status pbi_remainder_make(pb_context *ctx, const pbi_state *state, pbi_remainder_use use, pb_arena *arena,
                             pbi_remainder *out);

/* ---- replan.c ---- */

/* Plans the remaining moves, and moves resident values to their new places. `why`: for the message if that fails. */
pb_status pbi_replan(pb_engine *e, pb_node wide, const char *why);
/* Max memory during move k and all later moves of the current phase. */
pb_status pbi_remaining_peak(pb_engine *e, pb_step k, uint64_t *out);

/* A piece of memory that moves. */
typedef struct pbi_piece_move {
    uint64_t from, to, size;
} pbi_piece_move;
/* Pieces do not overlap before and after, and are never below `start`. Needs no memory; reorders the list. */
void pbi_rearrange(unsigned char *memory, uint64_t start, pbi_piece_move *piece, uint32_t count);

/* What computes v by recipe `by`, or by its own inputs (0); NULL: nothing does. */
static inline pb_kernel pbi_kernel_of(const pb_engine *e, pb_node v, uint32_t by)
{
    if (!by)
        return e->kernels->of[v];
    return e->kernels->recipe && by <= pb_graph_recipes(e->graph, v)
               ? e->kernels->recipe[e->graph->recipe_start[v] + by - 1]
               : NULL;
}

#endif
