/* lifetimes.c -- from moves to lifetimes: see pack.h. */
#include "pebble/pack.h"

#include "base/checked.h"
#include "base/context.h"
#include "game/untimed.h"

enum { FIRST_ROOM = 256 };
#define NOT_THERE UINT32_MAX
#define ELSEWHERE (UINT32_MAX - 1) /* in borrowed memory */
#define NEW_PLACE UINT32_MAX

typedef struct maker {
    pb_context *ctx;
    const pb_game *game;
    const pb_moves *moves;
    uint64_t align;
    pb_arena *result;
    uint32_t *open; /* the lifetime of a node's value, NOT_THERE or ELSEWHERE */
    pb_lifetime *life;
    uint64_t count, room;
    uint32_t places;
    uint32_t memory; /* of the timed game: the processor's */
} maker;

static pb_status reserve(maker *m)
{
    if (m->count < m->room)
        return PB_OK;
    if (m->count >= ELSEWHERE)
        return pbi_fail(m->ctx, PB_ERANGE,
                        "the plan computes more values than the limit of %u; raise the cap, or use a smaller graph",
                        ELSEWHERE);
    uint64_t room = m->room ? 2 * m->room : FIRST_ROOM;
    pb_lifetime *life = pb_arena_alloc(m->result, room, sizeof *life);
    if (!life)
        return PB_ENOMEM;
    for (uint64_t i = 0; i < m->count; i++)
        life[i] = m->life[i];
    m->life = life;
    m->room = room;
    return PB_OK;
}

/* A lifetime that starts now, in the place of another one or in a new place. */
static pb_status begin(maker *m, uint64_t time, pb_node node, uint64_t size, uint32_t place)
{
    uint64_t rounded;
    if (!size)
        return PB_OK;
    if (!pbi_add(size, m->align - 1, &rounded))
        return pbi_fail(m->ctx, PB_ERANGE, "a value of %llu bytes cannot be aligned; use a smaller alignment",
                        (unsigned long long)size);
    pb_status status = reserve(m);
    if (status != PB_OK)
        return status;
    if (node != PB_NO_NODE)
        m->open[node] = (uint32_t)m->count;
    m->life[m->count++] = (pb_lifetime){.from = time,
                                        .to = m->moves->count + 2,
                                        .size = rounded & ~(m->align - 1),
                                        .place = place == NEW_PLACE ? m->places++ : place,
                                        .node = node};
    return PB_OK;
}

/* Values are still in memory during the move that removes them. */
static void end(maker *m, uint64_t time, pb_node v)
{
    if (m->open[v] < ELSEWHERE)
        m->life[m->open[v]].to = time;
    m->open[v] = NOT_THERE;
}

static pb_status at_start(maker *m)
{
    const pb_graph *g = m->game->graph;
    const pb_timing *t = m->game->kind == PB_GAME_TIMED ? m->game->timing : NULL;
    pb_status status = begin(m, 0, PB_NO_NODE, t ? t->fixed[m->memory] : g->fixed_size, NEW_PLACE);
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++) {
        bool here = t ? t->start[v] == m->memory : !(g->flags[v] & PB_NODE_GIVEN_SLOW);
        if ((g->flags[v] & PB_NODE_GIVEN) && here)
            status = begin(m, 0, v, g->size[v], NEW_PLACE);
    }
    return status;
}

/* When what move k holds only while it runs is available again. In the timed game: with the first move that starts
 * when it has ended, or later. */
static uint64_t end_time(const maker *m, pb_step k)
{
    const pb_moves *moves = m->moves;
    const pb_timing *t = m->game->timing;
    if (m->game->kind != PB_GAME_TIMED)
        return k + 2;
    const pb_move *move = &moves->move[k];
    uint64_t time =
        move->by ? t->recipe[m->game->graph->recipe_start[move->node] + move->by - 1] : t->duration[move->node];
    uint64_t end = moves->when[k].at + time;
    pb_step low = k, high = moves->count; /* at `low` it runs, at `high` it does not */
    while (high - low > 1) {
        pb_step middle = low + (high - low) / 2;
        *(moves->when[middle].at < end ? &low : &high) = middle;
    }
    return high + 1;
}

static pb_status compute(maker *m, pb_step k, pb_node v)
{
    const pb_graph *g = m->game->graph;
    pb_node over = pb_moves_over(m->moves, k);
    uint32_t parts, place = NEW_PLACE;
    const pb_node *part = pb_moves_also(m->moves, k, &parts);
    pb_status status = PB_OK;
    if (m->moves->move[k].flags & PB_MOVE_BORROW) {
        m->open[v] = ELSEWHERE;
        return PB_OK;
    }
    if (over != PB_NO_NODE) {
        if (m->open[over] < ELSEWHERE)
            place = m->life[m->open[over]].place;
        end(m, end_time(m, k), over);
    }
    if (m->open[v] == NOT_THERE) /* else it is recomputed for its by-products */
        status = begin(m, k + 1, v, g->size[v], place);
    for (uint32_t i = 0; i < parts && status == PB_OK; i++)
        status = begin(m, k + 1, part[i], g->size[part[i]], NEW_PLACE);
    return status;
}

/* Memory that is needed only during the move. */
static pb_status work_space(maker *m, pb_step k, pb_node v)
{
    uint64_t before = m->count;
    uint64_t size = pb_graph_way(m->game->graph, v, m->moves->move[k].by).workspace;
    pb_status status = begin(m, k + 1, PB_NO_NODE, size, NEW_PLACE);
    if (m->count > before)
        m->life[before].to = end_time(m, k);
    return status;
}

static pb_status play(maker *m, pb_step k)
{
    const pb_move *move = &m->moves->move[k];
    pb_node v = move->node;
    pb_status status = PB_OK;
    bool timed = m->game->kind == PB_GAME_TIMED;
    if (timed && move->op == PB_COPY)
        return m->game->timing->machine->links[m->moves->when[k].place].to == m->memory
                   ? begin(m, k + 1, v, m->game->graph->size[v], NEW_PLACE)
                   : PB_OK;
    if (timed && move->op == PB_FREE && m->moves->when[k].place != m->memory)
        return PB_OK;
    switch (move->op) {
    case PB_COMPUTE: status = compute(m, k, v); return status == PB_OK ? work_space(m, k, v) : status;
    case PB_UNCOMPUTE:
        status = work_space(m, k, v);
        end(m, k + 2, v);
        return status;
    case PB_FREE: end(m, k + 2, v); return PB_OK;
    case PB_LOAD: return begin(m, k + 1, v, m->game->graph->size[v], NEW_PLACE);
    default: return PB_OK;
    }
}

/* Values in borrowed memory: nothing overwrites them, and they are uncomputed. */
static pb_status play_borrowed(maker *m, pb_step k)
{
    const pb_move *move = &m->moves->move[k];
    pb_node v = move->node;
    if (move->op == PB_COMPUTE && (move->flags & PB_MOVE_BORROW))
        return begin(m, k + 1, v, m->game->graph->size[v], NEW_PLACE);
    if (move->op == PB_UNCOMPUTE)
        end(m, k + 2, v);
    return PB_OK;
}

static pb_status make(maker *m, bool borrowed, pb_lifetimes *out)
{
    if (!m->align || (m->align & (m->align - 1)))
        return pbi_fail(m->ctx, PB_EINVAL, "the alignment must be a power of two, such as 64");
    pb_arena scratch;
    pb_arena_init(&scratch, m->ctx);
    uint32_t nodes = m->game->graph->node_count;
    m->open = pb_arena_alloc(&scratch, nodes, sizeof *m->open);
    pb_status status = m->open || !nodes ? PB_OK : PB_ENOMEM;
    for (pb_node v = 0; v < nodes && status == PB_OK; v++)
        m->open[v] = NOT_THERE;
    if (status == PB_OK && !borrowed)
        status = at_start(m);
    for (pb_step k = 0; k < m->moves->count && status == PB_OK; k++)
        status = borrowed ? play_borrowed(m, k) : play(m, k);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out =
            (pb_lifetimes){.life = m->life, .count = (uint32_t)m->count, .place_count = m->places, .align = m->align};
    return status;
}

pb_status pb_lifetimes_make(pb_context *ctx, const pb_game *game, const pb_moves *moves, uint64_t align,
                            pb_arena *result, pb_lifetimes *out)
{
    bool several = game->kind == PB_GAME_TIMED && game->timing->machine->processor_count > 1;
    pb_status untimed = several ? pbi_untimed(ctx, game, "addresses, and running a plan on several processors") : PB_OK;
    maker m = {.ctx = ctx, .game = game, .moves = moves, .align = align, .result = result};
    if (game->kind == PB_GAME_TIMED)
        m.memory = game->timing->machine->processors[0].memory;
    return untimed != PB_OK ? untimed : make(&m, false, out);
}

pb_status pb_lifetimes_borrowed(pb_context *ctx, const pb_game *game, const pb_moves *moves, uint64_t align,
                                pb_arena *result, pb_lifetimes *out)
{
    maker m = {.ctx = ctx, .game = game, .moves = moves, .align = align, .result = result};
    if (game->kind == PB_GAME_TIMED) { /* there is none */
        *out = (pb_lifetimes){.align = align};
        return PB_OK;
    }
    return make(&m, true, out);
}
