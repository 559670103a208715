/* engine_parts.h -- what the files of the engine share. */
#ifndef PBI_ENGINE_PARTS_H
#define PBI_ENGINE_PARTS_H

#include "engine/slow.h"
#include "pebble/engine.h"

#include <stdatomic.h>

/* A load that may begin before its move: before move `issue` at the earliest. */
typedef struct pbi_early {
    pb_step issue, at;
    uint32_t life;
} pbi_early;

/* A certified schedule with addresses: the whole run, or its rest from the middle on. */
typedef struct pbi_leg {
    const pb_game *game;
    const pb_moves *moves;
    uint64_t peak;
    pb_lifetimes lives; /* in the block; fixed memory is at offset 0 */
    pb_packing packing;
    pb_lifetimes lent; /* in borrowed memory */
    pb_packing lent_packing;
    pb_packing filed[PB_MAX_TIERS]; /* an offset for each store, in the order of moves, after what is given in tier 1 */
    pbi_early *early;               /* in the order of `issue` */
    uint32_t early_count;
} pbi_leg;

/* What a move does to memory: `during` above what is in use before it, then `made` more and `gone` less. */
typedef struct pbi_effect {
    uint64_t during, made, gone;
} pbi_effect;
/* `there`, by node: 0 not resident, 1 resident, 2 in borrowed memory; kept up to date. */
pbi_effect pbi_move_effect(const pb_graph *g, const pb_moves *moves, pb_step k, uint8_t *there);

/* Bytes behind everything in the checking mode: a multiple of the alignment. */
static inline uint64_t pbi_guard(const pb_engine_options *o)
{
    if (!o->check)
        return 0;
    return o->align > PB_ALIGN_DEFAULT ? o->align : (PB_ALIGN_DEFAULT + o->align - 1) / o->align * o->align;
}

/* `first`: the run begins here, so that what is given in slow memory has to get there. */
pb_status pbi_leg_make(pb_context *ctx, const pb_certificate *plan, const pb_engine_options *options, bool first,
                       uint64_t most_bytes, pb_arena *arena, pbi_leg *out);
/* The loads that can begin early: their places are free, and memory stays within the peak. */
pb_status pbi_leg_early(pb_context *ctx, pb_arena *arena, pbi_leg *leg);

/* A store or load under way. */
typedef struct pbi_under_way {
    pbi_transfer transfer;
    uint64_t offset, room; /* its bytes of the block */
    bool leaving;          /* the value was freed: its memory waits for the store */
    bool early;            /* the load's move has not come yet: it is */
    pb_step at;            /* this one */
} pbi_under_way;
enum { PBI_MOST_UNDER_WAY = 32 };

typedef struct pbi_slot {
    uint64_t at, sum; /* in the file */
} pbi_slot;

typedef struct pbi_check {
    unsigned char *decoy; /* what others' values look like to a kernel */
    unsigned char *saved; /* of an input that is overwritten */
    void **table;         /* the addresses that a kernel may see */
    uint64_t *sum;        /* by node: of what was made the first time; 0: not made yet */
    uint64_t largest;
} pbi_check;

typedef struct pbi_granted {
    uint64_t offset, room;
} pbi_granted;
enum { PBI_MOST_GRANTED = 8 };

struct pb_engine {
    pb_context *ctx;
    pb_arena arena;
    const pb_graph *graph; /* of the whole run */
    const pb_kernels *kernels;
    pb_engine_options options;
    pbi_leg whole, rest;
    const pbi_leg *leg; /* the one that runs */
    pb_arena rest_arena;
    unsigned char *block; /* aligned; fixed memory first */
    uint64_t block_bytes;
    unsigned char *lent; /* borrowed memory, aligned */
    void **value;        /* by node: where it is, or NULL */
    uint64_t *times;     /* by node: computations in this run */
    uint8_t *part_done;  /* by node: a by-product has been made; NULL: there are none */
    uint64_t *workspace; /* by node, as it is known by now; NULL: as the graph says */
    void **hidden;       /* addresses of a node's by-products while its kernel must not see them */
    const pb_node *hidden_part;
    uint32_t hidden_count;
    uint64_t *lent_sum; /* by node: checksum of what it covers in borrowed memory; NULL: nothing is borrowed */
    pbi_slot *slot;     /* by tier and node; NULL without slow tiers */
    uint8_t *stored;    /* by node: one bit a tier */
    uint8_t *loading;   /* by node: a load has had its move and may be under way */
    pbi_check check;

    uint64_t used;       /* bytes in use now, by the plan */
    uint64_t limit;      /* that they and what is under way may reach */
    uint64_t cap;        /* now */
    uint64_t lent_used;  /* bytes in borrowed memory */
    uint32_t lent_count; /* values there */
    bool lends;          /* some move makes a value there */
    bool special;        /* kernels are checked, or declare something */
    uint32_t next, next_lent, next_filed[PB_MAX_TIERS], next_early;
    uint64_t file_end[PB_MAX_TIERS]; /* places of the rest begin there */
    uint64_t last_ns;                /* when something timed ended */
    pb_measured m;

    pbi_slow *slow;
    pbi_under_way room[PBI_MOST_UNDER_WAY], *under_way[PBI_MOST_UNDER_WAY]; /* in the order they began */
    uint32_t under_way_count;
    uint64_t leaving_bytes, early_bytes;

    uint64_t wanted;                       /* a kernel asked for so much workspace in vain; 0: none did */
    uint64_t during;                       /* bytes in use during the move that runs */
    pbi_granted granted[PBI_MOST_GRANTED]; /* more workspace of the kernel that runs */
    uint32_t granted_count;
    uint64_t granted_bytes;
    uint64_t spare_used;      /* of what the plan has for it */
    _Atomic uint64_t lowered; /* the cap that was asked for */
    uint64_t nothing[8];      /* where values without a size are */
};

static inline uint64_t pbi_now(const pb_engine *e)
{
    return e->ctx->clock_ns ? e->ctx->clock_ns(e->ctx->callback_state) : 0;
}
static inline uint64_t pbi_round_up(uint64_t bytes, uint64_t align) { return (bytes + align - 1) & ~(align - 1); }
/* What a value takes of the block. */
static inline uint64_t pbi_room_of(const pb_engine *e, uint64_t bytes)
{
    return bytes ? pbi_round_up(bytes, e->options.align) + pbi_guard(&e->options) : 0;
}
/* Bytes in use during a move. */
static inline void pbi_note_peak(pb_engine *e, uint64_t during)
{
    during += e->leaving_bytes + e->early_bytes;
    e->during = during;
    e->m.peak = during > e->m.peak ? during : e->m.peak;
}
static inline void pbi_forget_grants(pb_engine *e)
{
    e->granted_count = 0;
    e->granted_bytes = e->spare_used = e->wanted = 0;
}
static inline bool pbi_in_block(const pb_engine *e, const void *at)
{
    uintptr_t a = (uintptr_t)at, from = (uintptr_t)e->block;
    return a >= from && a - from < e->block_bytes;
}

/* As pb_engine_new, with other calls for the slow tiers; NULL: the system's. */
pb_status pbi_engine_new(pb_context *ctx, const pb_certificate *plan, const pb_kernels *kernels,
                         const pb_engine_options *options, const pbi_slow_calls *calls, pb_engine **out);
void pbi_engine_begin_leg(pb_engine *e, const pbi_leg *leg);

/* ---- traffic.c: stores and loads under way ---- */

pb_status pbi_store(pb_engine *e, pb_node v, uint32_t tier);
pb_status pbi_load(pb_engine *e, pb_step k);
pb_status pbi_drop(pb_engine *e, pb_node v, uint32_t tier);
/* What is given in slow memory goes there. */
pb_status pbi_fill_slow(pb_engine *e);
/* The value is gone: its bytes are free when nothing reads them any more. */
pb_status pbi_leave(pb_engine *e, pb_node v);
/* Before a computation of v: its inputs are there, what it overwrites is not being stored. */
pb_status pbi_settle(pb_engine *e, pb_node v, pb_node over);
/* Memory during the next move, and the places of what begins then, are to be had. */
pb_status pbi_make_room(pb_engine *e, uint64_t during, pb_step k);
/* Begins the loads whose time has come. */
pb_status pbi_load_early(pb_engine *e, pb_step k);
pb_status pbi_drain(pb_engine *e);

/* ---- engine_check.c ---- */

pb_status pbi_check_open(pb_engine *e);
/* Fresh memory: no old values, and the bytes behind it. */
void pbi_check_fresh(pb_engine *e, void *at, uint64_t bytes, uint64_t guard_from);
/* Were the bytes behind a value left alone? */
pb_status pbi_check_guard(pb_engine *e, pb_node v);
pb_status pbi_check_run(pb_engine *e, const pb_call *call, pb_node over, const pb_node *part, uint32_t parts,
                        bool was_there);
pb_status pbi_check_cleared(pb_engine *e, pb_node v);

/* ---- grant.c, gap.c ---- */

pb_status pbi_grant(const pb_call *call, uint64_t bytes, void **out);

/* The lowest gap of the block with so much room, beside the workspace of the kernel that runs. */
bool pbi_find_gap(const pb_engine *e, uint64_t room, const void *workspace, uint64_t workspace_bytes, uint64_t *out);

/* ---- rest.c: the game that is left ---- */

typedef struct pbi_state {
    const pb_game *game;
    const uint8_t *resident;   /* by node */
    const uint8_t *done;       /* by node: has been made in this run, or was given */
    const uint8_t *stored;     /* by node, one bit a tier; or NULL */
    const uint64_t *workspace; /* by node, as it is known by now */
    uint64_t cap;
} pbi_state;

/* How much of what is there the rest begins with: all that is of use; what is of use and deepest in the graph, up to half of the cap;
 * only what cannot be made again. What a game is given it cannot make again, so that more is not always better. */
typedef enum pbi_rest_use { PBI_REST_ALL, PBI_REST_NEAR, PBI_REST_LEAST, PBI_REST_USES } pbi_rest_use;

typedef struct pbi_rest {
    pb_game game;  /* the same nodes; what is kept is given, what is stored is given in slow memory */
    uint8_t *kept; /* by node: resident now and given; the others are freed before */
    uint8_t *slow; /* by node: given in slow memory */
    bool done;     /* nothing is left to do */
} pbi_rest;

/* PB_ELIMIT with a sentence: a value is needed that can be had no more. */
pb_status pbi_rest_make(pb_context *ctx, const pbi_state *state, pbi_rest_use use, pb_arena *arena, pbi_rest *out);

/* ---- replan.c ---- */

/* Plans what is left and moves what is there to where the new plan wants it. `why`: for the sentence where that fails. */
pb_status pbi_replan(pb_engine *e, pb_node wide, const char *why);
/* The most memory during move k and all after it, of the leg that runs. */
pb_status pbi_rest_peak(pb_engine *e, pb_step k, uint64_t *out);

/* A piece of memory that moves. */
typedef struct pbi_piece_move {
    uint64_t from, to, size;
} pbi_piece_move;
/* Pieces are apart from each other before and after, and stay behind `start`. Needs no memory; the list is reordered. */
void pbi_rearrange(unsigned char *memory, uint64_t start, pbi_piece_move *piece, uint32_t count);

#endif
