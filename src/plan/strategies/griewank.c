/* griewank.c -- Revolve on any graph, treating its order as a chain.
 *
 * Problem     reverse a long forward pass with a few snapshots and the least recomputation.
 * Idea        every place of the forward order counts as one step. A snapshot of a place is what the places behind it
 *             read from before it: a single value on a chain. Snapshots are placed binomially. The backward part is
 *             followed in program order; when it reads a value that is not resident, the forward part is rerun from
 *             the nearest snapshot before that value, and leaves new snapshots if slots are free. As many snapshots
 *             as fit.
 * Invariants  snapshots form a stack with ascending places; those behind all remaining reads of the backward part are
 *             released.
 * Cost        O(computations and their inputs) for each number of snapshots tried, about log2(forward places) of
 *             them.
 * Source      Griewank and Walther, "Algorithm 799: revolve", 2000; linearised as in Jain et al., "Checkmate", 2020.
 * Limits      binomial placement is optimal for equal steps on a chain only; costs and sizes are ignored.
 */
#include "base/checked.h"
#include "base/context.h"
#include "plan/sequence/replay.h"
#include "plan/sequence/trials.h"

typedef struct reverser {
    pb_context *ctx;
    const pbi_training *t;
    uint64_t limit;
    /* per backward place, and behind the last: the last forward place read from that place on; -1 for none */
    const int64_t *later;
} reverser;

typedef struct run {
    const reverser *c;
    pbi_replay r;
    uint64_t slots;
    pbi_snapshot *snapshot; /* [0] is before the first place and takes no slot */
    uint64_t count;
    int64_t *position;
    pb_node *carried[2]; /* units kept for the current backward place, and for the next */
    uint32_t carried_count;
    bool side;        /* which of them is current */
    uint32_t *reader; /* per forward place: the latest backward place that has read it, plus 1 */
} run;

/* How far to go before the next snapshot, for the least work on `length` steps with s snapshots, the one at their
 * start included (the longest of the best). */
static uint64_t binomial_advance(uint64_t length, uint64_t s)
{
    int64_t r = 1;
    while (pbi_beta((int64_t)s, r) < length)
        r++;
    uint64_t max = pbi_beta((int64_t)s, r - 1), rest = pbi_beta((int64_t)s - 1, r - 1);
    return max < length - rest ? max : length - rest;
}

/* From the last snapshot towards place q, which is reversed first: leaves snapshots if slots are free. */
static pb_status advance_to(run *u, int64_t q, bool fresh)
{
    int64_t at = u->snapshot[u->count - 1].position;
    uint64_t used = u->count - 1, length = (uint64_t)(q - at) + 1;
    uint32_t count = 0;
    while (used + count < u->slots && length > 1) {
        uint64_t step = binomial_advance(length, u->slots - used - count + 1);
        at += (int64_t)step;
        length -= step;
        if (at >= q)
            break;
        u->position[count++] = at;
    }
    pb_status status =
        pbi_replay_advance(&u->r, &u->snapshot[u->count - 1], u->position, count, fresh, &u->snapshot[u->count]);
    if (status == PB_OK)
        u->count += count;
    return status;
}

/* The last forward place that v reads and that is not resident; -1 for none. */
static int64_t last_missing(const run *u, pb_node v)
{
    const pbi_training *t = u->c->t;
    int64_t last = -1;
    for (uint32_t k = t->g->in_start[v]; k < t->g->in_start[v + 1]; k++) {
        uint32_t q = t->place[t->g->in[k]];
        if (q < t->forward && (int64_t)q > last && !pbi_replay_has(&u->r, t->order[q]))
            last = q;
    }
    return last;
}

/* Drops snapshots behind all remaining reads; what the current place reads of them is carried. */
static void drop_snapshots(run *u, int64_t later)
{
    while (u->count > 1 && u->snapshot[u->count - 1].position > later)
        u->count--;
    pbi_replay_release(&u->r, u->snapshot[u->count - 1].to);
}

/* Pins the resident inputs of place `next`: all of them, or only those that the place before it has read too. */
static void pin_inputs(run *u, uint32_t next, bool all, uint32_t *count)
{
    const pbi_training *t = u->c->t;
    if (next == t->count)
        return;
    for (uint32_t k = t->g->in_start[t->order[next]]; k < t->g->in_start[t->order[next] + 1]; k++) {
        uint32_t q = t->place[t->g->in[k]];
        if (q >= t->forward || (!all && u->reader[q] != next) || !pbi_replay_has(&u->r, t->order[q]))
            continue;
        u->carried[!u->side][(*count)++] = t->order[q];
        pbi_replay_pin(&u->r, t->order[q]);
    }
}

/* Before place `next`: keeps what both it and the place before it read, and releases all other recomputed values: on
 * a chain, keeping them would be one more snapshot. What it reads of the snapshots is kept in case they are dropped. */
static void carry_inputs(run *u, uint32_t next)
{
    const pbi_training *t = u->c->t;
    uint32_t count = 0;
    if (next > t->forward)
        for (uint32_t k = t->g->in_start[t->order[next - 1]]; k < t->g->in_start[t->order[next - 1] + 1]; k++)
            if (t->place[t->g->in[k]] < t->forward)
                u->reader[t->place[t->g->in[k]]] = next;
    pin_inputs(u, next, next == t->forward, &count);
    for (uint32_t i = 0; i < u->carried_count; i++)
        pbi_replay_unpin(&u->r, u->carried[u->side][i]);
    pbi_replay_release(&u->r, u->snapshot[u->count - 1].to);
    pin_inputs(u, next, true, &count);
    u->side = !u->side;
    u->carried_count = count;
}

static pb_status init_run(run *u, const reverser *c, uint64_t slots, pb_arena *arena, pbi_sequence *s)
{
    const pbi_training *t = c->t;
    uint32_t widest = 0;
    for (uint32_t p = t->forward; p < t->count; p++) {
        uint32_t inputs = t->g->in_start[t->order[p] + 1] - t->g->in_start[t->order[p]];
        widest = inputs > widest ? inputs : widest;
    }
    uint64_t max = slots < t->forward ? slots : t->forward;
    *u = (run){.c = c, .slots = slots, .count = 1};
    u->snapshot = pb_arena_alloc(arena, (size_t)max + 1, sizeof *u->snapshot);
    u->position = pb_arena_alloc(arena, (size_t)max, sizeof *u->position);
    u->carried[0] = pb_arena_alloc(arena, 2 * (size_t)widest, sizeof *u->carried[0]);
    u->carried[1] = pb_arena_alloc(arena, 2 * (size_t)widest, sizeof *u->carried[1]);
    u->reader = pb_arena_zero(arena, t->forward, sizeof *u->reader);
    if (!u->snapshot || !u->position || !u->reader || !u->carried[0] || !u->carried[1])
        return PB_ENOMEM;
    u->snapshot[0] = (pbi_snapshot){.position = -1};
    return pbi_replay_init(&u->r, c->ctx, t, c->limit, arena, s);
}

/* The forward pass, with snapshots for the backward pass; with one for every place all values are kept. */
static pb_status go_forward(run *u)
{
    const pbi_training *t = u->c->t;
    bool all = u->slots >= t->forward;
    pb_status status = all || t->forward == t->count ? PB_OK : advance_to(u, u->c->later[0], true);
    for (int64_t p = u->snapshot[u->count - 1].position + 1; p < t->forward && status == PB_OK; p++) {
        status = pbi_replay_make(&u->r, t->order[p]);
        if (all)
            pbi_replay_pin(&u->r, t->order[p]);
    }
    carry_inputs(u, t->forward);
    return status;
}

/* A place before the last snapshot may be read again: what it reads is then recomputed on demand, without new
 * snapshots. */
static pb_status go_back(run *u)
{
    const pbi_training *t = u->c->t;
    pb_status status = PB_OK;
    for (uint32_t p = t->forward; p < t->count && status == PB_OK; p++) {
        int64_t missing = last_missing(u, t->order[p]), later = u->c->later[p - t->forward + 1];
        drop_snapshots(u, missing > later ? missing : later);
        if (missing > u->snapshot[u->count - 1].position)
            status = advance_to(u, missing, false);
        if (status == PB_OK)
            status = pbi_replay_make(&u->r, t->order[p]);
        carry_inputs(u, p + 1);
    }
    return status;
}

static pb_status make_sequence(void *state, const pbi_choice *choice, pb_arena *arena, pbi_sequence *s)
{
    run u;
    pb_status status = init_run(&u, state, choice->number[0], arena, s);
    if (status == PB_OK)
        status = go_forward(&u);
    return status == PB_OK ? go_back(&u) : status;
}

static pb_status find_later(reverser *c, pb_arena *arena)
{
    const pbi_training *t = c->t;
    uint32_t count = t->count - t->forward;
    int64_t *later = pb_arena_alloc(arena, (size_t)count + 1, sizeof *later), last = -1;
    if (!later)
        return PB_ENOMEM;
    later[count] = -1;
    for (uint32_t i = count; i-- > 0;) {
        pb_node v = t->order[t->forward + i];
        for (uint32_t k = t->g->in_start[v]; k < t->g->in_start[v + 1]; k++) {
            uint32_t q = t->place[t->g->in[k]];
            if (q < t->forward && (int64_t)q > last)
                last = q;
        }
        later[i] = last;
    }
    c->later = later;
    return PB_OK;
}

/* The largest number of snapshots that fits: more snapshots mean less work. A number with too much work needs more
 * snapshots too. */
static pb_status try_all(pbi_trials *trials, const reverser *c)
{
    uint64_t low = 0, high = c->t->forward;
    pbi_trial result;
    pb_status status = pbi_trials_try(trials, (pbi_choice){{high}}, &result, NULL);
    if (result == PBI_TRIAL_FITS)
        return status;
    while (status == PB_OK && low < high) {
        uint64_t middle = low + (high - low) / 2;
        status = pbi_trials_try(trials, (pbi_choice){{middle}}, &result, NULL);
        if (result == PBI_TRIAL_TOO_LARGE)
            high = middle;
        else
            low = middle + 1;
    }
    return status;
}

static pb_status plan_by(pb_context *ctx, const pb_game *game, uint64_t slots, reverser *c, pbi_plan *plan)
{
    pbi_trials trials;
    pbi_trial result;
    pbi_trials_init(&trials, ctx, game, make_sequence, c);
    pb_status status =
        slots == UINT64_MAX ? try_all(&trials, c) : pbi_trials_try(&trials, (pbi_choice){{slots}}, &result, NULL);
    status = pbi_trials_finish(&trials, status, plan);
    if (trials.fits || slots != UINT64_MAX)
        status = status == PB_OK
                     ? pbi_plan_record_number(plan, "snapshots", trials.fits ? trials.best.number[0] : slots)
                     : status;
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", c->limit) : status;
}

pb_status pbi_plan_griewank(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    uint64_t slots = UINT64_MAX;
    pbi_training training;
    reverser c = {.ctx = ctx, .t = &training};
    pb_status status = pbi_option_number(ctx, options, "snapshots", 0, UINT32_MAX, &slots);
    if (status == PB_OK)
        status = pbi_option_computations(ctx, options, game->graph, &c.limit);
    if (status != PB_OK)
        return status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    status = pbi_training_find(game->graph, &scratch, &training);
    if (status == PB_OK)
        status = find_later(&c, &scratch);
    if (status == PB_OK)
        status = plan_by(ctx, game, slots, &c, plan);
    pb_arena_release(&scratch);
    return status;
}
