/* parts.h -- shared by the files of the online mode: records of values, and the block they are in. */
#ifndef PBI_ENGINE_DYNAMIC_PARTS_H
#define PBI_ENGINE_DYNAMIC_PARTS_H

#include "pebble/dynamic.h"

#define PBI_NO_PIECE UINT32_MAX

/* A piece of the block: a value, workspace, or free memory. Pieces are a list in the order of addresses. */
typedef struct pbi_block_piece {
    uint64_t at, size;
    uint32_t before, after; /* or PBI_NO_PIECE */
    pb_value value;         /* PBI_FREE: free memory; PBI_WORK: workspace */
} pbi_block_piece;
#define PBI_FREE UINT32_MAX
#define PBI_WORK (UINT32_MAX - 1)

typedef struct pbi_pool {
    pb_arena *arena;
    pbi_block_piece *piece;
    size_t room;
    uint32_t count, spare; /* spare: a list, by `after`, of unused pieces */
    uint32_t first;
    uint64_t size, used; /* bytes */
} pbi_pool;

pb_status pbi_pool_init(pbi_pool *p, pb_arena *arena, uint64_t size);
/* Best fit: the smallest free piece that is large enough. PBI_NO_PIECE: there is none. PB_ENOMEM. */
pb_status pbi_pool_take(pbi_pool *p, uint64_t size, pb_value value, uint32_t *out);
/* Merges it with free neighbours. */
void pbi_pool_give(pbi_pool *p, uint32_t piece);

/* An edge to an input, in the list of that input's readers. */
typedef struct pbi_reading {
    pb_value input, reader;
    uint32_t before, after; /* readers of the same input; UINT32_MAX: the end */
} pbi_reading;

enum { PBI_KNOWN = 1, PBI_OUTSIDE = 2 /* or computed at most once: never evicted */, PBI_ONCE = 4 };

typedef struct pbi_record {
    pb_dynamic_kernel kernel;
    void *state;
    uint64_t size, workspace, cost, times;
    uint64_t used_at;            /* by o->now */
    uint32_t reading, inputs;    /* its edges: readings reading .. reading + inputs - 1 */
    uint32_t readers;            /* the first of a list of readings, or UINT32_MAX */
    uint32_t held, needed, pins; /* by the program; by known readers; by current users */
    uint32_t user_pins;          /* of the pins: the program has its address */
    uint32_t piece;              /* its piece, or PBI_NO_PIECE: evicted */
    uint32_t group;              /* PB_DYNAMIC_DTR_EQ: parent in the forest of classes, if evicted */
    uint32_t mark;               /* of the last search that reached it */
    pb_node traced;
    uint8_t flags;
} pbi_record;

typedef struct pbi_traced {
    uint64_t size, workspace, cost;
    bool given, once, pinned, held;
    uint32_t inputs; /* the next ones of the list of inputs */
} pbi_traced;

enum { PBI_FEW_INPUTS = 32 };

struct pb_dynamic {
    pb_context *ctx;
    pb_arena arena;
    pb_dynamic_options options;
    unsigned char *block;
    pbi_pool pool;
    pbi_record *record;
    size_t record_room;
    uint32_t record_count, dead; /* dead: a list, by `group`, of unused records */
    pbi_reading *reading;
    size_t reading_room, reading_count;
    uint32_t
        spare_readings[PBI_FEW_INPUTS]; /* by number of inputs: a list, by `after` of the first, of edges not used */
    uint64_t *group_cost;               /* by class: costs of its evicted values */
    uint32_t *group_parent;
    size_t group_room, group_parent_room;
    uint32_t group_count;
    pb_value *stack;
    uint32_t *stack_next; /* which input comes next */
    size_t stack_room, stack_next_room;
    pb_value *search; /* room for each value once */
    size_t search_room;
    const void **input; /* of a call */
    size_t input_room;
    uint64_t now; /* work so far, and one for each computation */
    uint32_t mark;
    pb_dynamic_counts counts;
    pbi_traced *traced;
    size_t traced_room;
    pb_node *traced_input;
    size_t traced_input_room, traced_input_count;
    uint32_t traced_count;
};

/* ---- score.c ---- */

double pbi_dynamic_score(pb_dynamic *o, pb_value v);
/* A value was evicted; became resident again or was forgotten. */
pb_status pbi_dynamic_left(pb_dynamic *o, pb_value v);
void pbi_dynamic_came_back(pb_dynamic *o, pb_value v);

/* ---- room.c ---- */

bool pbi_dynamic_may_go(const pb_dynamic *o, pb_value v);
pb_status pbi_dynamic_evict(pb_dynamic *o, pb_value v);
/* A piece of `size` bytes; evicts values to make room for it. */
pb_status pbi_dynamic_make_room(pb_dynamic *o, uint64_t size, pb_value value, uint32_t *out);

#endif
