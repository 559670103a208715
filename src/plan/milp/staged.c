/* staged.c -- see staged.h.
 *
 * In stage t the node of each slot k <= t may be computed, in this order. A value j is computed in its slot, unless
 * it is already resident, and read in those of its readers. Between two of these slots a column H records whether it
 * is resident: it must be if the next reader is computed, or if it is resident behind that reader; and behind its
 * own slot only if it was computed there, or was resident when the stage began. Behind its last reader H is S of the
 * next stage. A column M is the memory of each slot, as that of the slot before and what changes in between; M is
 * limited by the cap.
 */
#include "plan/milp/staged.h"

#include "base/context.h"

#include <math.h>
#include <string.h>

#define NOT UINT32_MAX

static bool is_needed(const pb_graph *g, pb_node v) { return g->flags[v] & PB_NODE_NEEDED; }

uint64_t pbi_staged_entries(const pb_graph *g)
{
    uint64_t n = g->needed_count, edges = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        if (is_needed(g, v))
            edges += g->in_start[v + 1] - g->in_start[v];
    return n > UINT32_MAX / 16 || edges > UINT32_MAX / 16 ? UINT64_MAX : n * (9 * edges + 8 * n) / 2;
}

const char *pbi_staged_misfit(const pb_game *game)
{
    const pb_graph *g = game->graph;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (g->flags[v] & PB_NODE_GIVEN_SLOW)
            return "a given value starts in slow memory";
        bool read = g->flags[v] & PB_NODE_KEEP;
        for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1] && !read; k++)
            read = is_needed(g, g->out[k]);
        if ((g->flags[v] & PB_NODE_BYPRODUCT) && (g->flags[v] & PB_NODE_TARGET) && !read)
            return "a by-product is a target, but nothing reads it";
    }
    return g->needed_cost > UINT64_MAX / 8 || g->total_size > UINT64_MAX / 8
               ? "its costs and sizes are too close to 2^64; use coarser units"
               : NULL;
}

/* ---- what there is ---- */

static pb_status number_values(pbi_staged *m, const pb_graph *g)
{
    uint32_t n = g->node_count;
    m->node = pb_arena_alloc(m->arena, g->needed_count, sizeof *m->node);
    m->place = pb_arena_alloc(m->arena, n, sizeof *m->place);
    m->value_of = pb_arena_alloc(m->arena, n, sizeof *m->value_of);
    m->value = pb_arena_alloc(m->arena, n, sizeof *m->value);
    if (!m->node || !m->place || !m->value_of || !m->value)
        return PB_ENOMEM;
    memset(m->place, 0xff, n * sizeof *m->place);
    for (uint32_t i = 0; i < g->order_count; i++)
        if (is_needed(g, g->order[i])) {
            m->place[g->order[i]] = m->stages;
            m->node[m->stages++] = g->order[i];
        }
    for (pb_node v = 0; v < n; v++) {
        if (g->flags[v] & PB_NODE_BYPRODUCT)
            m->place[v] = m->place[g->owner[v]];
        m->value_of[v] = is_needed(g, v) ? m->values : NOT;
        if (is_needed(g, v))
            m->value[m->values++] = v;
    }
    return PB_OK;
}

static pb_status list_readers(pbi_staged *m, const pb_graph *g)
{
    m->read_start = pb_arena_zero(m->arena, m->values + 2, sizeof *m->read_start);
    m->reader = pb_arena_alloc(m->arena, g->edge_count, sizeof *m->reader);
    if (!m->read_start || !m->reader)
        return PB_ENOMEM;
    uint32_t *at = m->read_start + 1; /* begins of the rows while they are filled, their ends afterwards */
    for (int put = 0; put < 2; put++) {
        for (uint32_t t = 0; t < m->stages; t++)
            for (uint32_t k = g->in_start[m->node[t]]; k < g->in_start[m->node[t] + 1]; k++) {
                uint32_t j = m->value_of[g->in[k]];
                if (put)
                    m->reader[at[j]++] = t;
                else
                    at[j + 1]++;
            }
        for (uint32_t j = 0; j < m->values && !put; j++)
            at[j + 1] += at[j];
    }
    return PB_OK;
}

/* Until when each value may be useful: its readers may be recomputed as long as their results are useful. */
static pb_status find_until(pbi_staged *m, const pb_graph *g, uint32_t *last)
{
    m->until = pb_arena_zero(m->arena, m->values, sizeof *m->until);
    m->wide = pb_arena_zero(m->arena, m->stages, sizeof *m->wide);
    if (!m->until || !m->wide)
        return PB_ENOMEM;
    for (uint32_t j = 0; j < m->values; j++)
        if (g->flags[m->value[j]] & PB_NODE_KEEP)
            m->until[j] = m->stages;
    for (uint32_t t = m->stages; t-- > 0;) {
        pb_node v = m->node[t];
        last[t] = m->until[m->value_of[v]];
        for (uint32_t k = g->part_start ? g->part_start[v] : 0; g->part_start && k < g->part_start[v + 1]; k++)
            if (m->value_of[g->part[k]] != NOT) {
                uint32_t part = m->until[m->value_of[g->part[k]]];
                last[t] = part > last[t] ? part : last[t];
                m->wide[t] = true;
            }
        last[t] = last[t] < t || (g->flags[v] & PB_NODE_ONCE) ? t : last[t] < m->stages ? last[t] : m->stages - 1;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            uint32_t j = m->value_of[g->in[k]];
            m->until[j] = m->until[j] > last[t] ? m->until[j] : last[t];
        }
    }
    return PB_OK;
}

/* ---- columns and rows ---- */

static int column(pbi_staged *m, double price, bool whole)
{
    return pbi_program_column(&m->program, (pbi_column){0, 1, price, whole});
}

/* S before R, stage by stage: the solver's order of columns is an order of decisions. */
static pb_status make_unknowns(pbi_staged *m, pb_context *ctx, const pb_graph *g, const uint32_t *last)
{
    size_t n = m->stages;
    m->computed = pb_arena_alloc(m->arena, n * n, sizeof *m->computed);
    m->kept = pb_arena_alloc(m->arena, (n + 1) * m->values, sizeof *m->kept);
    if (!m->computed || !m->kept)
        return PB_ENOMEM;
    for (uint32_t t = 0; t <= n; t++) {
        if (pbi_poll(ctx) != PB_OK)
            return PB_ECANCELLED;
        for (uint32_t j = 0; j < m->values; j++) {
            uint32_t place = m->place[m->value[j]];
            bool from_start = place == NOT;
            int *s = &m->kept[(size_t)t * m->values + j];
            if (t == n)
                *s = m->until[j] == n ? PBI_STAGED_ONE : PBI_STAGED_ZERO;
            else if (t > m->until[j] || (!from_start && t <= place))
                *s = PBI_STAGED_ZERO;
            else
                *s = from_start && t == 0 ? PBI_STAGED_ONE : column(m, 0, true);
        }
        for (uint32_t i = 0; i < n && t < n; i++) {
            double cost = (double)g->cost[m->node[i]] / m->price;
            m->computed[t * n + i] = i == t                 ? PBI_STAGED_ONE
                                     : i > t || t > last[i] ? PBI_STAGED_ZERO
                                                            : column(m, cost, true);
        }
    }
    return PB_OK;
}

/* Sums under construction: constants go to the other side. */
typedef struct sum {
    pbi_staged *m;
    double constant;
} sum;

static sum begin_sum(pbi_staged *m)
{
    pbi_program_row(&m->program, -HUGE_VAL, HUGE_VAL);
    return (sum){m, 0};
}

static void add(sum *s, int c, double factor)
{
    if (c == PBI_STAGED_ONE)
        s->constant += factor;
    else if (c != PBI_STAGED_ZERO && factor != 0)
        pbi_program_entry(&s->m->program, c, factor);
}

static void end(sum *s, double low, double high)
{
    pbi_program *p = &s->m->program;
    if (p->failed)
        return;
    pbi_row *row = &p->row[p->rows - 1];
    row->low = low - s->constant;
    row->high = high - s->constant;
    if (row->start == p->entries && row->low <= 0 && row->high >= 0)
        p->rows--; /* a row without entries that is always satisfied: dropped */
}

/* a <= b + c */
static void at_most(pbi_staged *m, int a, int b, int c)
{
    if (a == PBI_STAGED_ZERO || b == PBI_STAGED_ONE || c == PBI_STAGED_ONE)
        return;
    sum s = begin_sum(m);
    add(&s, a, 1);
    add(&s, b, -1);
    add(&s, c, -1);
    end(&s, -HUGE_VAL, 0);
}

/* max(a, b), as a column of its own if necessary */
static int larger(pbi_staged *m, int a, int b)
{
    if (a == PBI_STAGED_ONE || b == PBI_STAGED_ZERO || a == b)
        return a;
    if (b == PBI_STAGED_ONE || a == PBI_STAGED_ZERO)
        return b;
    int c = column(m, 0, false);
    at_most(m, a, c, PBI_STAGED_ZERO);
    at_most(m, b, c, PBI_STAGED_ZERO);
    return c;
}

/* ---- a stage ---- */

typedef struct stage {
    pbi_staged *m;
    uint32_t t;
    int *resident; /* per value: the column for "it is resident now" */
    int *own;      /* per value: it is resident while it is computed */
    int *begin;    /* per value: it is resident behind the slot that computes it, up to its first reader */
    int *after;    /* per entry of m->reader: it is resident behind that reader */
    double cap;
} stage;

static void lay_value(stage *g, uint32_t j)
{
    pbi_staged *m = g->m;
    uint32_t t = g->t, place = m->place[m->value[j]];
    bool made = place != NOT;
    if (made && place > t)
        return;
    int s0 = pbi_staged_s(m, t, j), r = made ? pbi_staged_r(m, t, place) : PBI_STAGED_ZERO;
    int h = pbi_staged_s(m, t + 1, j);
    for (uint32_t k = m->read_start[j + 1]; k-- > m->read_start[j];) {
        int reads = m->reader[k] > t ? PBI_STAGED_ZERO : pbi_staged_r(m, t, m->reader[k]);
        g->after[k] = h;
        if (reads != PBI_STAGED_ZERO)
            h = larger(m, reads, h);
    }
    at_most(m, h, s0, r);
    g->begin[j] = h;
    bool itself = made && m->node[place] == m->value[j];
    g->own[j] = itself ? larger(m, r, h) : h;
    g->resident[j] = r == PBI_STAGED_ZERO ? h : s0;
    if (itself && !m->wide[place] && r >= 0 && s0 >= 0) { /* recomputing it while it is resident is useless */
        sum s = begin_sum(m);
        add(&s, r, 1);
        add(&s, s0, 1);
        end(&s, -HUGE_VAL, 1);
    }
}

static double size_of(const pbi_staged *m, uint32_t j) { return (double)m->game->graph->size[m->value[j]] / m->unit; }

static void change(stage *g, sum *s, uint32_t j, int now)
{
    if (g->resident[j] == now)
        return;
    add(s, g->resident[j], size_of(g->m, j));
    add(s, now, -size_of(g->m, j));
    g->resident[j] = now;
}

static uint32_t entry_of(const pbi_staged *m, uint32_t j, uint32_t slot)
{
    uint32_t low = m->read_start[j], high = m->read_start[j + 1];
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (m->reader[mid] <= slot)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* What is saved if slot k overwrites an input that is freed. */
static void save_overwritten(stage *g, uint32_t k, sum *s)
{
    pbi_staged *m = g->m;
    const pb_graph *graph = m->game->graph;
    pb_node v = m->node[k];
    int first = (int)m->program.columns;
    for (uint32_t e = graph->inplace_start[v]; e < graph->inplace_start[v + 1]; e++)
        column(m, 0, false);
    for (uint32_t e = graph->inplace_start[v], c = (uint32_t)first; e < graph->inplace_start[v + 1]; e++, c++) {
        pb_node u = graph->inplace[e];
        uint64_t saved = graph->size[u] < graph->size[v] ? graph->size[u] : graph->size[v];
        add(s, (int)c, -(double)saved / m->unit);
    }
    end(s, -HUGE_VAL, g->cap);
    sum once = begin_sum(m);
    for (uint32_t e = graph->inplace_start[v], c = (uint32_t)first; e < graph->inplace_start[v + 1]; e++, c++)
        add(&once, (int)c, 1);
    add(&once, pbi_staged_r(m, g->t, k), -1);
    end(&once, -HUGE_VAL, 0);
    for (uint32_t e = graph->inplace_start[v], c = (uint32_t)first; e < graph->inplace_start[v + 1]; e++, c++) {
        uint32_t j = m->value_of[graph->inplace[e]];
        sum goes = begin_sum(m);
        add(&goes, (int)c, 1);
        add(&goes, g->after[entry_of(m, j, k)], 1);
        end(&goes, -HUGE_VAL, 1);
    }
}

static void hold_slot(stage *g, uint32_t k, int memory)
{
    pbi_staged *m = g->m;
    const pb_graph *graph = m->game->graph;
    pb_node v = m->node[k];
    bool inplace = graph->inplace_start && graph->inplace_start[v] < graph->inplace_start[v + 1];
    if (!graph->workspace[v] && !inplace) {
        if (!m->program.failed)
            m->program.column[memory].high = g->cap;
        return;
    }
    sum s = begin_sum(m);
    add(&s, memory, 1);
    add(&s, pbi_staged_r(m, g->t, k), (double)graph->workspace[v] / m->unit);
    if (inplace)
        save_overwritten(g, k, &s);
    else
        end(&s, -HUGE_VAL, g->cap);
}

static void enter_slot(stage *g, uint32_t k, sum *s)
{
    const pbi_staged *m = g->m;
    const pb_graph *graph = m->game->graph;
    pb_node v = m->node[k];
    change(g, s, m->value_of[v], g->own[m->value_of[v]]);
    for (uint32_t e = graph->part_start ? graph->part_start[v] : 0; graph->part_start && e < graph->part_start[v + 1];
         e++)
        if (m->value_of[graph->part[e]] != NOT)
            change(g, s, m->value_of[graph->part[e]], g->begin[m->value_of[graph->part[e]]]);
}

static void leave_slot(stage *g, uint32_t k, sum *s)
{
    const pbi_staged *m = g->m;
    const pb_graph *graph = m->game->graph;
    pb_node v = m->node[k];
    change(g, s, m->value_of[v], g->begin[m->value_of[v]]);
    for (uint32_t e = graph->in_start[v]; e < graph->in_start[v + 1]; e++) {
        uint32_t j = m->value_of[graph->in[e]];
        change(g, s, j, g->after[entry_of(m, j, k)]);
    }
}

static void lay_memory(stage *g)
{
    pbi_staged *m = g->m;
    int before = PBI_STAGED_ZERO;
    uint32_t last = NOT;
    for (uint32_t k = 0; k <= g->t; k++) {
        if (pbi_staged_r(m, g->t, k) == PBI_STAGED_ZERO)
            continue;
        int memory = pbi_program_column(&m->program, (pbi_column){0, HUGE_VAL, 0, false});
        sum s = begin_sum(m);
        add(&s, memory, 1);
        if (last == NOT) {
            for (uint32_t j = 0; j < m->values; j++)
                add(&s, g->resident[j], -size_of(m, j));
        } else {
            add(&s, before, -1);
            leave_slot(g, last, &s);
        }
        enter_slot(g, k, &s);
        end(&s, 0, 0);
        hold_slot(g, k, memory);
        before = memory;
        last = k;
    }
}

static pb_status make_rows(pbi_staged *m, pb_context *ctx, double cap)
{
    stage g = {.m = m, .cap = (cap - (double)m->game->graph->fixed_size) / m->unit};
    g.resident = pb_arena_alloc(m->arena, 3 * (size_t)m->values, sizeof *g.resident);
    g.after = pb_arena_alloc(m->arena, m->read_start[m->values], sizeof *g.after);
    if (!g.resident || !g.after)
        return PB_ENOMEM;
    g.own = g.resident + m->values;
    g.begin = g.own + m->values;
    for (g.t = 0; g.t < m->stages; g.t++) {
        if (pbi_poll(ctx) != PB_OK)
            return PB_ECANCELLED;
        for (uint32_t j = 0; j < 3 * m->values; j++)
            g.resident[j] = PBI_STAGED_ZERO;
        for (uint32_t j = 0; j < m->values; j++)
            lay_value(&g, j);
        lay_memory(&g);
    }
    return m->program.failed ? PB_ENOMEM : PB_OK;
}

static uint64_t common(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Costs are counted in their greatest common divisor, so that the solver sees that plans differ by whole numbers,
 * unless that makes them too large for its precision; memory in thousandths of the cap. */
static void find_units(pbi_staged *m, double cap)
{
    const pb_graph *g = m->game->graph;
    uint64_t divisor = 0;
    for (uint32_t t = 0; t < m->stages; t++)
        divisor = common(divisor, g->cost[m->node[t]]);
    m->price = divisor ? (double)divisor : 1;
    if ((double)g->needed_cost / m->price > 1e6)
        m->price = (double)g->needed_cost / 1e6;
    m->step = divisor ? (double)divisor / m->price : 1;
    double room = cap - (double)g->fixed_size;
    m->unit = room > 1000 ? room / 1000 : 1;
}

pb_status pbi_staged_init(pbi_staged *m, pb_context *ctx, const pb_game *game, double cap, pb_arena *arena)
{
    *m = (pbi_staged){.game = game, .arena = arena};
    pbi_program_init(&m->program, arena);
    pb_status status = number_values(m, game->graph);
    uint32_t *last = pb_arena_alloc(arena, m->stages, sizeof *last);
    if (status != PB_OK || !last)
        return PB_ENOMEM;
    find_units(m, cap);
    status = list_readers(m, game->graph);
    if (status == PB_OK)
        status = find_until(m, game->graph, last);
    if (status == PB_OK)
        status = make_unknowns(m, ctx, game->graph, last);
    return status == PB_OK ? make_rows(m, ctx, cap) : status;
}
