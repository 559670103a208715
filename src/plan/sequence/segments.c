/* segments.c -- see segments.h. */
#include "plan/sequence/segments.h"

#include "base/checked.h"
#include "base/context.h"
#include "plan/sequence/replay.h"
#include "plan/sequence/trials.h"

#include <math.h>
#include <string.h>

enum { SQRT, GREEDY, VARIANTS }; /* number[0] of a choice; number[1] is k or b */

enum {
    MANY = 20000, /* places above which the grid is coarse and ends at the first b that fits */
    FINE = 8      /* steps between the last b that did not fit and the first that did */
};

static const char *const names[VARIANTS] = {"sqrt", "greedy"};

typedef struct segments {
    pb_context *ctx;
    const pbi_training *t;
    const uint8_t *candidate;
    uint32_t candidates;
    uint64_t b; /* of the option; UINT64_MAX: auto */
    bool try_variant[VARIANTS];
} segments;

static bool may_end(const segments *c, uint32_t p) { return !c->candidate || c->candidate[p]; }

/* Both return where the last segment begins; an end at the last place begins none. */
static uint32_t mark_every(const segments *c, uint64_t k, uint8_t *kept)
{
    uint32_t end = 0;
    uint64_t seen = 0;
    for (uint32_t p = 0; p < c->t->forward; p++)
        if (may_end(c, p) && ++seen % k == 0) {
            kept[p] = 1;
            end = p + 1 < c->t->forward ? p + 1 : end;
        }
    return end;
}

static uint32_t mark_greedily(const segments *c, uint64_t b, uint8_t *kept)
{
    uint32_t end = 0;
    uint64_t since = 0;
    for (uint32_t p = 0; p < c->t->forward; p++) {
        since += c->t->size[p];
        if (since > b && may_end(c, p)) {
            kept[p] = 1;
            since = 0;
            end = p + 1 < c->t->forward ? p + 1 : end;
        }
    }
    return end;
}

static pb_status make_sequence(void *state, const pbi_choice *choice, pb_arena *arena, pbi_sequence *s)
{
    const segments *c = state;
    uint8_t *kept = pb_arena_zero(arena, c->t->forward, sizeof *kept);
    if (!kept)
        return PB_ENOMEM;
    uint32_t end =
        choice->number[0] == SQRT ? mark_every(c, choice->number[1], kept) : mark_greedily(c, choice->number[1], kept);
    memset(kept + end, 1, c->t->forward - end); /* the last segment */
    return pbi_replay_mirror(c->ctx, c->t, kept, arena, s);
}

static uint64_t root_of(uint64_t n)
{
    uint64_t root = (uint64_t)sqrt((double)n);
    while (root * root < n)
        root++;
    return root ? root : 1;
}

/* b in steps of a third of an octave, or of an octave. */
static uint64_t grid_step(uint64_t b, bool coarse)
{
    uint64_t more = coarse ? b : (uint64_t)((double)b * 0.26);
    return pbi_add_saturated(b, more ? more : 1);
}

/* On a large graph the smallest b that fits, found by steps and then by bisection, is good enough: a larger one
 * keeps less. */
static pb_status try_greedy(pbi_trials *trials, const segments *c)
{
    const pbi_training *t = c->t;
    uint64_t mean = t->forward ? t->all_sizes / t->forward : 0, low = 0, high = 0;
    bool many = t->forward > MANY;
    pbi_trial result;
    /* With all in one segment nothing is dropped; with b 0 every candidate is an end. */
    pb_status status = pbi_trials_try(trials, (pbi_choice){{GREEDY, t->all_sizes}}, &result, NULL);
    if (status != PB_OK || pbi_trials_done(trials))
        return status;
    status = pbi_trials_try(trials, (pbi_choice){{GREEDY, 0}}, &result, NULL);
    if (result == PBI_TRIAL_FITS && many)
        return status;
    for (uint64_t b = mean ? mean : 1; b < t->all_sizes && status == PB_OK; b = grid_step(b, many)) {
        status = pbi_trials_try(trials, (pbi_choice){{GREEDY, b}}, &result, NULL);
        if (result == PBI_TRIAL_FITS && !high)
            high = b;
        if (many && high)
            break;
        low = high ? low : b;
    }
    for (uint32_t i = 0; i < FINE && status == PB_OK && high > low + 1; i++) {
        uint64_t b = low + (high - low) / 2;
        status = pbi_trials_try(trials, (pbi_choice){{GREEDY, b}}, &result, NULL);
        if (result == PBI_TRIAL_FITS)
            high = b;
        else
            low = b;
    }
    return status;
}

static pb_status try_all(pbi_trials *trials, const segments *c)
{
    pbi_trial result;
    pb_status status = PB_OK;
    if (c->try_variant[SQRT])
        status = pbi_trials_try(trials, (pbi_choice){{SQRT, root_of(c->candidates)}}, &result, NULL);
    if (c->try_variant[GREEDY] && status == PB_OK && !pbi_trials_done(trials))
        status = c->b == UINT64_MAX ? try_greedy(trials, c)
                                    : pbi_trials_try(trials, (pbi_choice){{GREEDY, c->b}}, &result, NULL);
    return status;
}

static pb_status read_options(segments *c, const pbi_plan_options *options)
{
    const char *variant = pbi_option_find(options, "variant");
    bool any = !variant || strcmp(variant, "auto") == 0;
    for (int i = 0; i < VARIANTS; i++)
        c->try_variant[i] = any || strcmp(variant, names[i]) == 0;
    if (!c->try_variant[SQRT] && !c->try_variant[GREEDY])
        return pbi_fail(c->ctx, PB_EINVAL, "variant must be auto, sqrt or greedy, not \"%.40s\"", variant);
    c->b = UINT64_MAX;
    return pbi_option_number(c->ctx, options, "b", 0, UINT64_MAX - 1, &c->b);
}

pb_status pbi_segments_plan(pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                            const pbi_training *training, const uint8_t *candidate, pbi_plan *plan)
{
    segments c = {.ctx = ctx, .t = training, .candidate = candidate};
    pb_status status = read_options(&c, options);
    if (status != PB_OK)
        return status;
    for (uint32_t p = 0; p < training->forward; p++)
        c.candidates += may_end(&c, p);
    pbi_trials trials;
    pbi_trials_init(&trials, ctx, game, make_sequence, &c);
    status = pbi_trials_finish(&trials, try_all(&trials, &c), plan);
    if (status != PB_OK || (!trials.fits && c.try_variant[SQRT] && c.try_variant[GREEDY]))
        return status;
    uint64_t variant = trials.fits ? trials.best.number[0] : c.try_variant[SQRT] ? SQRT : GREEDY;
    status = pbi_plan_record(plan, "variant", names[variant]);
    if (status == PB_OK && trials.fits && variant == GREEDY)
        status = pbi_plan_record_number(plan, "b", trials.best.number[1]);
    return status;
}
