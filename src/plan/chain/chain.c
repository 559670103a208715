/* chain.c -- see chain.h. */
#include "plan/chain/chain.h"

#include "graph/graph_parts.h"

static bool reads_exactly(const pb_graph *g, pb_node v, const pb_node *target, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        for (uint32_t i = 0; i < count; i++)
            found += g->in[k] == target[i];
    return found == count && g->in_start[v + 1] - g->in_start[v] == count;
}

/* Gradient i (of n) with its forward neighbours, and whether that is what it reads. */
static bool gradient_reads(const pb_graph *g, const pbi_chain *c, uint32_t i, bool output)
{
    pb_node target[3];
    uint32_t count = 0, place = c->steps - 1 - i; /* its index in c->gradient */
    target[count++] = c->forward[i];
    if (output)
        target[count++] = c->forward[i + 1];
    if (place > 0)
        target[count++] = c->gradient[place - 1];
    return reads_exactly(g, c->gradient[place], target, count);
}

static bool all_gradients_read(const pb_graph *g, const pbi_chain *c, bool output)
{
    for (uint32_t i = 0; i < c->steps; i++)
        if (!gradient_reads(g, c, i, output))
            return false;
    return true;
}

/* Finds n and the two paths. In the form without outputs, the last forward step looks like the first gradient in the
 * graph, because it too reads one value only. */
static bool find_paths(const pb_graph *g, const pbi_adjoint *parts, pbi_chain *c)
{
    c->forward = parts->forward;
    c->gradient = parts->gradient;
    c->steps = parts->gradient_count;
    c->reads_output = true;
    if (parts->forward_count == c->steps + 1 && all_gradients_read(g, c, true))
        return true;
    c->reads_output = false;
    c->gradient = parts->gradient - 1; /* the two paths are stored one behind the other */
    c->steps = parts->gradient_count + 1;
    return parts->forward_count == c->steps + 1 && all_gradients_read(g, c, false);
}

bool pbi_chain_equal(const pb_graph *g, pbi_chain *c)
{
    c->step_size = g->size[c->forward[0]];
    c->step_cost = c->steps > 1 || c->reads_output ? g->cost[c->forward[1]] : 0;
    c->grad_size = g->size[c->gradient[0]];
    uint32_t last = c->reads_output ? c->steps : c->steps - 1; /* x_n is not a value of the other form */
    for (uint32_t i = 1; i <= last; i++)
        if (g->cost[c->forward[i]] != c->step_cost || g->size[c->forward[i]] != c->step_size)
            return false;
    for (uint32_t i = 0; i < c->steps; i++)
        if (g->size[c->gradient[i]] != c->grad_size)
            return false;
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->workspace[v])
            return false;
    return c->step_size > 0;
}

static bool lists_only(const pb_graph *g, pb_node v, pb_node input)
{
    return g->inplace_start[v + 1] - g->inplace_start[v] == 1 && g->inplace[g->inplace_start[v]] == input;
}

/* All steps but the first over their inputs, or none; all gradients but the first over the one before, or none. */
static bool plain_inplace(const pb_graph *g, pbi_chain *c)
{
    if (!g->inplace_start)
        return true;
    uint32_t last = c->reads_output ? c->steps : c->steps - 1, steps = 0, grads = 0;
    for (uint32_t i = 1; i < last; i++)
        steps += lists_only(g, c->forward[i + 1], c->forward[i]);
    for (uint32_t i = 1; i < c->steps; i++)
        grads += lists_only(g, c->gradient[i], c->gradient[i - 1]);
    c->step_inplace = steps > 0;
    c->grad_inplace = grads > 0;
    return g->inplace_start[g->node_count] == steps + grads && (!steps || steps == last - 1) &&
           (!grads || grads == c->steps - 1);
}

static bool plain_nodes(const pb_graph *g, const pbi_chain *c)
{
    for (pb_node v = 0; v < g->node_count; v++) {
        uint16_t flags = g->flags[v];
        bool start = v == c->forward[0], end = v == c->gradient[c->steps - 1];
        if ((flags & (PB_NODE_ONCE | PB_NODE_KEEP | PB_NODE_GIVEN_SLOW)) || ((flags & PB_NODE_GIVEN) != 0) != start ||
            ((flags & PB_NODE_TARGET) != 0) != end)
            return false;
    }
    return true;
}

bool pbi_chain_find(const pb_graph *g, pb_arena *arena, pbi_chain *out, const char **why, pb_status *status)
{
    pbi_adjoint parts;
    *out = (pbi_chain){0};
    *why = "the graph is not an adjoint chain";
    *status = PB_OK;
    if (g->shape != PB_SHAPE_ADJOINT_CHAIN || !pbi_graph_adjoint(g, arena, &parts, status) ||
        !find_paths(g, &parts, out))
        return false;
    *why = "some of its steps may run in place and others not";
    if (!plain_inplace(g, out))
        return false;
    *why = "it does not lead from a given start to the last gradient only, without `once` or `keep`";
    return plain_nodes(g, out);
}
