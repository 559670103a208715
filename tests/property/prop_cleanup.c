/* prop_cleanup.c -- no plan recomputes, uncomputes, loads or stores what could have stayed.
 *
 * The judge is the verifier: a move list that is still legal without a move that costs, or without such a move and another one, was
 * wasteful. By-products and overwritten values, where removing is not enough, are tried one by one.
 */
#include "api/pipeline/clean_plan.h"
#include "base/rng.h"
#include "pebble/api.h"
#include "report/explain.h"
#include "support/law.h"
#include "support/plan_check.h"

#include <stdio.h>
#include <string.h>

enum { TICKS = 2000, MOST_PAIRED = 120, MUTATIONS = 60, MOST_MOVES = 60 };

static bool is_legal(law_bench *b, const pb_game *game, const pb_moves *moves)
{
    pb_verdict verdict;
    return pb_verify(&b->ctx, game, moves, &b->arena, &verdict) == PB_OK && verdict.certificate;
}

/* Is the move one that a plan is better without? Nodes with by-products are for some_computation_can_go alone: they may be computed
 * early so as to be there when a by-product is made. */
static bool costs(const pb_game *game, const pb_move *move)
{
    bool parts = game->graph->flags[move->node] & PB_NODE_HAS_PARTS;
    return parts ? move->op == PB_LOAD || move->op == PB_STORE : move->op != PB_FREE && move->op != PB_DROP;
}

static pb_moves room_for(law_bench *b, const pb_moves *moves)
{
    pb_moves out = *moves;
    out.arena = &b->arena;
    out.move = pb_arena_alloc(&b->arena, moves->count + 4, sizeof *out.move);
    out.room = moves->count + 4;
    return out;
}

static void leave_out(const pb_moves *moves, pb_step i, pb_step j, pb_moves *out)
{
    out->count = 0;
    for (pb_step k = 0; k < moves->count; k++)
        if (k != i && k != j)
            out->move[out->count++] = moves->move[k];
}

/* Without one move, or two. */
static bool some_can_go(law_bench *b, const pb_game *game, const pb_moves *moves)
{
    pb_moves less = room_for(b, moves);
    for (pb_step i = 0; i < moves->count; i++)
        for (pb_step j = i; j < moves->count && (j == i || moves->count <= MOST_PAIRED); j++) {
            leave_out(moves, i, j, &less);
            if ((costs(game, &moves->move[i]) || costs(game, &moves->move[j])) && is_legal(b, game, &less))
                return law_broken(b, "moves %d and %d of %d (%s %u, %s %u) can go", (int)i, (int)j, (int)moves->count,
                                  pb_op_name((pb_op)moves->move[i].op), moves->move[i].node,
                                  pb_op_name((pb_op)moves->move[j].op), moves->move[j].node);
        }
    return false;
}

/* Adds move k as it is, without what it overwrites, or with one more by-product. */
static void add_changed(const pb_moves *moves, pb_step k, bool apart, pb_node more, pb_moves *out)
{
    pb_node also[SMALL_MAX];
    uint32_t count;
    const pb_move *move = &moves->move[k];
    const pb_node *was = pb_moves_also(moves, k, &count);
    if (move->op != PB_COMPUTE)
        pb_moves_add(out, (pb_op)move->op, move->node, move->tier);
    else if (move->flags & PB_MOVE_BORROW)
        pb_moves_add_borrowed(out, move->node);
    else {
        for (uint32_t i = 0; i < count; i++)
            also[i] = was[i];
        if (more != PB_NO_NODE)
            also[count++] = more;
        pb_moves_add_compute(out, move->node, apart ? PB_NO_NODE : pb_moves_over(moves, k), also, count);
    }
}

typedef enum change { AS_IS, LEFT_OUT, APART, MAKES_MORE } change;

/* The last move before m that removed v from fast memory; or that computed its node and could have made it. */
static bool find_removal(const pb_moves *moves, pb_node v, pb_node owner, pb_step m, pb_step *at, change *what)
{
    for (pb_step k = m; k-- > 0;) {
        const pb_move *move = &moves->move[k];
        bool taken = move->op == PB_COMPUTE && pb_moves_over(moves, k) == v;
        if (taken || ((move->op == PB_FREE || move->op == PB_UNCOMPUTE) && move->node == v)) {
            *at = k;
            *what = taken ? APART : LEFT_OUT;
            return true;
        }
        if (owner != PB_NO_NODE && move->op == PB_COMPUTE && move->node == owner && !(move->flags & PB_MOVE_BORROW)) {
            *at = k;
            *what = MAKES_MORE;
            return true;
        }
    }
    return false;
}

/* Can computation m go, with everything that it makes kept from before? */
static bool computation_can_go(law_bench *b, const pb_game *game, const pb_moves *moves, pb_step m, bool makes_node)
{
    const pb_graph *g = game->graph;
    uint32_t count;
    const pb_node *also = pb_moves_also(moves, m, &count);
    change *what = pb_arena_zero(&b->arena, moves->count, sizeof *what);
    pb_node *more = pb_arena_zero(&b->arena, moves->count, sizeof *more);
    for (uint32_t i = 0; i < count + makes_node; i++) {
        pb_node v = i < count ? also[i] : moves->move[m].node;
        pb_step at;
        change how;
        if (!find_removal(moves, v, i < count ? g->owner[v] : PB_NO_NODE, m, &at, &how) || what[at] != AS_IS)
            return false;
        what[at] = how;
        more[at] = how == MAKES_MORE ? v : PB_NO_NODE;
    }
    pb_moves out;
    pb_moves_init(&out, &b->arena);
    for (pb_step k = 0; k < moves->count; k++)
        if (k == m && pb_moves_over(moves, k) != PB_NO_NODE)
            pb_moves_add(&out, PB_FREE, pb_moves_over(moves, k), 0);
        else if (k != m && what[k] != LEFT_OUT)
            add_changed(moves, k, what[k] == APART, what[k] == MAKES_MORE ? more[k] : PB_NO_NODE, &out);
    return is_legal(b, game, &out);
}

static bool some_computation_can_go(law_bench *b, const pb_game *game, const pb_moves *moves)
{
    const pb_graph *g = game->graph;
    bool *resident = pb_arena_zero(&b->arena, g->node_count, sizeof *resident);
    for (pb_node v = 0; v < g->node_count; v++)
        resident[v] = (g->flags[v] & PB_NODE_GIVEN) && !(g->flags[v] & PB_NODE_GIVEN_SLOW);
    for (pb_step m = 0; m < moves->count; m++) {
        const pb_move *move = &moves->move[m];
        uint32_t count;
        const pb_node *also = pb_moves_also(moves, m, &count);
        if (move->op == PB_COMPUTE && computation_can_go(b, game, moves, m, !resident[move->node]))
            return law_broken(b, "computation %d of %d (node %u) can go", (int)m, (int)moves->count, move->node);
        for (uint32_t i = 0; i < count && move->op == PB_COMPUTE; i++)
            resident[also[i]] = true;
        if (move->op == PB_COMPUTE && pb_moves_over(moves, m) != PB_NO_NODE)
            resident[pb_moves_over(moves, m)] = false;
        if (move->op == PB_COMPUTE || move->op == PB_LOAD)
            resident[move->node] = true;
        if (move->op == PB_FREE || move->op == PB_UNCOMPUTE)
            resident[move->node] = false;
    }
    return false;
}

static bool is_wasteful(law_bench *b, const pb_certificate *c)
{
    const pb_game *game = pb_certificate_game(c);
    const pb_moves *moves = pb_certificate_moves(c);
    pbi_pressure pressure;
    if (pbi_pressure_make(&b->ctx, c, 1, &b->arena, &pressure) != PB_OK)
        return law_broken(b, "no explanation: %s", b->ctx.error.message);
    if (pressure.spare)
        return law_broken(b, "%d absences would not be needed", (int)pressure.spare);
    return some_can_go(b, game, moves) || some_computation_can_go(b, game, moves);
}

static bool plan_is_wasteful(law_bench *b, const pb_strategy *row)
{
    pb_request request = {.strategy = row->name, .seed = b->small->seed};
    pb_plan_result p;
    char why[PLAN_WHY];
    b->ctx.tick_limit = TICKS;
    b->ctx.ticks = 0;
    if (pb_plan(&b->ctx, &b->game, &request, &b->arena, &p) != PB_OK)
        return law_broken(b, "%s: %s", row->name, b->ctx.error.message);
    if (!plan_is_honest(&b->game, &p, why))
        return law_broken(b, "%s: %s", row->name, why);
    if (!p.certificate || !is_wasteful(b, p.certificate))
        return false;
    char found[sizeof b->why];
    memcpy(found, b->why, sizeof found);
    return law_broken(b, "%s: %.500s", row->name, found);
}

/* One strategy a game, by turns; borrowed memory in some. */
static bool plans_are_wasteful(law_bench *b)
{
    uint32_t rows;
    const pb_strategy *row = pb_strategies(&rows);
    uint64_t seed = b->small->seed;
    b->game.weights = PB_WEIGHTS_DEFAULT;
    if (seed % 5 == 0 && b->game.kind != PB_GAME_TIERED)
        b->game.borrow = 1 + seed % 7;
    for (uint32_t i = 0; i < rows; i++)
        if ((row[i].games & b->game.kind) && (i + seed) % 4 == 0 && strcmp(row[i].name, "milp") != 0 &&
            plan_is_wasteful(b, &row[i]))
            return true;
    return false;
}

/* ---- plans that are made wasteful ---- */

static pb_move random_move(pbi_rng *rng, const pb_game *game, bool removes, pb_node v)
{
    static const uint8_t makes[] = {PB_COMPUTE, PB_COMPUTE, PB_LOAD, PB_STORE};
    static const uint8_t ends[] = {PB_FREE, PB_FREE, PB_UNCOMPUTE, PB_DROP};
    uint8_t op = removes ? ends[pbi_rng_below(rng, 4)] : makes[pbi_rng_below(rng, 4)];
    bool slow = op == PB_LOAD || op == PB_STORE || op == PB_DROP;
    if (game->kind == PB_GAME_REVERSIBLE)
        op = removes ? PB_UNCOMPUTE : PB_COMPUTE;
    uint8_t tier = slow && game->tier_count ? (uint8_t)(1 + pbi_rng_below(rng, game->tier_count)) : 0;
    bool lent = op == PB_COMPUTE && game->borrow && pbi_rng_below(rng, 2);
    return (pb_move){v, PB_NO_NODE, op, tier, lent ? PB_MOVE_BORROW : 0, 0};
}

/* Two more moves on one value somewhere; or a by-product more, or another input overwritten. */
static void mutate(law_bench *b, pbi_rng *rng, const pb_game *any, pb_moves *moves)
{
    const pb_graph *g = any->graph;
    pb_node v = (pb_node)pbi_rng_below(rng, g->node_count), u = (pb_node)pbi_rng_below(rng, g->node_count);
    pb_step i = pbi_rng_below(rng, moves->count + 1), j = i + pbi_rng_below(rng, moves->count + 1 - i);
    bool first = pbi_rng_below(rng, 2), marks = pbi_rng_below(rng, 3) == 0;
    pb_moves out;
    pb_moves_init(&out, &b->arena);
    pb_move one = random_move(rng, any, first, v), two = random_move(rng, any, !first, v);
    for (pb_step k = 0; k <= moves->count; k++) {
        for (int turn = 0; turn < 2 && !marks; turn++) {
            const pb_move *add = turn ? &two : &one;
            if (k == (turn ? j : i) && (add->flags & PB_MOVE_BORROW))
                pb_moves_add_borrowed(&out, add->node);
            else if (k == (turn ? j : i))
                pb_moves_add(&out, (pb_op)add->op, add->node, add->tier);
        }
        if (k < moves->count && marks && k == i && moves->move[k].op == PB_COMPUTE && !moves->move[k].flags)
            pb_moves_add_compute(&out, moves->move[k].node, first ? u : PB_NO_NODE, &v, first ? 0 : 1);
        else if (k < moves->count)
            add_changed(moves, k, false, PB_NO_NODE, &out);
    }
    if (is_legal(b, any, &out))
        *moves = out;
}

/* A plan of a strategy with needless moves put in, certified under a cap that it just fits, or more. */
static bool mutants_stay_wasteful(law_bench *b)
{
    static const char *const rows[] = {"last-use", "eager-uncompute", "demand"};
    uint64_t seed = b->small->seed;
    pbi_rng rng = {seed};
    pb_game any = b->game;
    any.cap = PB_UNLIMITED;
    any.borrow = seed % 3 == 0 && any.kind != PB_GAME_TIERED ? 4 : 0;
    if (seed % 2)
        any.weights = PB_WEIGHTS_DEFAULT;
    pb_plan_result p;
    pb_game own = any;
    own.borrow = 0;
    pb_request request = {.strategy = rows[any.kind == PB_GAME_REVERSIBLE ? 1 : seed % 4 == 0 ? 2 : 0], .seed = seed};
    if (pb_plan(&b->ctx, &own, &request, &b->arena, &p) != PB_OK || !p.certificate || !p.schedule.moves.count)
        return law_skip(b);
    pb_moves moves = p.schedule.moves;
    for (int k = 0; k < MUTATIONS && moves.count < MOST_MOVES; k++)
        mutate(b, &rng, &any, &moves);
    pb_verdict verdict;
    pb_metrics before;
    pbi_certified after;
    if (pb_verify(&b->ctx, &any, &moves, &b->arena, &verdict) != PB_OK || !verdict.certificate ||
        pb_metrics_measure(&b->ctx, verdict.certificate, &before) != PB_OK)
        return law_broken(b, "the mutated plan is not legal");
    any.cap = before.peak + (seed % 8 < 5 ? 0 : seed % 5);
    if (pbi_certify(&b->ctx, &any, false, &moves, &b->arena, &after) != PB_OK || !after.verdict.certificate)
        return law_broken(b, "cleaned up: %s", b->ctx.error.message);
    if (pb_u128_compare(after.metrics.cost, before.cost) > 0)
        return law_broken(b, "the cost rises");
    bool plain = !any.weights.alpha && !any.weights.beta;
    if (plain && after.metrics.makespan > before.makespan)
        return law_broken(b, "the makespan rises");
    return plain && is_wasteful(b, after.verdict.certificate);
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 3000);
    law_run("plans with needless moves are cleaned", mutants_stay_wasteful, PB_GAME_ALL, cases);
    law_run("no plan has a needless move", plans_are_wasteful, PB_GAME_ALL, cases);
    law_run_large("no larger plan has a needless move", plans_are_wasteful, PB_GAME_ALL, cases / 10);
    law_run_recipes("plans with needless moves are cleaned, with recipes", mutants_stay_wasteful, PB_GAME_ALL, cases);
    law_run_recipes("no plan has a needless move, with recipes", plans_are_wasteful, PB_GAME_ALL, cases);
    return law_finish();
}
