/* run.c -- see run.h.
 *
 * Each device takes its steps in order, as soon as their inputs are ready and memory has room. A result of size 0 is
 * copied when it is ready. A larger one takes memory on both sides: its reader fetches it while the step before runs,
 * if there is room, or after that. Until then it is pending in the memory of its device, whose later steps wait for it
 * to leave if they need the room. So every start is the end of another step or copy, and no clock is needed: devices
 * go on in turn until all are done, or none can (a deadlock: the plan does not fit).
 */
#include "plan/stages/run.h"

#include <string.h>

typedef struct turn {
    const pbi_stages_kit *k;
    const pbi_stages *s;
    const pbi_stages_plan *plan;
    pbi_stages_run *r;
    uint32_t device;
    pbi_stages_lane *lane;
} turn;

/* A step while it is tried. */
typedef struct attempt {
    uint32_t part, m, cell, before;
    unsigned kind;
    const pbi_stage_part *p;
    uint64_t at, need;
    bool fetch; /* copies its input from `from` on */
    uint64_t from;
    uint32_t link;
} attempt;

static void record(turn *t, uint64_t at, pb_op op, pb_node node, uint32_t place, bool saves)
{
    pbi_stages_run *r = t->r;
    if (r->event) {
        r->event[r->events] = (pbi_stages_event){at, r->events, place, node, op, saves};
        r->events++;
    }
}

static uint32_t memory_of(const turn *t, uint32_t device)
{
    return t->s->game->timing->machine->processors[device].memory;
}

static uint32_t free_link(const turn *t, const pbi_stage_links *links)
{
    uint32_t best = links->link[0];
    for (uint32_t i = 1; i < links->count; i++)
        if (t->r->link_free[links->link[i]] < t->r->link_free[best])
            best = links->link[i];
    return best;
}

/* The step waits until `at` for the step `before`. */
static void wait_for(attempt *a, uint64_t at, uint32_t before)
{
    if (at > a->at) {
        a->at = at;
        a->before = before;
    }
}

static bool is_split(const turn *t, uint32_t part) /* the parts before and at it are on different devices */
{
    return part && t->s->part[part - 1].device != t->s->part[part].device;
}

/* The time from which the input of this size may take memory; false if that is not known yet. */
static bool find_gate(const turn *t, uint64_t size, uint64_t *gate)
{
    const pbi_stages_lane *l = t->lane;
    uint64_t room = t->s->room[t->device], pending = l->pending;
    *gate = !l->at ? 0 : l->early ? l->start : l->free;
    for (uint32_t q = l->first_pending; q < l->pending_end; q++) {
        uint32_t cell = t->r->queue[q];
        uint64_t leaves = t->r->here_f[cell];
        bool fits = l->use + size + pending <= room;
        if (leaves == PBI_LATER || (leaves > *gate && fits))
            break;
        *gate = leaves > *gate ? leaves : *gate;
        pending -= t->s->part[cell / t->s->micro].out;
    }
    return l->use + size + pending <= room;
}

/* When the result of the part before is here; false if that is not known yet. */
static bool find_forward_input(turn *t, attempt *a)
{
    const pbi_stages_run *r = t->r;
    uint32_t from = a->cell - t->s->micro;
    if (!a->part)
        return true;
    const pbi_stage_part *p = a->p - 1;
    if (r->end_f[from] == PBI_LATER)
        return false;
    uint32_t before = r->base[p->device] + r->at_f[from];
    uint64_t ready = r->end_f[from];
    if (is_split(t, a->part)) {
        ready = r->here_f[from];
        if (p->out) {
            a->fetch = true;
            if (!find_gate(t, p->out, &a->from))
                return false;
            a->from = a->from > r->end_f[from] ? a->from : r->end_f[from];
            a->link = free_link(t, &p->down);
            a->from = a->from > r->link_free[a->link] ? a->from : r->link_free[a->link];
            ready = a->from + p->down.time;
        }
    }
    wait_for(a, ready, before);
    return true;
}

static bool find_backward_input(const turn *t, attempt *a)
{
    const pbi_stages_run *r = t->r;
    uint32_t from = a->cell + t->s->micro;
    if (!r->saved[a->cell])
        return false;
    if (a->part + 1 == t->s->parts)
        return true;
    uint64_t ready = is_split(t, a->part + 1) ? r->here_b[from] : r->end_b[from];
    if (ready == PBI_LATER)
        return false;
    wait_for(a, ready, r->base[a->p[1].device] + r->at_b[from]);
    return true;
}

/* The result must have left, or have been read, before it is made again. */
static bool find_again(const turn *t, attempt *a)
{
    const pbi_stages_run *r = t->r;
    if (!a->p->out)
        return true;
    uint32_t next = a->cell + t->s->micro;
    if (!is_split(t, a->part + 1))
        return r->saved[next];
    if (r->here_f[a->cell] == PBI_LATER)
        return false;
    wait_for(a, r->here_f[a->cell], r->base[a->p[1].device] + r->at_f[next]);
    return true;
}

/* What the step takes in addition to what is in use. */
static uint64_t needs(const turn *t, const attempt *a)
{
    const pbi_stage_part *p = a->p;
    uint64_t saved = p->saved_b + p->saved_w;
    switch (a->kind) {
    case PBI_STAGE_F: return (a->fetch ? p[-1].out : 0) + p->out + p->work_f + (t->plan->dropped[a->cell] ? 0 : saved);
    case PBI_STAGE_R: return p->out + p->work_f + saved;
    case PBI_STAGE_B: return p->work_b;
    default: return p->work_w;
    }
}

/* Waits for pending results to leave until the step fits. */
static bool find_room(turn *t, attempt *a)
{
    pbi_stages_lane *l = t->lane;
    uint64_t room = t->s->room[t->device];
    a->need = l->use + needs(t, a);
    if (a->need > room)
        return false;
    while (l->first_pending < l->pending_end) {
        uint32_t cell = t->r->queue[l->first_pending];
        uint64_t leaves = t->r->here_f[cell];
        bool fits = a->need + l->pending <= room;
        if (fits && (leaves == PBI_LATER || leaves > a->at))
            return true;
        if (leaves == PBI_LATER)
            return false;
        wait_for(a, leaves, t->r->base[t->s->part[cell / t->s->micro + 1].device] + t->r->at_f[cell + t->s->micro]);
        l->pending -= t->s->part[cell / t->s->micro].out;
        l->first_pending++;
    }
    return true;
}

static uint32_t next_dropped(const turn *t, uint32_t part)
{
    uint32_t m = t->r->next_r[part];
    while (m < t->r->count_f[part] && !t->plan->dropped[(size_t)part * t->s->micro + m])
        m++;
    return m;
}

/* The micro-batch of the step; false if it cannot be next. */
static bool find_micro(const turn *t, attempt *a)
{
    const pbi_stages_run *r = t->r;
    uint32_t c = a->part;
    switch (a->kind) {
    case PBI_STAGE_F: a->m = r->count_f[c]; return a->m < t->s->micro;
    case PBI_STAGE_B: a->m = r->count_b[c]; return a->m < r->count_f[c];
    case PBI_STAGE_W: a->m = r->count_w[c]; return a->m < r->count_b[c];
    default: a->m = next_dropped(t, c); return a->m < r->count_f[c];
    }
}

/* ---- taking a step ---- */

static uint64_t time_of(const attempt *a)
{
    return a->kind == PBI_STAGE_B ? a->p->b : a->kind == PBI_STAGE_W ? a->p->w : a->p->f;
}

static void take_input(turn *t, const attempt *a)
{
    if (!a->fetch)
        return;
    uint64_t size = a->p[-1].out;
    uint64_t here = a->from + a->p[-1].down.time;
    uint32_t from = a->cell - t->s->micro;
    pb_node v = pbi_stages_node(t->s, a->part - 1, a->m, PBI_NODE_F);
    t->r->link_free[a->link] = here;
    t->r->here_f[from] = here;
    t->lane->use += size;
    record(t, a->from, PB_COPY, v, a->link, false);
    record(t, here, PB_FREE, v, memory_of(t, a->p[-1].device), false);
}

/* What F or R has read is not needed any more. */
static void drop_input(turn *t, const attempt *a, uint64_t end)
{
    t->r->saved[a->cell] = 1;
    if (!a->part || !a->p[-1].out)
        return;
    t->lane->use -= a->p[-1].out;
    record(t, end, PB_FREE, pbi_stages_node(t->s, a->part - 1, a->m, PBI_NODE_F), memory_of(t, t->device), false);
}

/* A result of size 0 leaves at once. */
static uint64_t send(turn *t, const attempt *a, const pbi_stage_links *links, pb_node v, uint64_t end)
{
    uint32_t link = free_link(t, links);
    uint64_t at = t->r->link_free[link] > end ? t->r->link_free[link] : end;
    (void)a;
    t->r->link_free[link] = at + links->time;
    record(t, at, PB_COPY, v, link, false);
    return at + links->time;
}

static void end_forward(turn *t, const attempt *a, uint64_t end)
{
    pbi_stages_run *r = t->r;
    pbi_stages_lane *l = t->lane;
    bool dropped = t->plan->dropped[a->cell];
    pb_node v = pbi_stages_node(t->s, a->part, a->m, PBI_NODE_F);
    r->count_f[a->part]++;
    r->end_f[a->cell] = end;
    r->at_f[a->cell] = l->at;
    if (!dropped) {
        l->use += a->p->saved_b + a->p->saved_w;
        drop_input(t, a, end);
    }
    if (a->part + 1 == t->s->parts)
        return;
    if (!is_split(t, a->part + 1)) {
        l->use += a->p->out;
    } else if (a->p->out) {
        r->queue[l->pending_end++] = a->cell;
        l->pending += a->p->out;
    } else {
        r->here_f[a->cell] = send(t, a, &a->p->down, v, end);
    }
}

static void end_again(turn *t, const attempt *a, uint64_t end)
{
    t->r->next_r[a->part] = a->m + 1;
    t->lane->use += a->p->saved_b + a->p->saved_w;
    drop_input(t, a, end);
    if (a->p->out)
        record(t, end, PB_FREE, pbi_stages_node(t->s, a->part, a->m, PBI_NODE_F), memory_of(t, t->device), false);
}

static void end_saved(turn *t, const attempt *a, unsigned which, uint64_t size, uint64_t end)
{
    t->lane->use -= size;
    if (size)
        record(t, end, PB_FREE, pbi_stages_node(t->s, a->part, a->m, which), memory_of(t, t->device), false);
}

static void end_backward(turn *t, const attempt *a, uint64_t end)
{
    pbi_stages_run *r = t->r;
    r->count_b[a->part]++;
    r->end_b[a->cell] = end;
    r->at_b[a->cell] = t->lane->at;
    end_saved(t, a, PBI_NODE_SAVED_B, a->p->saved_b, end);
    if (is_split(t, a->part))
        r->here_b[a->cell] = send(t, a, &a->p->up, pbi_stages_node(t->s, a->part, a->m, PBI_NODE_B), end);
}

/* Whether the input of the next step may come while this one runs. */
static bool is_early(const turn *t, const attempt *a)
{
    const pbi_stages_lane *l = t->lane;
    if (l->at + 1 >= t->plan->count[t->device])
        return false;
    pbi_step_code next = t->plan->step[t->device][l->at + 1];
    uint32_t part = pbi_step_part(next);
    if (pbi_step_kind(next) != PBI_STAGE_F || !is_split(t, part))
        return false;
    return a->need + l->pending + t->s->part[part - 1].out <= t->s->room[t->device];
}

static void take(turn *t, attempt *a)
{
    static const unsigned node[] = {PBI_NODE_F, PBI_NODE_B, PBI_NODE_W, PBI_NODE_F};
    pbi_stages_lane *l = t->lane;
    pbi_stages_run *r = t->r;
    uint64_t end = a->at + time_of(a);
    uint32_t step = r->base[t->device] + l->at;
    bool saves = a->kind == PBI_STAGE_R || (a->kind == PBI_STAGE_F && !t->plan->dropped[a->cell]);
    bool early = is_early(t, a);
    take_input(t, a);
    r->start[step] = a->at;
    r->before[step] = a->before;
    record(t, a->at, PB_COMPUTE, pbi_stages_node(t->s, a->part, a->m, node[a->kind]), t->device, saves);
    switch (a->kind) {
    case PBI_STAGE_F: end_forward(t, a, end); break;
    case PBI_STAGE_R: end_again(t, a, end); break;
    case PBI_STAGE_B: end_backward(t, a, end); break;
    default:
        r->count_w[a->part]++;
        end_saved(t, a, PBI_NODE_SAVED_W, a->p->saved_w, end);
        break;
    }
    l->first = l->at ? l->first : a->at;
    l->start = a->at;
    l->free = l->end = end;
    l->early = early;
    l->at++;
}

static bool try_step(turn *t)
{
    pbi_stages_lane *l = t->lane;
    pbi_step_code code = t->plan->step[t->device][l->at];
    attempt a = {.part = pbi_step_part(code), .kind = pbi_step_kind(code)};
    a.p = &t->s->part[a.part];
    a.at = l->free;
    a.before = l->at ? t->r->base[t->device] + l->at - 1 : PBI_NO_STEP;
    if (!find_micro(t, &a))
        return false;
    a.cell = a.part * t->s->micro + a.m;
    bool ready = a.kind == PBI_STAGE_F   ? find_forward_input(t, &a)
                 : a.kind == PBI_STAGE_B ? find_backward_input(t, &a)
                 : a.kind == PBI_STAGE_R ? find_again(t, &a)
                                         : true;
    if (!ready || !find_room(t, &a))
        return false;
    take(t, &a);
    return true;
}

static void begin(const pbi_stages_kit *k, const pbi_stages_plan *plan)
{
    const pbi_stages *s = k->s;
    pbi_stages_run *r = k->run;
    size_t cells = (size_t)s->parts * s->micro;
    memset(r->end_f, 0xff, cells * sizeof *r->end_f);
    memset(r->end_b, 0xff, cells * sizeof *r->end_b);
    memset(r->here_f, 0xff, cells * sizeof *r->here_f);
    memset(r->here_b, 0xff, cells * sizeof *r->here_b);
    memset(r->saved, 0, cells);
    memset(r->count_f, 0, s->parts * sizeof *r->count_f);
    memset(r->count_b, 0, s->parts * sizeof *r->count_b);
    memset(r->count_w, 0, s->parts * sizeof *r->count_w);
    memset(r->next_r, 0, s->parts * sizeof *r->next_r);
    memset(r->link_free, 0, s->game->timing->machine->link_count * sizeof *r->link_free);
    r->events = 0;
    for (uint32_t d = 0; d < s->devices; d++)
        r->lane[d] =
            (pbi_stages_lane){.free = plan->release[d], .first_pending = r->base[d], .pending_end = r->base[d]};
}

bool pbi_stages_simulate(const pbi_stages_kit *k, const pbi_stages_plan *plan)
{
    const pbi_stages *s = k->s;
    bool going = true, done = true;
    begin(k, plan);
    while (going) {
        going = false;
        done = true;
        for (uint32_t d = 0; d < s->devices; d++) {
            turn t = {k, s, plan, k->run, d, &k->run->lane[d]};
            while (t.lane->at < plan->count[d] && try_step(&t))
                going = true;
            done = done && t.lane->at == plan->count[d];
        }
    }
    return done;
}
