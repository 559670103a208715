/* rounds.c -- see rounds.h.
 *
 * First, every strategy that plays the game runs with little effort, so that there is a plan soon, also after a stop.
 * Then those that ran out of effort run again with all the effort that is allowed:
 *  - exact strategies, after some more effort for anytime searches, because a good plan makes a proof easier;
 *  - anytime searches, which start from the best plan so far;
 *  - the others, only while there is no plan at all. On large graphs they run earlier, with some effort, if the plan is
 *    far from the bound.
 *
 * In each round exact strategies come first. They decline at once if the graph does not have their shape. If it has, no
 * other strategy can beat them. On larger graphs only the nearly linear strategies come before them.
 */
#include "api/pipeline/rounds.h"

/* Node counts. Up to SMALLEST all plans can be searched, and often up to SMALL. From LARGER on each strategy takes
 * time. From VAST on a short search improves nothing. */
enum { SMALLEST = 40, SMALL = 64, LARGER = 400, LARGE = 5000, VAST = 20000 };

static bool has(const pb_strategy *row, unsigned traits) { return (row->traits & traits) == traits; }

/* The solver's formulas are a last resort, and do not count as a search over states. */
static bool searches_states(const pb_strategy *row)
{
    return has(row, PB_TRAIT_EXHAUSTIVE) && !has(row, PB_TRAIT_SOLVER);
}

/* The place of a strategy in the order: 0, 1 or 2. */
static int rank(const pb_strategy *row, const pb_graph *g)
{
    if (g->node_count > LARGER && g->shape == PB_SHAPE_GENERAL && has(row, PB_TRAIT_LINEAR))
        return 0; /* this gives a plan sooner */
    return row->strength == PB_EXACT ? 1 : 2;
}

/* In the tiered game, strategies that use only fast memory run, too, and searches run once more for fast memory alone.
 * If transfers are expensive, these plans are the best. */
uint32_t pbi_turns_make(const pb_game *game, unsigned traits, pbi_turn turns[PBI_MAX_TURNS])
{
    uint32_t count, asked = 0;
    const pb_strategy *rows = pb_strategies(&count);
    for (int now = 0; now <= 2; now++)
        for (uint32_t i = 0; i < count; i++) {
            const pb_strategy *row = &rows[i];
            bool plays = row->games & (unsigned)game->kind;
            if (row->strength == PB_PORTFOLIO || row->strength == PB_BASELINE || !has(row, traits) ||
                has(row, PB_TRAIT_FILE) || rank(row, game->graph) != now)
                continue;
            bool both = row->strength == PB_ANYTIME || searches_states(row);
            if (game->kind == PB_GAME_TIERED && (row->games & PB_GAME_REMAT) && (!plays || both))
                turns[asked++] = (pbi_turn){row, true};
            if (plays)
                turns[asked++] = (pbi_turn){row, false};
        }
    return asked;
}

/* Is the graph large, and the plan within a `part`-th of the bound? */
static bool is_near(const pbi_rounds *r, uint64_t part)
{
    const pb_weights *w = &r->game->weights;
    uint64_t bound = r->bounds->makespan;
    return r->game->graph->node_count > LARGE && !w->alpha && !w->beta && r->outcome == PB_FOUND &&
           r->makespan - bound <= bound / part;
}

/* Is the plan as close to the bound as was asked for? */
static bool is_enough(const pbi_rounds *r)
{
    const pb_weights *w = &r->game->weights;
    return r->gap > 0 && !w->alpha && !w->beta && r->outcome == PB_FOUND &&
           (double)(r->makespan - r->bounds->makespan) <= r->gap * (double)r->bounds->makespan;
}

/* On large graphs each strategy takes seconds. Within 0.02 % of the bound, that is not worth it. */
bool pbi_rounds_done(const pbi_rounds *r)
{
    return r->outcome == PB_OPTIMAL || r->outcome == PB_INFEASIBLE || is_enough(r) || (!r->patient && is_near(r, 5000));
}

/* Within 1 % of the bound, tables that are much larger than the graph are not worth their memory. */
size_t pbi_turn_memory(const pbi_rounds *r)
{
    enum { EACH = 300 };
    const pb_graph *g = r->game->graph;
    return is_near(r, 100) ? EACH * ((size_t)g->node_count + g->edge_count) : 0;
}

/* Is there no plan, or, on a large graph, only one that is far from the bound? */
static bool is_poor(const pbi_rounds *r)
{
    uint64_t bound = r->bounds->makespan;
    return r->outcome == PB_GAVE_UP || (r->game->graph->node_count > LARGE && r->makespan - bound > bound / 4);
}

/* In the reversible game exhaustive strategies prove little beyond some dozens of nodes, and a search uses the time
 * better. They get all the effort only on the smallest graphs. A solver runs only if nothing else has found a plan. */
static bool is_lost_time(const pbi_rounds *r, const pb_strategy *row)
{
    bool has_plan = r->outcome != PB_GAVE_UP;
    return r->game->kind == PB_GAME_REVERSIBLE && has(row, PB_TRAIT_EXHAUSTIVE) &&
           (r->game->graph->node_count > SMALL || (has_plan && has(row, PB_TRAIT_SOLVER)));
}

/* Except on small graphs, a search over states does not get far without a plan that limits the work. */
static bool is_hopeless(const pbi_rounds *r, const pb_strategy *row)
{
    return r->outcome == PB_GAVE_UP && r->game->graph->node_count > SMALL && searches_states(row);
}

/* Is a turn for fast memory alone useless? It is if slow memory pays, or if a search follows that considers both. */
static bool is_idle(const pbi_rounds *r, const pbi_turn *t, pbi_round now)
{
    return t->fast && (now == PBI_ROUND_ANYTIME || (now >= PBI_ROUND_EXACT && r->uses_slow));
}

bool pbi_turn_is_due(const pbi_rounds *r, const pbi_turn *t, bool was_cut, pbi_round now)
{
    const pb_strategy *row = t->row;
    uint32_t nodes = r->game->graph->node_count;
    if (is_idle(r, t, now) || is_lost_time(r, row))
        return false;
    switch (now) {
    case PBI_ROUND_SOON: /* proofs are easier with a good plan */
        return was_cut && row->strength == PB_ANYTIME && r->exact_cut && nodes <= LARGER &&
               (nodes <= SMALL || r->outcome != PB_GAVE_UP);
    /* on larger graphs a search with little effort finds nothing, or nothing that it would not find soon after */
    case PBI_ROUND_FIRST: return row->strength != PB_ANYTIME || nodes <= (r->patient ? LARGER : VAST);
    case PBI_ROUND_EXACT: return was_cut && row->strength == PB_EXACT && !is_hopeless(r, row);
    case PBI_ROUND_MORE: return was_cut && row->strength == PB_HEURISTIC && nodes > LARGE && is_poor(r);
    case PBI_ROUND_ANYTIME: return was_cut && row->strength == PB_ANYTIME;
    default: return was_cut && row->strength == PB_HEURISTIC && r->outcome == PB_GAVE_UP;
    }
}

/* Without a limit on time or ticks, an anytime search gets as much effort as is likely to pay: seconds for hundreds of
 * nodes. */
uint64_t pbi_turn_effort(const pbi_rounds *r, const pb_strategy *row, pbi_round now)
{
    const uint64_t some = 1000000, each = 8000, max = 8000000, max_near = 4000000;
    const pb_graph *g = r->game->graph;
    uint64_t nodes = g->node_count, little = 200000 + 8 * (nodes + g->edge_count), search = some + each * nodes;
    uint64_t limit = is_near(r, 100) ? max_near : max;
    bool reversible = r->game->kind == PB_GAME_REVERSIBLE;
    /* On small trees a search improves more if it starts from a plain plan. */
    bool explored = reversible && g->shape == PB_SHAPE_IN_TREE && nodes <= LARGER;
    if (now == PBI_ROUND_SOON)
        return reversible ? 4 * some : some;
    if (now == PBI_ROUND_EXACT && reversible && has(row, PB_TRAIT_EXHAUSTIVE) && nodes > SMALLEST)
        return explored ? some : max; /* a proof for these trees takes longer than seconds */
    if (now == PBI_ROUND_FIRST && row->strength == PB_EXACT && g->shape != PB_SHAPE_GENERAL && !explored)
        return 100 * little; /* likely to finish, and its steps are quick */
    if (now == PBI_ROUND_FIRST && reversible && row->strength == PB_ANYTIME && nodes <= LARGER && !r->patient)
        return 10 * little; /* it starts from another strategy's plan, and there may be a better one later */
    if (now == PBI_ROUND_FIRST)
        return little;
    if (now == PBI_ROUND_MORE) /* below some ten thousand nodes a search does well, and should get most of the time */
        return nodes > VAST ? 32 * little : 4 * little;
    if (nodes > LARGE)
        limit = limit * LARGE / nodes; /* each change takes longer */
    return now != PBI_ROUND_ANYTIME || r->patient ? 0 : search < limit ? search : limit;
}
