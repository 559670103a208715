/* stages_model.c -- recognizes pipelines by their edges. See stages_model.h. */
#include "game/stages_model.h"

#include "base/arena.h"
#include "base/context.h"

static const char *const not_stages = "does not apply: the graph is not a pipeline of stages and micro-batches "
                                      "(docs/stages.md)";
static const char *const uneven = "does not apply: the micro-batches differ in time or size";

typedef struct finder {
    const pb_graph *g;
    const pb_timing *t;
    pb_arena *arena;
    pbi_stages *s;
    uint32_t *processor; /* by node: the only one that computes it; UINT32_MAX: several */
    pb_node *list;
    const char *why;
} finder;

static bool refuse(finder *f, const char *why)
{
    if (!f->why)
        f->why = why;
    return false;
}

static bool is_forward(const finder *f, pb_node v) { return f->g->flags[v] & PB_NODE_HAS_PARTS; }

/* The only reader of v, or PB_NO_NODE. */
static pb_node reader_of(const finder *f, pb_node v)
{
    uint32_t from = f->g->out_start[v];
    return f->g->out_start[v + 1] - from == 1 ? f->g->out[from] : PB_NO_NODE;
}

static bool reads(const finder *f, pb_node v, pb_node input)
{
    for (uint32_t k = f->g->in_start[v]; k < f->g->in_start[v + 1]; k++)
        if (f->g->in[k] == input)
            return true;
    return false;
}

static uint32_t inputs(const finder *f, pb_node v) { return f->g->in_start[v + 1] - f->g->in_start[v]; }

/* Each node runs on one processor, and each processor has a memory of its own. */
static bool find_processors(finder *f)
{
    const pb_machine *m = f->t->machine;
    for (uint32_t p = 0; p < m->processor_count; p++)
        for (uint32_t q = 0; q < p; q++)
            if (m->processors[p].memory == m->processors[q].memory)
                return refuse(f, "does not apply: two processors share a memory");
    for (pb_node v = 0; v < f->g->node_count; v++) {
        if (f->g->flags[v] & (PB_NODE_GIVEN | PB_NODE_KEEP))
            return refuse(f, not_stages);
        if (!pb_graph_is_computed(f->g, v))
            continue;
        f->processor[v] = UINT32_MAX;
        for (uint32_t p = 0; p < m->processor_count; p++) {
            if (f->t->duration[(size_t)p * f->g->node_count + v] == PB_NO_TIME)
                continue;
            if (f->processor[v] != UINT32_MAX)
                return refuse(f, "does not apply: several processors can compute a node");
            f->processor[v] = p;
        }
        if (f->processor[v] == UINT32_MAX)
            return refuse(f, not_stages);
    }
    return true;
}

/* The nodes of the part whose F is v. */
static bool find_cell(finder *f, pb_node v, pb_node cell[PBI_STAGE_NODES])
{
    const pb_graph *g = f->g;
    if (g->part_start[v + 1] - g->part_start[v] != 2)
        return refuse(f, not_stages);
    pb_node b = g->part[g->part_start[v]], w = g->part[g->part_start[v] + 1];
    pb_node backward = reader_of(f, b), weight = reader_of(f, w);
    if (backward == PB_NO_NODE || weight == PB_NO_NODE || backward == weight)
        return refuse(f, not_stages);
    if (reads(f, backward, weight)) {
        pb_node other = b;
        b = w;
        w = other;
        other = backward;
        backward = weight;
        weight = other;
    }
    bool plain =
        reads(f, weight, backward) && inputs(f, weight) == 2 && !is_forward(f, weight) && !is_forward(f, backward);
    bool free_values = !g->size[backward] && !g->size[weight];
    bool here = f->processor[backward] == f->processor[v] && f->processor[weight] == f->processor[v];
    if (!plain || !here || g->out_start[weight + 1] != g->out_start[weight])
        return refuse(f, not_stages);
    if (!free_values)
        return refuse(f, "does not apply: gradients that take memory are not planned across devices yet");
    const pb_node found[PBI_STAGE_NODES] = {v, b, w, backward, weight};
    for (int k = 0; k < PBI_STAGE_NODES; k++)
        cell[k] = found[k];
    return true;
}

/* The F that reads F, or PB_NO_NODE. False if others read it. */
static bool next_forward(finder *f, pb_node v, pb_node *next)
{
    const pb_graph *g = f->g;
    *next = PB_NO_NODE;
    for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++) {
        if (!is_forward(f, g->out[k]) || *next != PB_NO_NODE || inputs(f, g->out[k]) != 1)
            return refuse(f, not_stages);
        *next = g->out[k];
    }
    return true;
}

static bool find_nodes(finder *f)
{
    const pb_graph *g = f->g;
    pbi_stages *s = f->s;
    pb_node first = PB_NO_NODE;
    for (pb_node v = 0; v < g->node_count; v++)
        if (pb_graph_is_computed(g, v) && is_forward(f, v) && !inputs(f, v)) {
            f->list[s->micro++] = v;
            first = first == PB_NO_NODE ? v : first;
        }
    for (pb_node v = first; v != PB_NO_NODE; s->parts++)
        if (!next_forward(f, v, &v))
            return false;
    if (!s->micro || (uint64_t)s->micro * s->parts * PBI_STAGE_NODES != g->node_count)
        return refuse(f, not_stages);
    pb_node *node = pb_arena_alloc(f->arena, g->node_count, sizeof *node);
    s->node = node;
    if (!node)
        return refuse(f, not_stages);
    for (uint32_t j = 0; j < s->micro; j++) {
        pb_node v = f->list[j];
        for (uint32_t c = 0; c < s->parts; c++) {
            if (v == PB_NO_NODE || !find_cell(f, v, node + ((size_t)c * s->micro + j) * PBI_STAGE_NODES) ||
                !next_forward(f, v, &v))
                return refuse(f, not_stages);
        }
        if (v != PB_NO_NODE)
            return refuse(f, not_stages);
    }
    return true;
}

/* The links between two memories, if all take the same time and share no lane. */
static bool find_links(finder *f, const pbi_stage_part *from, const pbi_stage_part *to, uint64_t size,
                       pbi_stage_links *out)
{
    const pb_machine *m = f->t->machine;
    uint32_t a = m->processors[from->device].memory, b = m->processors[to->device].memory, count = 0;
    uint32_t *list = pb_arena_alloc(f->arena, m->link_count + 1u, sizeof *list);
    *out = (pbi_stage_links){.link = NULL};
    if (from->device == to->device)
        return true;
    for (uint32_t l = 0; list && l < m->link_count; l++) {
        uint64_t time = pb_machine_copy_time(m, &m->links[l], size);
        if (m->links[l].from != a || m->links[l].to != b || (count && time != out->time))
            continue;
        for (uint32_t k = 0; k < m->link_count; k++)
            if (k != l && f->t->lane[k] == f->t->lane[l])
                return refuse(f, "does not apply: links share a lane");
        list[count++] = l;
        out->time = time;
    }
    out->link = list;
    out->count = count;
    return count || refuse(f, "does not apply: no link joins the devices of neighboring stages");
}

static uint64_t duration(const finder *f, pb_node v)
{
    return f->t->duration[(size_t)f->processor[v] * f->g->node_count + v];
}

static pbi_stage_part part_of(const finder *f, const pb_node cell[PBI_STAGE_NODES])
{
    const pb_graph *g = f->g;
    return (pbi_stage_part){.device = f->processor[cell[PBI_NODE_F]],
                            .f = duration(f, cell[PBI_NODE_F]),
                            .b = duration(f, cell[PBI_NODE_B]),
                            .w = duration(f, cell[PBI_NODE_W]),
                            .saved_b = g->size[cell[PBI_NODE_SAVED_B]],
                            .saved_w = g->size[cell[PBI_NODE_SAVED_W]],
                            .out = g->size[cell[PBI_NODE_F]],
                            .work_f = g->workspace[cell[PBI_NODE_F]],
                            .work_b = g->workspace[cell[PBI_NODE_B]],
                            .work_w = g->workspace[cell[PBI_NODE_W]]};
}

static bool same_part(const pbi_stage_part *a, const pbi_stage_part *b)
{
    return a->device == b->device && a->f == b->f && a->b == b->b && a->w == b->w && a->saved_b == b->saved_b &&
           a->saved_w == b->saved_w && a->out == b->out && a->work_f == b->work_f && a->work_b == b->work_b &&
           a->work_w == b->work_w;
}

/* Every B reads its own saved value and the B of the next part. */
static bool check_backward(finder *f, uint32_t c, uint32_t j)
{
    const pbi_stages *s = f->s;
    pb_node b = pbi_stages_node(s, c, j, PBI_NODE_B);
    bool last = c + 1 == s->parts;
    bool right = inputs(f, b) == 2u - last && (last || reads(f, b, pbi_stages_node(s, c + 1, j, PBI_NODE_B)));
    uint32_t readers = f->g->out_start[b + 1] - f->g->out_start[b];
    return (right && readers == 1u + (c > 0)) || refuse(f, not_stages);
}

static bool find_parts(finder *f)
{
    pbi_stages *s = f->s;
    uint32_t once = 0;
    s->part = pb_arena_zero(f->arena, s->parts, sizeof *s->part);
    s->room = pb_arena_zero(f->arena, s->devices, sizeof *s->room);
    if (!s->part || !s->room)
        return refuse(f, not_stages);
    for (uint32_t c = 0; c < s->parts; c++) {
        for (uint32_t j = 0; j < s->micro; j++) {
            pbi_stage_part here = part_of(f, &s->node[((size_t)c * s->micro + j) * PBI_STAGE_NODES]);
            if (j == 0)
                s->part[c] = here;
            else if (!same_part(&here, &s->part[c]))
                return refuse(f, uneven);
            if (!check_backward(f, c, j))
                return false;
            once += (f->g->flags[pbi_stages_node(s, c, j, PBI_NODE_F)] & PB_NODE_ONCE) != 0;
        }
        if (c + 1 == s->parts && s->part[c].out)
            return refuse(f, "does not apply: the last stage leaves a value that takes memory");
    }
    s->recompute = once == 0;
    for (uint32_t c = 0; c + 1 < s->parts; c++)
        if (!find_links(f, &s->part[c], &s->part[c + 1], s->part[c].out, &s->part[c].down) ||
            !find_links(f, &s->part[c + 1], &s->part[c], 0, &s->part[c + 1].up))
            return false;
    for (uint32_t d = 0; d < s->devices; d++) {
        uint32_t memory = f->t->machine->processors[d].memory;
        uint64_t cap = memory ? f->t->machine->memories[memory].cap : s->game->cap;
        s->room[d] = cap == PB_UNLIMITED ? UINT64_MAX : cap > f->t->fixed[memory] ? cap - f->t->fixed[memory] : 0;
    }
    return true;
}

pb_status pbi_stages_find(pb_context *ctx, const pb_game *game, pb_arena *arena, pbi_stages *out, const char **why)
{
    (void)ctx;
    *out = (pbi_stages){.game = game};
    finder f = {.g = game->graph, .t = game->timing, .arena = arena, .s = out};
    *why = not_stages;
    if (!game->timing || !f.g->part_start || f.g->recipe_start || game->kind != PB_GAME_TIMED)
        return PB_OK;
    out->devices = f.t->machine->processor_count;
    f.processor = pb_arena_alloc(arena, (size_t)f.g->node_count + 1, sizeof *f.processor);
    f.list = pb_arena_alloc(arena, (size_t)f.g->node_count + 1, sizeof *f.list);
    if (!f.processor || !f.list)
        return PB_ENOMEM;
    bool found = find_processors(&f) && find_nodes(&f) && find_parts(&f);
    *why = found ? NULL : f.why;
    return PB_OK;
}
