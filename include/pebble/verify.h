/* verify.h -- checks that a schedule obeys its game.
 *
 * Replays the moves one by one by the rules of docs/games.md and reports the first rule that is broken. Deliberately
 * plain: it shares no code with the planners.
 *
 *     pb_verdict v;
 *     if (pb_verify(&ctx, &game, &moves, &arena, &v) == PB_OK && !v.certificate)
 *         printf("move %llu breaks %s\n", (unsigned long long)v.step, pb_rule_name(v.rule));
 */
#ifndef PEBBLE_VERIFY_H
#define PEBBLE_VERIFY_H

#include "schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pb_rule {
#define PB_RULE(code, name, sentence) code,
#include "rules.def"
#undef PB_RULE
    PB_RULE_COUNT
} pb_rule;
const char *pb_rule_name(pb_rule rule);
const char *pb_rule_sentence(pb_rule rule);

/* Why a processor is idle between its first start and its last end. */
typedef enum pb_stall {
    PB_STALL_COPY,      /* an input of the next computation is still being copied */
    PB_STALL_PROCESSOR, /* an input is still being computed by another processor */
    PB_STALL_MEMORY,    /* its inputs are ready: it waits for room, or for nothing */
    PB_STALL_COUNT
} pb_stall;
const char *pb_stall_name(pb_stall stall); /* copy, processor, memory */

/* One processor or lane of links in the timed game. */
typedef struct pb_lane_use {
    uint64_t busy, begin, end; /* sum of durations, first start, last end; 0 if it is never used */
    uint64_t stall[PB_STALL_COUNT];
    uint64_t moves;
} pb_lane_use;

/* Sums of a timed schedule. */
typedef struct pb_timed_totals {
    uint64_t makespan, span, recompute;
    uint64_t recompute_count;
    const uint64_t *peaks;    /* by memory */
    const pb_lane_use *lanes; /* the processors, then the lanes of links */
    uint32_t memory_count, lane_count;
} pb_timed_totals;

/* Sums computed during the replay. */
typedef struct pb_totals {
    uint64_t peak;
    pb_step peak_step; /* the first move at the peak; UINT64_MAX: the start */
    uint64_t compute_work, uncompute_work, io;
    uint64_t compute_count;
    pb_u128 flux;
    uint64_t borrowed;                 /* max borrowed memory in use */
    uint64_t start_memory, end_memory; /* fast memory, fixed_size included */
    pb_timed_totals timed;             /* of the timed game, in which peak is the sum over memories with a processor */
} pb_totals;

/* Proof that a schedule was replayed and is legal. Only pb_verify makes one; metrics and engine accept nothing else.
 * It borrows the game and the moves: keep both unchanged as long as it is in use. */
typedef struct pb_certificate pb_certificate;
const pb_game *pb_certificate_game(const pb_certificate *c);
const pb_moves *pb_certificate_moves(const pb_certificate *c);
const pb_totals *pb_certificate_totals(const pb_certificate *c);

typedef struct pb_verdict {
    const pb_certificate *certificate; /* NULL when a rule is broken */
    pb_rule rule;
    pb_step step;    /* the first bad move; the number of moves if only the end state is wrong; 0 with start rules */
    pb_node node;    /* the node at which the rule is broken, or PB_NO_NODE */
    pb_node other;   /* the missing input, the bad by-product..., or PB_NO_NODE */
    uint64_t amount; /* memory needed, for the cap rules; a time, for those about lanes */
    uint32_t place;  /* a memory, of the cap rules of the timed game */
} pb_verdict;

/* Replays `moves` under `game`.
 *   in       game, moves   borrowed; moves may be empty or illegal
 *   out      *v            verdict; a certificate in `result` if legal
 *   returns  PB_OK         replay finished, whatever the verdict
 *            PB_ERANGE     the work or io passes 64 bits; in the timed game a time or a memory
 *            PB_EINVAL     the game is timed, but has no timing
 *            PB_ENOMEM, PB_ECANCELLED   *v unchanged
 *   cost     O(moves + inputs read); a few bytes per node */
pb_status pb_verify(pb_context *ctx, const pb_game *game, const pb_moves *moves, pb_arena *result, pb_verdict *v);

/* One sentence: "move 12 (compute b): input a is not resident". Returns the full length of the text. */
size_t pb_verdict_text(const pb_game *game, const pb_moves *moves, const pb_verdict *v, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
