/* cut_price.c -- see cut_price.h. */
#include "bound/cut_price.h"

#include "base/context.h"

#include <string.h>

enum { MAX_STEPS = 40, GROWTH = 16 };

bool pbi_pricer_init(pbi_pricer *p, pb_context *ctx, pbi_cut_network *net, pb_arena *arena)
{
    size_t n = net->game->graph->node_count;
    *p = (pbi_pricer){.ctx = ctx, .net = net, .most = UINT64_MAX};
    p->room = pb_arena_alloc(arena, net->flow.arc_count, sizeof *p->room);
    p->drain = pb_arena_alloc(arena, net->flow.vertex_count, sizeof *p->drain);
    p->low_kept = pb_arena_zero(arena, n, 1);
    p->high_kept = pb_arena_zero(arena, n, 1);
    p->kept = pb_arena_zero(arena, n, 1);
    return p->room && p->drain && p->low_kept && p->high_kept && p->kept;
}

static void save(pbi_pricer *p)
{
    const pbi_flow *f = &p->net->flow;
    memcpy(p->room, f->room, f->arc_count * sizeof *f->room);
    memcpy(p->drain, f->drain, f->vertex_count * sizeof *f->drain);
}

static void restore(pbi_pricer *p)
{
    pbi_flow *f = &p->net->flow;
    memcpy(f->room, p->room, f->arc_count * sizeof *f->room);
    memcpy(f->drain, p->drain, f->vertex_count * sizeof *f->drain);
    f->work += f->arc_count / 4;
}

static void swap(uint8_t **a, uint8_t **b)
{
    uint8_t *keep = *a;
    *a = *b;
    *b = keep;
}

/* The state of one search for the best price. */
typedef struct climb {
    pbi_pricer *p;
    pbi_priced *out;
    uint64_t free_size;
    int64_t low_flow; /* saved, at low_rate */
    pbi_rate low_rate;
    bool done;
} climb;

/* Where the lines cross, and their value there. */
static double crossing(const climb *c, double *height)
{
    const pbi_cut *low = &c->out->low, *high = &c->out->high;
    double rate = ((double)high->work - (double)low->work) / ((double)low->size - (double)high->size);
    *height = (double)low->work + rate * ((double)low->size - (double)c->free_size);
    return rate;
}

/* The flow at `rate`, from the saved one if there is one; records its bound and its labelling. */
static void step(climb *c, pbi_rate rate)
{
    pbi_pricer *p = c->p;
    pbi_priced *out = c->out;
    int64_t flow = 0;
    if (out->has_low) {
        restore(p);
        flow = c->low_flow;
        pbi_cut_network_raise(p->net, c->low_rate, rate);
    } else {
        pbi_cut_network_price(p->net, rate);
    }
    pbi_flow_end end = pbi_flow_run(p->ctx, &p->net->flow, p->most, &flow);
    if (pbi_poll(p->ctx) != PB_OK)
        end = PBI_FLOW_STOPPED;
    p->net->flow.work += 2 * (uint64_t)p->net->game->graph->node_count; /* for raising and reading */
    p->stopped = end == PBI_FLOW_STOPPED || p->net->flow.work > p->most;
    int64_t value = flow - pbi_rate_times(rate, c->free_size, true);
    out->impossible = end == PBI_FLOW_UNLIMITED || value > p->net->total_work;
    c->done = p->stopped || end != PBI_FLOW_FULL || out->impossible;
    if (out->impossible)
        return;
    if (value > out->value) {
        out->value = value;
        out->rate = rate;
    }
    if (c->done)
        return;
    pbi_cut cut, *to;
    pbi_cut_network_read(p->net, rate, &cut, p->kept);
    bool low = cut.size > c->free_size;
    to = low ? &out->low : &out->high;
    bool both = out->has_low && out->has_high; /* a line that returns after two have crossed is the maximum */
    c->done = (both && cut.work == to->work && cut.size == to->size) || cut.size == c->free_size;
    *to = cut;
    *(low ? &out->has_low : &out->has_high) = true;
    swap(&p->kept, low ? &p->low_kept : &p->high_kept);
    if (low && !c->done) {
        save(p);
        c->low_flow = flow;
        c->low_rate = rate;
    }
}

void pbi_pricer_run(pbi_pricer *p, uint64_t free_size, pbi_rate guess, int64_t least, pbi_priced *out)
{
    climb c = {.p = p, .out = out, .free_size = free_size};
    pbi_rate rate = guess;
    *out = (pbi_priced){.rate = guess, .value = INT64_MIN};
    step(&c, (pbi_rate){0, 0}); /* memory for free: nearly no flow */
    if (!c.done && out->has_high)
        return; /* and it fits: no labelling does less work */
    for (int i = 0; i < MAX_STEPS && !c.done; i++) {
        step(&c, rate);
        if (c.done)
            return;
        double height, next = pbi_rate_double(rate) * GROWTH;
        if (out->has_high) {
            next = crossing(&c, &height);
            if (height <= (double)least || height <= (double)out->value)
                return;
        } else if (next > (double)PBI_FLOW_INF) {
            return;
        }
        rate = pbi_rate_of(next);
    }
}

uint64_t pbi_pricer_least_size(pbi_pricer *p)
{
    unsigned shift = 0;
    int64_t flow = 0;
    while (p->net->game->graph->total_size >> shift >> 59)
        shift++;
    pbi_cut_network_weigh(p->net, shift);
    p->stopped = pbi_flow_run(p->ctx, &p->net->flow, p->most, &flow) == PBI_FLOW_STOPPED ||
                 p->net->flow.work > p->most || pbi_poll(p->ctx) != PB_OK;
    return (uint64_t)flow << shift;
}
