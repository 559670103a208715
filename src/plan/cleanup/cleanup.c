/* cleanup.c -- drops unnecessary moves of a plan. See cleanup.h.
 *
 * Problem     plans free values and recompute them although there was room for them: planners count with blocks,
 *             segments or periods, and their last steps leave gaps.
 * Idea        a move whose results were all in memory before is not needed if each of them can stay in memory from
 *             where it was removed, or be computed where its node was last computed. Moves that save most for the
 *             memory they hold over time are dropped first. Then what only served the dropped moves is dropped too,
 *             and makes room for others.
 * Invariants  the plan is legal after every drop: memory is checked move by move, and keeping a value longer breaks
 *             nothing, since no move in between computes it or needs its absence. So a stop may come between any two
 *             drops.
 * Cost        a sort, and O(log moves) for each recomputation and each removed read, in every round; rounds continue
 *             while one drops something.
 * Limits      in the reversible game a computation that overwrites its input is kept: the input could not be freed.
 *             Values move between own and borrowed memory only if they are uncomputed in the end either way. A node
 *             that is computed early, and again for a by-product while it is resident, is not computed later instead.
 */
#include "plan/cleanup/cleanup.h"

#include "base/arena.h"
#include "base/context.h"
#include "plan/cleanup/stays.h"

#include <stdlib.h>

/* How a recomputed value can be resident already. */
typedef struct link {
    uint32_t stay;
    uint32_t earlier; /* the stay after which it is not removed; PBI_NONE if it is computed earlier instead: */
    uint32_t from;    /* the computation that then computes it */
} link;

typedef struct candidate {
    double worth;
    uint32_t move;
} candidate;

enum {
    POLL = 1024,       /* steps between two polls */
    OVERTIME = 1 << 16 /* steps that are still done after a stop: some milliseconds, enough for most plans */
};

typedef struct cleaner {
    pb_context *ctx;
    pbi_stays s;
    pb_arena *arena;
    link *links; /* of the current move */
    uint32_t link_count;
    candidate *candidates;
    uint32_t candidate_count;
    double alpha, beta, gamma;
    uint64_t next_poll, end; /* in steps */
} cleaner;

/* May it continue? Counts a step, and the stays visited since. */
static bool may_continue(cleaner *c)
{
    uint64_t steps = ++c->s.work;
    if (steps >= c->next_poll && c->end == UINT64_MAX) {
        c->next_poll = steps + POLL;
        if (pbi_poll(c->ctx) != PB_OK)
            c->end = steps + OVERTIME;
    }
    return steps < c->end;
}

/* Is there anything that could be unnecessary? */
static pb_status may_be_unnecessary(const pb_game *game, const pb_moves *moves, pb_arena *scratch, bool *found)
{
    uint8_t *computed = pb_arena_zero(scratch, game->graph->node_count, sizeof *computed);
    *found = false;
    if (!computed)
        return PB_ENOMEM;
    for (pb_step k = 0; k < moves->count && !*found; k++) {
        const pb_move *move = &moves->move[k];
        bool vain = computed[move->node] || !(game->graph->flags[move->node] & PB_NODE_NEEDED);
        *found = move->op == PB_STORE || move->op == PB_LOAD || (move->op == PB_COMPUTE && vain);
        computed[move->node] |= move->op == PB_COMPUTE;
    }
    return PB_OK;
}

/* The memory that a link needs: at its moves, and at the one that overwrites the value now. */
static uint32_t first_of(const cleaner *c, const link *l)
{
    return l->earlier == PBI_NONE ? l->from : c->s.stay[l->earlier].to + 1;
}

static uint64_t at_removal(const cleaner *c, const link *l)
{
    const pbi_stays *s = &c->s;
    const pbi_stay *a = l->earlier == PBI_NONE ? NULL : &s->stay[l->earlier];
    bool overwritten = a && !a->early && s->state[a->to] == PBI_MOVE_THERE && s->moves->move[a->to].op == PB_COMPUTE;
    return overwritten ? pbi_stays_saved(s, a->to) : 0;
}

/* May stay b continue stay a? What is uncomputed in the end may be in own or in borrowed memory. */
static bool may_follow(const pbi_stays *s, const pbi_stay *a, const pbi_stay *b)
{
    return a->place == b->place ||
           (s->game->kind == PB_GAME_REVERSIBLE && b->to != PBI_NONE && s->moves->move[b->to].op == PB_UNCOMPUTE);
}

static bool link_stay(cleaner *c, uint32_t x, uint32_t m)
{
    pbi_stays *s = &c->s;
    const pbi_stay *b = &s->stay[x];
    link l = {x, b->earlier, PBI_NONE};
    if (s->moves->move[m].op == PB_COMPUTE && b->node != s->moves->move[m].node) {
        uint32_t before = pbi_stays_computed(s, m);
        if (before != PBI_NONE && (l.earlier == PBI_NONE || before > s->stay[l.earlier].to))
            l = (link){x, PBI_NONE, before};
    }
    if (l.earlier == PBI_NONE ? l.from == PBI_NONE : !may_follow(s, &s->stay[l.earlier], b))
        return false;
    c->links[c->link_count++] = l;
    return true;
}

/* What would have to be kept so that move m is not needed. False: impossible. */
static bool gather_links(cleaner *c, uint32_t m)
{
    pbi_stays *s = &c->s;
    bool over = s->moves->move[m].op == PB_COMPUTE && pbi_stays_over(s, m) != PB_NO_NODE;
    c->link_count = 0;
    s->work += s->made[m + 1] - s->made[m];
    if (s->state[m] != PBI_MOVE_THERE || (over && s->game->kind == PB_GAME_REVERSIBLE))
        return false;
    for (uint32_t x = s->made[m]; x < s->made[m + 1]; x++)
        if (!s->stay[x].gone && s->stay[x].from == m && !link_stay(c, x, m))
            return false;
    for (uint32_t x = s->added ? s->added[m] : PBI_NONE; x != PBI_NONE; x = s->stay[x].next_added)
        if (!s->stay[x].gone && s->stay[x].from == m && !link_stay(c, x, m))
            return false;
    return c->link_count > 0;
}

/* The memory that a link is in. */
static uint8_t place_of(const cleaner *c, const link *l)
{
    return c->s.stay[l->earlier == PBI_NONE ? l->stay : l->earlier].place;
}

/* Adds a link to the heights, or removes it. */
static void raise_link(cleaner *c, const link *l, uint32_t m, bool back)
{
    pbi_stays *s = &c->s;
    const pbi_stay *b = &s->stay[l->stay];
    uint8_t place = place_of(c, l);
    uint64_t size = s->graph->size[b->node], more = at_removal(c, l);
    uint32_t first = first_of(c, l);
    pbi_stays_raise(s, place, first, m - 1, back ? ~size + 1 : size);
    if (more)
        pbi_stays_raise(s, place, first - 1, first - 1, back ? ~more + 1 : more);
    if (place == b->place)
        return;
    pbi_stays_raise(s, place, m, b->to, back ? ~size + 1 : size);
    pbi_stays_raise(s, b->place, m, b->to, back ? size : ~size + 1);
}

static void remove_links(cleaner *c, uint32_t m, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        raise_link(c, &c->links[i], m, true);
}

static bool fits(const cleaner *c, const link *l, uint32_t m)
{
    const pbi_stays *s = &c->s;
    const pbi_stay *b = &s->stay[l->stay];
    uint8_t place = place_of(c, l);
    uint64_t size = s->graph->size[b->node], more = at_removal(c, l);
    uint32_t first = first_of(c, l);
    return pbi_stays_fit(s, place, first, m - 1, size) &&
           (!more || pbi_stays_fit(s, place, first - 1, first - 1, more)) &&
           (place == b->place || pbi_stays_fit(s, place, m + 1, b->to, size));
}

/* Raises the heights if all the links fit. */
static bool make_room(cleaner *c, uint32_t m)
{
    for (uint32_t i = 0; i < c->link_count; i++) {
        if (!fits(c, &c->links[i], m)) {
            remove_links(c, m, i);
            return false;
        }
        raise_link(c, &c->links[i], m, false);
    }
    return true;
}

/* The work of the removal before a link, if it is an uncomputation. */
static uint64_t removal_cost(const cleaner *c, const link *l)
{
    const pbi_stays *s = &c->s;
    const pbi_stay *a = l->earlier == PBI_NONE ? NULL : &s->stay[l->earlier];
    return a && !a->early && s->moves->move[a->to].op == PB_UNCOMPUTE ? pbi_stays_cost(s, a->to) : 0;
}

/* How dropping move m changes the cost, if peak or flux have a price; room has been made. `peak` is that before. */
static double change_in_cost(const cleaner *c, uint32_t m, uint64_t peak)
{
    const pbi_stays *s = &c->s;
    const pbi_range_max *height = s->height[PBI_FAST];
    uint64_t now = pbi_range_max_find(height, 0, s->count - 1);
    double rise = now > peak ? (double)(now - peak) : 0, flux = 0, saved = (double)pbi_stays_cost(s, m);
    flux -= saved * (double)pbi_range_max_at(height, m);
    for (uint32_t i = 0; i < c->link_count; i++) {
        const link *l = &c->links[i];
        const pbi_stay *b = &s->stay[l->stay];
        uint64_t spared = removal_cost(c, l), more = at_removal(c, l);
        uint32_t first = first_of(c, l);
        saved += (double)spared;
        if (spared)
            flux -= (double)spared * (double)pbi_range_max_at(height, first - 1);
        if (more)
            flux += (double)more * (double)pbi_stays_cost(s, first - 1);
        if (place_of(c, l) == PBI_FAST && first < m)
            flux += (double)s->graph->size[b->node] * (double)pbi_stays_time(s, first, m - 1);
    }
    return c->alpha * rise + c->beta * flux - c->gamma * saved;
}

/* Drops move m if its results can be in memory without it. */
static bool drop_move(cleaner *c, uint32_t m)
{
    pbi_stays *s = &c->s;
    bool priced = c->alpha > 0 || c->beta > 0;
    if (!gather_links(c, m))
        return false;
    uint64_t peak = priced ? pbi_range_max_find(s->height[PBI_FAST], 0, s->count - 1) : 0;
    if (!make_room(c, m))
        return false;
    if (priced && change_in_cost(c, m, peak) > 0) {
        remove_links(c, m, c->link_count);
        return false;
    }
    for (uint32_t i = 0; i < c->link_count; i++) {
        const link *l = &c->links[i];
        if (l->earlier == PBI_NONE)
            pbi_stays_add(s, l->stay, l->from);
        else
            pbi_stays_join(s, l->earlier, l->stay);
    }
    pbi_stays_drop_make(s, m);
    pbi_stays_shorten_all(s);
    return true;
}

static int by_worth(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    return x->move < y->move ? -1 : x->move > y->move;
}

/* Does move m compute or load a value that was in memory before, or could have been? */
static bool recomputes(const pbi_stays *s, uint32_t m)
{
    for (uint32_t x = s->made[m]; x < s->made[m + 1]; x++)
        if (s->stay[x].earlier != PBI_NONE)
            return true;
    return s->computed && s->computed[m] != PBI_NONE && s->made[m] < s->made[m + 1];
}

/* Moves without new results, those that save most for memory over time first. */
static pb_status find_candidates(cleaner *c)
{
    pbi_stays *s = &c->s;
    c->links = pb_arena_alloc(c->arena, s->graph->node_count, sizeof *c->links);
    c->candidates = pb_arena_alloc(c->arena, s->count, sizeof *c->candidates);
    if (!c->links || !c->candidates)
        return PB_ENOMEM;
    for (uint32_t m = 0; m < s->count; m++) {
        double saved = (double)pbi_stays_cost(s, m), held = 1;
        if (!recomputes(s, m))
            continue;
        gather_links(c, m);
        for (uint32_t i = 0; i < c->link_count; i++) {
            saved += (double)removal_cost(c, &c->links[i]);
            held += (double)s->graph->size[s->stay[c->links[i].stay].node] * (m - first_of(c, &c->links[i]));
        }
        c->candidates[c->candidate_count++] = (candidate){saved / held, m};
    }
    qsort(c->candidates, c->candidate_count, sizeof *c->candidates, by_worth);
    return PB_OK;
}

/* Continues until a whole round drops nothing, or it is stopped. */
static void drop_all(cleaner *c, bool *changed)
{
    pbi_stays *s = &c->s;
    for (uint32_t x = 0; x < s->stay_count && may_continue(c); x++)
        if (!s->stay[x].gone && s->stay[x].last_read == PBI_NONE && pbi_stays_remove(s, x)) {
            pbi_stays_shorten_all(s);
            *changed = true;
        }
    for (bool more = true; more && may_continue(c);) {
        uint32_t left = 0;
        more = false;
        for (uint32_t i = 0; i < c->candidate_count && may_continue(c); i++) {
            uint32_t m = c->candidates[i].move;
            if (drop_move(c, m))
                more = *changed = true;
            else if (s->state[m] == PBI_MOVE_THERE)
                c->candidates[left++] = c->candidates[i];
        }
        c->candidate_count = left;
    }
}

static pb_status clean(cleaner *c, pb_arena *result, pb_moves *out, bool *changed)
{
    pb_moves moves;
    pb_status status = find_candidates(c);
    if (status != PB_OK)
        return status;
    drop_all(c, changed);
    if (!*changed)
        return PB_OK;
    pb_moves_init(&moves, result);
    status = pbi_stays_write(&c->s, c->arena, &moves);
    if (status == PB_OK)
        *out = moves;
    return status;
}

/* Short plans are cleaned even after a stop. */
static pb_status make_stays(cleaner *c, const pb_game *game, const pb_moves *moves)
{
    if (moves->count > OVERTIME)
        return pbi_stays_make(c->ctx, &c->s, game, moves, c->arena);
    pbi_held held = pbi_hold(c->ctx);
    pb_status status = pbi_stays_make(c->ctx, &c->s, game, moves, c->arena);
    pbi_resume(c->ctx, held);
    return status;
}

pb_status pbi_cleanup(pb_context *ctx, const pb_game *game, const pb_moves *moves, pb_arena *result, pb_moves *out,
                      bool *changed)
{
    pb_arena scratch;
    bool found;
    const pb_weights *w = &game->weights;
    cleaner c = {.ctx = ctx, .arena = &scratch, .end = UINT64_MAX};
    c.alpha = (double)w->alpha;
    c.beta = (double)w->beta;
    c.gamma = (double)w->gamma;
    *changed = false;
    pb_arena_init(&scratch, ctx);
    pb_status status = may_be_unnecessary(game, moves, &scratch, &found);
    if (status == PB_OK && found) {
        status = make_stays(&c, game, moves);
        if (status == PB_OK)
            status = clean(&c, result, out, changed);
    }
    if (status == PB_ERANGE || status == PB_ECANCELLED) /* a plan of 2^32 moves or reads is not changed */
        status = PB_OK;
    pb_arena_release(&scratch);
    return status;
}
