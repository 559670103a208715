/* hashtree.h -- traversal of hash trees: all authentication paths in the order of the leaves, as a stream of actions.
 *
 *     pb_traversal t;
 *     if (pb_traversal_init(&ctx, &(pb_traversal_spec){PB_TRAVERSAL_BDS, 20, 4}, &arena, &t) != PB_OK) ...
 *     pb_hash_action a;
 *     while (pb_traversal_next(&t, &a))
 *         switch (a.kind) {
 *         case PB_HASH_LEAF: slot[a.slot] = leaf(a.index); break;
 *         case PB_HASH_NODE: slot[a.slot] = hash(slot[a.left], slot[a.right]); break;
 *         case PB_HASH_FREE: slot[a.slot] is no longer needed; break;
 *         case PB_HASH_ROOT: publish slot[a.slot]; break;
 *         case PB_HASH_PATH: for (h = 0; h < 20; h++) send slot[t.path[h]];   // siblings on the path of leaf a.index
 *         }
 *
 * A tree of height H has 2^H leaves on level 0; node i of level h hashes nodes 2i and 2i+1 of level h-1. A stream first
 * computes the whole tree once, for the root and the hashes that the traversal starts with. Then come the paths of leaf
 * 0, 1, ..., each after the work that prepares it. docs/hash-trees.md has the algorithms and their guarantees. The
 * memory of a stream is proportional to its slots; any number of streams may run concurrently.
 */
#ifndef PEBBLE_HASHTREE_H
#define PEBBLE_HASHTREE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PB_TRAVERSAL_MAX_HEIGHT 40
#define PB_TRAVERSAL_MAX_K 28

typedef enum pb_hash_kind {
    PB_HASH_LEAF, /* compute leaf `index` into `slot` */
    /* Node `index` of `level` from `left` and `right` into `slot`, which may be the same as one of them. */
    PB_HASH_NODE,
    PB_HASH_FREE, /* `slot` is free */
    PB_HASH_ROOT, /* `slot` has the root; it is free afterwards */
    PB_HASH_PATH  /* the path of leaf `index` is in the slots that pb_traversal.path lists, by level */
} pb_hash_kind;

typedef struct pb_hash_action {
    uint64_t index;
    uint32_t slot;
    uint32_t left, right; /* of PB_HASH_NODE */
    uint8_t kind;         /* pb_hash_kind */
    uint8_t level;        /* of LEAF (0) and NODE */
} pb_hash_action;

typedef enum pb_traversal_kind {
    PB_TRAVERSAL_DIRECT,  /* recomputes what changes in the path: H hashes stored, the minimum */
    PB_TRAVERSAL_CLASSIC, /* Merkle: a stack per level, two units of work each per output */
    PB_TRAVERSAL_SZYDLO,  /* the same stacks, the lowest first: 3H - 2 stored, 2H - 1 units */
    /* Left nodes and the most expensive right ones as in bds, the others only when a path needs them. */
    PB_TRAVERSAL_LAZY,
    /* Buchmann, Dahmen, Schneider: left nodes from kept ones, the 2^k - k - 1 most expensive right ones kept */
    PB_TRAVERSAL_BDS,
    /* Jakobsson, Leighton, Micali, Szydlo: the present and the next subtree of each band of k levels */
    PB_TRAVERSAL_FRACTAL,
    PB_TRAVERSAL_COUNT
} pb_traversal_kind;
const char *pb_traversal_name(pb_traversal_kind kind); /* direct, classic, szydlo, lazy, bds, fractal */
bool pb_traversal_takes_k(pb_traversal_kind kind);

typedef struct pb_traversal_spec {
    pb_traversal_kind kind;
    uint32_t height;
    uint32_t k; /* lazy, bds and fractal: 0 .. height; else 0 */
} pb_traversal_spec;

/* "bds:k=4" */
#define PB_TRAVERSAL_TEXT 32
void pb_traversal_text(const pb_traversal_spec *spec, char text[PB_TRAVERSAL_TEXT]);
/* Parses such a text, for a tree of this height; without k, lazy and bds take 2, or 1 if the height is odd,
 * and fractal the lowest bands whose work for an output is within the published limit.
 * PB_EUNKNOWN or PB_EINVAL with a sentence. */
pb_status pb_traversal_parse(pb_context *ctx, const char *text, uint32_t height, pb_traversal_spec *out);

#define PB_TRAVERSAL_QUEUE 256
typedef struct pb_traversal {
    const uint32_t *path; /* after PB_HASH_PATH: the slot of the hash on each level */

    uint32_t at, count; /* from here on, fields are private to the library */
    struct pb_traversal_state *state;
    pb_hash_action action[PB_TRAVERSAL_QUEUE];
} pb_traversal;

/* PB_EINVAL, PB_ERANGE for an invalid spec, PB_ENOMEM. */
pb_status pb_traversal_init(pb_context *ctx, const pb_traversal_spec *spec, pb_arena *arena, pb_traversal *out);
bool pb_traversal_fill(pb_traversal *t); /* private to the library: produces the next actions; false at the end */
/* One action; false after the last path. */
static inline bool pb_traversal_next(pb_traversal *t, pb_hash_action *action)
{
    while (t->at == t->count)
        if (!pb_traversal_fill(t))
            return false;
    *action = t->action[t->at++];
    return true;
}

/* ---- Figures of a stream ---- */

/* The work for an output is the work since the previous output; the tree and the first path are set-up. */
typedef struct pb_traversal_figures {
    uint64_t outputs;                           /* 2^height */
    uint64_t slots;                             /* slots that are ever used: what a program must provide */
    uint64_t setup_storage;                     /* max hashes stored at a time before the first path */
    uint64_t storage;                           /* max from the first path on */
    uint64_t leaves, hashes;                    /* after the first path, in total */
    uint64_t leaves_max, hashes_max, units_max; /* max for one output; units: leaves and hashes */
    uint64_t work, work_max;                    /* with the prices of a leaf and of a hash */
} pb_traversal_figures;

typedef struct pb_traversal_prices {
    uint64_t leaf, hash;
} pb_traversal_prices;

/* Runs the whole stream without hashing, checks every action against the content of the slots, and counts.
 *   returns PB_EBUG     a hash of nodes that are not its children, or a wrong path: ctx->error has the details
 *           PB_ERANGE   the work passes 2^64
 *           PB_ENOMEM, PB_ECANCELLED
 *   cost    a few nanoseconds per action; about 2^height * height actions */
pb_status pb_traversal_measure(pb_context *ctx, const pb_traversal_spec *spec, pb_traversal_prices prices,
                               pb_traversal_figures *out);

/* Published limits of an algorithm, for one output; 0: none published. */
typedef struct pb_traversal_promise {
    double leaves, hashes, units, storage;
    const char *source;
} pb_traversal_promise;
void pb_traversal_published(const pb_traversal_spec *spec, pb_traversal_promise *out);

/* ---- The cheapest algorithm that fits ---- */

typedef struct pb_traversal_request {
    uint32_t height;
    uint64_t cap; /* stored hashes, including set-up unless `setup_apart`; UINT64_MAX: none */
    pb_traversal_prices prices;
    bool by_average; /* minimize total work; else the work of the most expensive output */
    bool setup_apart;
    const pb_traversal_spec *only; /* NULL: all algorithms */
} pb_traversal_request;

typedef struct pb_traversal_row {
    pb_traversal_spec spec;
    pb_traversal_figures figures;
    bool fits;
} pb_traversal_row;

typedef struct pb_traversal_choice {
    const pb_traversal_row *row; /* every algorithm that was measured, with the values of k that may pay off */
    uint32_t row_count;
    uint32_t winner; /* UINT32_MAX: none fits */
    bool infeasible; /* proved: a path alone has more hashes than the cap */
} pb_traversal_choice;

/* PB_ELIMIT if the tree is too high to be measured (height above 24). */
pb_status pb_traversal_choose(pb_context *ctx, const pb_traversal_request *request, pb_arena *arena,
                              pb_traversal_choice *out);

/* ---- Proofs of random leaves ---- */

/* Which layers of the tree to keep, if leaves can be computed again: the lowest ones cost the most memory. */
#define PB_PROOF_MAX_QUERIES 1000000
typedef struct pb_proof_request {
    uint32_t height;
    uint64_t queries; /* different leaves, every set as likely as any other */
    uint64_t cap;     /* stored hashes; UINT64_MAX: no limit */
    pb_traversal_prices prices;
} pb_proof_request;

typedef struct pb_proof_row {
    uint32_t dropped;        /* layers from the leaves up that are not kept */
    uint64_t kept;           /* hashes of the other layers */
    uint64_t stored;         /* with those that a proof needs while it is computed */
    bool fits;               /* within the cap */
    uint64_t leaves, hashes; /* recomputed for one proof */
    uint64_t work;           /* of that */
    double subtrees;         /* expected number of dropped subtrees that the proofs touch */
    double batch_work;       /* expected work of all proofs at once: each of these is recomputed once */
} pb_proof_row;

typedef struct pb_proof_choice {
    pb_proof_row row[PB_TRAVERSAL_MAX_HEIGHT + 1]; /* by dropped layers */
    uint32_t row_count, winner;                    /* UINT32_MAX: none fits */
    double batch_hashes; /* expected size of one proof of all leaves together; single ones have queries x height */
} pb_proof_choice;

/* PB_ERANGE for a height or number of queries that is too large, or work that passes 2^64. */
pb_status pb_proof_layers(pb_context *ctx, const pb_proof_request *request, pb_proof_choice *out);

#ifdef __cplusplus
}
#endif
#endif
