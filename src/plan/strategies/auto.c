/* auto.c -- try the others, keep the best.
 *
 * Problem     a user wants a plan, not a strategy.
 * Idea        every row that plays this game is asked, first with little effort each, so that a plan is there soon
 *             and a stop finds one. Then those that ran out of it are asked again with all the effort there is: exact rows,
 *             after some more effort for anytime rows, since a good plan makes a proof easier; anytime rows, which begin
 *             from the best plan so far; and only while there is no plan at all the others; on large graphs these come
 *             earlier, once more with some effort, where the plan is far from the bound.
 *             Exact rows come first: they decline at once where the graph's shape is not theirs, and where it is,
 *             nothing can beat them; on larger graphs only orders and cuts come before them. Each answer has been
 *             verified; the cheapest under the weights is kept. A plan that is proved the best, or a proof that there is
 *             none, ends the search; so does one that is nearly proved, on large graphs, unless there is time.
 * Invariants  what is kept never gets worse; a stop keeps the best so far.
 * Cost        the sum of the rows tried.
 * Source      algorithm portfolios.
 * Limits      no better than its best row.
 */
#include "plan/strategy.h"

#include "base/context.h"

enum {
    TURNS = 0
#define STRATEGY(id, name, games, strength, policy, summary, options) +2
#include "plan/strategies.def"
#undef STRATEGY
};

/* A row to be asked; `fast`: for plans in fast memory alone, in the tiered game. */
typedef struct turn {
    const pb_strategy *row;
    bool fast;
} turn;

/* Nodes up to which all ways can be looked at, up to which they may be, from which each row takes time, and from which a
 * short search brings nothing. */
enum { SMALLEST = 40, SMALL = 64, LARGER = 400, LARGE = 5000, VAST = 20000 };

/* On larger graphs a plan is there sooner if what is nearly linear begins: an order, or a cut. The table of strategies has
 * them in front. */
static bool is_quick(const pb_strategy *row, const pb_graph *g)
{
    return g->node_count > LARGER && g->shape == PB_SHAPE_GENERAL && row <= pb_strategy_find("cut");
}

/* When a row has its turn: 0, 1 or 2. */
static int rank(const pb_strategy *row, const pb_graph *g)
{
    return is_quick(row, g) ? 0 : row->strength == PB_EXACT ? 1 : 2;
}

/* The rows to be asked, in their order. In the tiered game those that know fast memory alone are asked too, and searches once
 * for that alone: where moving costs much, theirs are the best plans. */
static uint32_t line_up(const pb_strategy *rows, uint32_t count, const pb_game *game, turn turns[TURNS])
{
    uint32_t asked = 0;
    for (int now = 0; now <= 2; now++)
        for (uint32_t i = 0; i < count; i++) {
            const pb_strategy *row = &rows[i];
            bool plays = row->games & (unsigned)game->kind;
            if (row->strength == PB_PORTFOLIO || row->strength == PB_BASELINE || rank(row, game->graph) != now)
                continue;
            bool both = row->strength == PB_ANYTIME || row == pb_strategy_find("exact");
            if (game->kind == PB_GAME_TIERED && (row->games & PB_GAME_REMAT) && (!plays || both))
                turns[asked++] = (turn){row, true};
            if (plays)
                turns[asked++] = (turn){row, false};
        }
    return asked;
}

/* Is the plan of a large graph within so small a part of the bound? */
static bool is_near(const pb_game *game, const pbi_plan_options *options, const pbi_plan *plan, uint64_t part)
{
    const pb_weights *w = &game->weights;
    uint64_t bound = options->bounds->makespan;
    return game->graph->node_count > LARGE && !w->alpha && !w->beta && plan->outcome == PB_FOUND &&
           plan->makespan - bound <= bound / part;
}

/* On large graphs each row takes seconds: within two hundredths of a percent of the bound they are not worth it. */
static bool near_enough(const pb_game *game, const pbi_plan_options *options, const pbi_plan *plan)
{
    return !options->patient && is_near(game, options, plan, 5000);
}

/* Bytes that a row may take on top of what is in use, 0: any. Within a percent of the bound tables that are larger than
 * the graph by far are not worth their memory. */
static size_t memory_share(const pb_game *game, const pbi_plan_options *options, const pbi_plan *plan)
{
    enum { EACH = 300 };
    const pb_graph *g = game->graph;
    return is_near(game, options, plan, 100) ? EACH * ((size_t)g->node_count + g->edge_count) : 0;
}

/* The rounds: a first look by all; then those that ran out of effort, while that seems to pay. */
typedef enum round { FIRST, SOON, EXACT, MORE, ANYTIME, LAST, ROUNDS } round;

typedef struct portfolio {
    pb_context *ctx;
    const pb_game *game;
    const pbi_plan_options *options;
    pbi_plan *plan;
    bool cut[TURNS]; /* the row ran out of effort when it was asked last */
    bool exact_cut;  /* an exact row did, in the first round */
} portfolio;

/* Is there no plan of a large graph, or one that is far from the bound? */
static bool is_poor(const portfolio *p)
{
    uint64_t bound = p->options->bounds->makespan;
    return p->plan->outcome == PB_GAVE_UP ||
           (p->game->graph->node_count > LARGE && p->plan->makespan - bound > bound / 4);
}

/* The rows that look at every way, whatever the graph's shape. */
static bool is_exhaustive(const pb_strategy *row)
{
    return row->strength == PB_EXACT && (row == pb_strategy_find("exact") || row == pb_strategy_find("sat"));
}

/* In the reversible game they prove little beyond some dozens of nodes, and time is better spent on searching: they have all
 * of it on the smallest graphs, and a formula only where nothing else has found a plan. */
static bool is_lost_time(const portfolio *p, const pb_strategy *row)
{
    bool has_plan = p->plan->outcome != PB_GAVE_UP;
    return p->game->kind == PB_GAME_REVERSIBLE && is_exhaustive(row) &&
           (p->game->graph->node_count > SMALL || (has_plan && row == pb_strategy_find("sat")));
}

/* Looking at every way to fill the memory does not get far without a plan that says what is too much, but on the smallest
 * graphs. */
static bool is_hopeless(const portfolio *p, const pb_strategy *row)
{
    return p->plan->outcome == PB_GAVE_UP && p->game->graph->node_count > SMALL && row == pb_strategy_find("exact");
}

/* Moving values pays, and that is not asked for; or it is the turn of a search that looks at both anyway. */
static bool is_idle(const portfolio *p, const turn *t, round now)
{
    return t->fast && (now == ANYTIME || (now >= EXACT && p->plan->moves_values));
}

static bool deserves(const portfolio *p, const turn *t, bool was_cut, round now)
{
    const pb_strategy *row = t->row;
    uint32_t nodes = p->game->graph->node_count;
    if (is_idle(p, t, now) || is_lost_time(p, row))
        return false;
    switch (now) {
    case SOON: /* proofs are easier with a good plan */
        return was_cut && row->strength == PB_ANYTIME && p->exact_cut && nodes <= LARGER &&
               (nodes <= SMALL || p->plan->outcome != PB_GAVE_UP);
    case FIRST: /* with little effort that brings nothing, or nothing that it would not find with more, soon after */
        return row->strength != PB_ANYTIME || nodes <= (p->options->patient ? LARGER : VAST);
    case EXACT: return was_cut && row->strength == PB_EXACT && !is_hopeless(p, row);
    case MORE: return was_cut && row->strength == PB_HEURISTIC && nodes > LARGE && is_poor(p);
    case ANYTIME: return was_cut && row->strength == PB_ANYTIME;
    default: return was_cut && row->strength == PB_HEURISTIC && p->plan->outcome == PB_GAVE_UP;
    }
}

/* 0: all there is. Without a limit on time or ticks an anytime row has as much as is likely to pay: seconds for hundreds of
 * nodes. */
static uint64_t effort_of(const portfolio *p, const pb_strategy *row, round now)
{
    const uint64_t some = 1000000, each = 8000, most = 8000000, near_most = 4000000;
    const pb_graph *g = p->game->graph;
    uint64_t nodes = g->node_count, little = 200000 + 8 * (nodes + g->edge_count), search = some + each * nodes;
    uint64_t limit = is_near(p->game, p->options, p->plan, 100) ? near_most : most;
    bool reversible = p->game->kind == PB_GAME_REVERSIBLE;
    bool explored =
        reversible && g->shape == PB_SHAPE_IN_TREE && nodes <= LARGER; /* a search goes further from a plain plan */
    if (now == SOON)
        return reversible ? 4 * some : some;
    if (now == EXACT && reversible && is_exhaustive(row) && nodes > SMALLEST)
        return explored ? some : most; /* nothing is proved of these trees in seconds */
    if (now == FIRST && row->strength == PB_EXACT && g->shape != PB_SHAPE_GENERAL && !explored)
        return 100 * little; /* likely to be the end of it, and its steps are quick */
    if (now == FIRST && reversible && row->strength == PB_ANYTIME && nodes <= LARGER && !p->options->patient)
        return 10 * little; /* it goes on from the plan of another row, and there may be a better one later */
    if (now == FIRST ||
        now == MORE) /* a search does well below some ten thousand nodes: it should have most of the time */
        return now == FIRST ? little : nodes > VAST ? 32 * little : 4 * little;
    if (nodes > LARGE)
        limit = limit * LARGE / nodes; /* a change takes the longer */
    return now != ANYTIME || p->options->patient ? 0 : search < limit ? search : limit;
}

static pb_status ask(portfolio *p, const turn *t, round now, bool *was_cut)
{
    pb_context *ctx = p->ctx;
    size_t limit = ctx->memory_limit, share = memory_share(p->game, p->options, p->plan);
    if (share && (!limit || share < limit - ctx->memory_used))
        ctx->memory_limit = ctx->memory_used + share;
    pb_status status =
        p->options->try_row(p->options->try_state, t->row, t->fast, effort_of(p, t->row, now), p->plan, was_cut);
    ctx->memory_limit = limit;
    return status;
}

pb_status pbi_plan_auto(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    portfolio p = {.ctx = ctx, .game = game, .options = options, .plan = plan};
    uint32_t count;
    turn turns[TURNS];
    const pb_strategy *rows = pb_strategies(&count);
    pb_status status = PB_OK;
    count = line_up(rows, count, game, turns);
    for (uint32_t i = 0; i < ROUNDS * count && status == PB_OK; i++) {
        const turn *t = &turns[i % count];
        bool *was_cut = &p.cut[i % count];
        if (plan->outcome == PB_OPTIMAL || plan->outcome == PB_INFEASIBLE || near_enough(game, options, plan))
            break;
        pbi_progress(ctx, t->row->name, i, ROUNDS * count);
        if (deserves(&p, t, *was_cut, (round)(i / count)))
            status = ask(&p, t, (round)(i / count), was_cut);
        else if (i < count)
            *was_cut = true;
        p.exact_cut = p.exact_cut || (i < count && t->row->strength == PB_EXACT && *was_cut);
    }
    if ((status == PB_ECANCELLED || status == PB_ELIMIT) && plan->outcome != PB_GAVE_UP)
        status = PB_OK;
    if (status == PB_OK && plan->outcome == PB_GAVE_UP)
        return pbi_plan_give_up(plan, "no strategy found a plan within the cap");
    return status;
}
