/* build.c -- a plan by rules: at each moment each idle device takes the step that the rules prefer.
 *
 * The device with the earliest moment decides next, so it knows every result that has been begun before. Memory is
 * counted as if results left at once; the simulation of the finished orders counts exactly.
 */
#include "plan/stages/stages.h"

#include "base/arena.h"

#include <string.h>

#define NEVER UINT64_MAX

typedef struct part_state {
    uint32_t f, b, w, r; /* done */
    uint32_t held, owed; /* saved in memory; dropped and not recomputed */
} part_state;

typedef struct device_state {
    uint64_t free, wake, use;
} device_state;

typedef struct builder {
    const pbi_stages_kit *k;
    const pbi_stages *s;
    const pbi_stages_rule *rule;
    pbi_stages_plan *plan;
    part_state *part;
    device_state *device;
    uint64_t *in_f, *in_b; /* by cell: when the input is here */
    uint8_t *again;        /* by cell: recomputed */
} builder;

/* What a device may do now, and when it may do more. */
typedef struct choice {
    uint64_t now, soon;           /* soon: the next input that is known to come */
    uint32_t f, b, r, w, blocked; /* parts, or UINT32_MAX */
} choice;
#define NO_PART UINT32_MAX

static uint64_t saved(const pbi_stage_part *p) { return p->saved_b + p->saved_w; }

static uint64_t input_size(const pbi_stages *s, uint32_t c) { return c ? s->part[c - 1].out : 0; }

/* Room that must stay for later parts on the device that hold nothing yet, and for what has to be recomputed. */
static uint64_t reserve(const builder *x, uint32_t c, bool drops)
{
    const pbi_stages *s = x->s;
    uint64_t sum = 0, again = 0;
    for (uint32_t e = 0; e < s->parts; e++) {
        if (s->part[e].device != s->part[c].device)
            continue;
        uint64_t full = saved(&s->part[e]) + s->part[e].out;
        if (e > c && !x->part[e].held)
            sum += full + input_size(s, e);
        if ((x->part[e].owed || (e == c && drops)) && full > again)
            again = full;
    }
    return sum + again;
}

static bool fits(const builder *x, uint32_t c, bool drops)
{
    const pbi_stage_part *p = &x->s->part[c];
    uint64_t need = input_size(x->s, c) + p->out + p->work_f + (drops ? 0 : saved(p));
    uint64_t use = x->device[p->device].use + need + reserve(x, c, drops);
    return use <= x->s->room[p->device];
}

static bool would_drop(const builder *x, uint32_t c)
{
    return x->s->recompute && (x->part[c].held >= x->rule->keep[c] || !fits(x, c, false));
}

static void consider_forward(const builder *x, uint32_t c, choice *o)
{
    const part_state *p = &x->part[c];
    if (p->f == x->s->micro || p->f - p->b >= x->rule->limit[c])
        return;
    uint64_t at = x->in_f[(size_t)c * x->s->micro + p->f];
    if (at > o->now) {
        o->soon = at < o->soon ? at : o->soon;
        return;
    }
    if (!fits(x, c, would_drop(x, c)))
        o->blocked = c;
    else
        o->f = c;
}

static bool is_owed(const builder *x, uint32_t c)
{
    size_t cell = (size_t)c * x->s->micro + x->part[c].b;
    return x->plan->dropped[cell] && !x->again[cell];
}

static void consider_backward(const builder *x, uint32_t c, choice *o)
{
    const part_state *p = &x->part[c];
    const pbi_stage_part *q = &x->s->part[c];
    if (p->b == p->f)
        return;
    uint64_t at = x->in_b[(size_t)c * x->s->micro + p->b];
    if (is_owed(x, c)) {
        if (x->device[q->device].use + q->out + q->work_f + saved(q) > x->s->room[q->device])
            o->blocked = c;
        else if (at <= o->now || at - o->now <= q->f)
            o->b = c;
        else
            o->r = c;
    } else if (at <= o->now) {
        o->b = c;
        return;
    }
    if (at > o->now)
        o->soon = at < o->soon ? at : o->soon;
}

/* What to do now: a code, or UINT32_MAX to wait. */
static pbi_step_code decide(const builder *x, uint32_t d, uint64_t now, uint64_t *soon)
{
    const pbi_stages_rule *rule = x->rule;
    choice o = {.now = now, .soon = NEVER, .f = NO_PART, .b = NO_PART, .r = NO_PART, .w = NO_PART, .blocked = NO_PART};
    uint32_t forced = NO_PART;
    for (uint32_t c = 0; c < x->s->parts; c++) {
        const part_state *p = &x->part[c];
        if (x->s->part[c].device != d)
            continue;
        consider_forward(x, c, &o);
        consider_backward(x, c, &o);
        if (p->b > p->w)
            o.w = c;
        if (p->b > p->w && p->b - p->w >= rule->wait[c])
            forced = c;
    }
    *soon = o.soon;
    if (forced != NO_PART)
        return PBI_STEP(forced, PBI_STAGE_W);
    if (o.f != NO_PART && x->part[o.f].f - x->part[o.f].b < rule->ahead[o.f])
        return PBI_STEP(o.f, PBI_STAGE_F);
    if (o.b != NO_PART)
        return PBI_STEP(o.b, is_owed(x, o.b) ? PBI_STAGE_R : PBI_STAGE_B);
    if (o.f != NO_PART)
        return PBI_STEP(o.f, PBI_STAGE_F);
    if (o.w != NO_PART) {
        uint64_t gap = o.soon == NEVER ? NEVER : o.soon - now;
        if (o.blocked != NO_PART || gap == NEVER || gap >= x->s->part[o.w].w * rule->fill[d] / 100)
            return PBI_STEP(o.w, PBI_STAGE_W);
    }
    if (o.r != NO_PART && (o.soon == NEVER || o.soon - now >= x->s->part[o.r].f * rule->fill[d] / 100))
        return PBI_STEP(o.r, PBI_STAGE_R);
    return UINT32_MAX;
}

static void wake(builder *x, uint32_t c, uint64_t at)
{
    device_state *v = &x->device[x->s->part[c].device];
    uint64_t then = at > v->free ? at : v->free;
    v->wake = then < v->wake ? then : v->wake;
}

static void take_forward(builder *x, uint32_t c, uint64_t end)
{
    const pbi_stages *s = x->s;
    part_state *p = &x->part[c];
    device_state *v = &x->device[s->part[c].device];
    size_t cell = (size_t)c * s->micro + p->f;
    bool drops = would_drop(x, c);
    x->plan->dropped[cell] = drops;
    p->f++;
    p->owed += drops;
    p->held += !drops;
    bool split = c && s->part[c - 1].device != s->part[c].device;
    if (drops)
        v->use += split ? input_size(s, c) : 0;
    else
        v->use = v->use + saved(&s->part[c]) - (split ? 0 : input_size(s, c));
    if (c + 1 == s->parts) {
        x->in_b[cell] = end;
        return;
    }
    split = s->part[c + 1].device != s->part[c].device;
    v->use += split ? 0 : s->part[c].out;
    x->in_f[cell + s->micro] = end + s->part[c].down.time;
    wake(x, c + 1, x->in_f[cell + s->micro]);
}

static void take_step(builder *x, pbi_step_code code, uint64_t now)
{
    const pbi_stages *s = x->s;
    uint32_t c = pbi_step_part(code), d = s->part[c].device;
    const pbi_stage_part *q = &s->part[c];
    part_state *p = &x->part[c];
    device_state *v = &x->device[d];
    size_t cell = (size_t)c * s->micro + p->b;
    unsigned kind = pbi_step_kind(code);
    uint64_t end = now + (kind == PBI_STAGE_B ? q->b : kind == PBI_STAGE_W ? q->w : q->f);
    x->plan->step[d][x->plan->count[d]++] = code;
    v->free = v->wake = end;
    if (kind == PBI_STAGE_F) {
        take_forward(x, c, end);
    } else if (kind == PBI_STAGE_R) {
        x->again[cell] = 1;
        p->owed--;
        p->held++;
        v->use = v->use + saved(q) - input_size(s, c);
    } else if (kind == PBI_STAGE_W) {
        p->w++;
        v->use -= q->saved_w;
    } else {
        p->b++;
        p->held--;
        v->use -= q->saved_b;
        if (c) {
            x->in_b[cell - s->micro] = end + q->up.time;
            wake(x, c - 1, x->in_b[cell - s->micro]);
        }
    }
}

static bool run_rules(builder *x)
{
    const pbi_stages *s = x->s;
    uint64_t left = (uint64_t)s->parts * s->micro * 3;
    while (left) {
        uint32_t d = 0;
        uint64_t soon;
        for (uint32_t e = 1; e < s->devices; e++)
            if (x->device[e].wake < x->device[d].wake)
                d = e;
        uint64_t now = x->device[d].wake;
        if (now == NEVER)
            return false;
        pbi_step_code code = decide(x, d, now, &soon);
        if (code == UINT32_MAX) {
            x->device[d].wake = soon;
            continue;
        }
        take_step(x, code, now);
        left -= pbi_step_kind(code) != PBI_STAGE_R;
    }
    return true;
}

bool pbi_stages_build(const pbi_stages_kit *k, const pbi_stages_rule *rule, pbi_stages_plan *out)
{
    const pbi_stages *s = k->s;
    size_t cells = (size_t)s->parts * s->micro;
    pbi_mark mark = pbi_arena_mark(k->arena);
    builder x = {.k = k, .s = s, .rule = rule, .plan = out};
    x.part = pb_arena_zero(k->arena, s->parts, sizeof *x.part);
    x.device = pb_arena_zero(k->arena, s->devices, sizeof *x.device);
    x.in_f = pb_arena_alloc(k->arena, cells, sizeof *x.in_f);
    x.in_b = pb_arena_alloc(k->arena, cells, sizeof *x.in_b);
    x.again = pb_arena_zero(k->arena, cells, 1);
    bool built = x.part && x.device && x.in_f && x.in_b && x.again;
    if (built) {
        memset(x.in_f, 0xff, cells * sizeof *x.in_f);
        memset(x.in_b, 0xff, cells * sizeof *x.in_b);
        memset(x.in_f, 0, s->micro * sizeof *x.in_f);
        memset(out->dropped, 0, cells);
        memset(out->count, 0, s->devices * sizeof *out->count);
        built = run_rules(&x);
    }
    pbi_arena_rewind(k->arena, mark);
    return built;
}
