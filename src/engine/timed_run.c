/* timed_run.c -- see timed.h. */
#define _POSIX_C_SOURCE 200809L /* clock_nanosleep */
#include "engine/timed.h"

#include "base/context.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_NS = 50000000, SLACK_NS = 2000000 };
#define NONE UINT64_MAX

/* A lane of links, and the thread that copies over it. */
typedef struct copier {
    struct pbi_timed *run;
    pthread_t thread;
    uint32_t number;
    pb_step move; /* that it carries out, or NONE */
    bool taken;   /* its thread has begun */
    pbi_transfer transfer;
    uint64_t planned_ns, due; /* how long a throttled copy takes; when the previous one was due to end */
} copier;

struct pbi_timed {
    pb_engine *e;
    const pb_timing *t;
    const pb_moves *moves;
    uint32_t memory, memories; /* the processor's; how many there are */
    uint8_t *complete;         /* by node and memory: the value is there, and complete */
    void **at;                 /* by node: its address in the processor's memory, or NULL */
    uint64_t *ready_ns;        /* by node: when it was copied in; 0: it was computed or given */
    copier *copiers;
    uint32_t copier_count, started;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    pb_step next;      /* to begin */
    pb_step computing; /* the move of the processor, or NONE */
    void *workspace;
    uint64_t held, held_until; /* room that the last computation gives back, at this time of the plan */
    bool closing;
    pb_status status;
    const copier *failed;
    uint64_t begin_ns, idle_ns; /* of the first move; since when the processor waits */
};

static uint8_t *complete(const pbi_timed *r, pb_node v, uint32_t memory)
{
    return &r->complete[(size_t)v * r->memories + memory];
}

static pbi_slot *slot_of(const pbi_timed *r, pb_node v, uint32_t memory)
{
    return &r->e->slot[(size_t)memory * r->e->graph->node_count + v];
}

static const pb_machine_link *link_of(const pbi_timed *r, pb_step k)
{
    return &r->t->machine->links[r->moves->when[k].place];
}

static uint64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
    struct timespec then = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR) {
    }
}

/* ---- beginning moves, under the lock ---- */

/* Memory changes now. */
static void use(pbi_timed *r, uint64_t more, uint64_t less)
{
    pb_engine *e = r->e;
    uint64_t now = pbi_now(e);
    e->m.flux += (double)(now - e->last_ns) * (double)e->used;
    e->last_ns = now;
    e->used += more - less;
    e->m.peak = e->used > e->m.peak ? e->used : e->m.peak;
}

/* What the last computation held only while it ran is given back at this time of the plan; false: it still runs. */
static bool give_back(pbi_timed *r, uint64_t at)
{
    if (!r->held || r->held_until > at)
        return true;
    if (r->computing != NONE)
        return false;
    use(r, 0, r->held);
    r->held = 0;
    return true;
}

/* Whether a running move reads or writes v in this memory. */
static bool in_use(const pbi_timed *r, pb_node v, uint32_t memory)
{
    for (uint32_t i = 0; i < r->copier_count; i++) {
        pb_step k = r->copiers[i].move;
        if (k != NONE && r->moves->move[k].node == v && (link_of(r, k)->from == memory || link_of(r, k)->to == memory))
            return true;
    }
    if (r->computing == NONE || memory != r->memory)
        return false;
    pb_way way = pb_moves_way(r->moves, r->e->graph, r->computing);
    for (uint32_t i = 0; i < way.in_count; i++)
        if (way.in[i] == v)
            return true;
    return false; /* what is being made is not complete: the plan does not remove it yet */
}

static bool may_compute(const pbi_timed *r, pb_step k)
{
    pb_way way = pb_moves_way(r->moves, r->e->graph, k);
    pb_node over = pb_moves_over(r->moves, k);
    if (r->computing != NONE || (over != PB_NO_NODE && in_use(r, over, r->memory)))
        return false;
    for (uint32_t i = 0; i < way.in_count; i++)
        if (!*complete(r, way.in[i], r->memory))
            return false;
    return true;
}

static copier *copier_of(const pbi_timed *r, pb_step k) { return &r->copiers[r->t->lane[r->moves->when[k].place]]; }

static bool may_begin(pbi_timed *r, pb_step k)
{
    const pb_move *move = &r->moves->move[k];
    const pb_when *when = &r->moves->when[k];
    if (!give_back(r, when->at))
        return false;
    if (move->op == PB_COMPUTE)
        return may_compute(r, k);
    if (move->op == PB_COPY)
        return copier_of(r, k)->move == NONE && *complete(r, move->node, link_of(r, k)->from);
    return !in_use(r, move->node, when->place) && (when->place != r->memory || *complete(r, move->node, r->memory));
}

/* The addresses of the values that begin with move k. */
static void take_places(pbi_timed *r, uint64_t time)
{
    pb_engine *e = r->e;
    const pbi_phase *phase = e->phase;
    r->workspace = time && r->moves->move[time - 1].op == PB_COMPUTE ? NULL : r->workspace;
    for (; e->next < phase->lives.count && phase->lives.life[e->next].from == time; e->next++) {
        pb_node v = phase->lives.life[e->next].node;
        unsigned char *at = e->block + phase->packing.offset[e->next];
        if (v == PB_NO_NODE)
            r->workspace = at;
        else
            r->at[v] = at;
    }
}

static void begin_compute(pbi_timed *r, pb_step k)
{
    const pb_graph *g = r->e->graph;
    pb_node v = r->moves->move[k].node, over = pb_moves_over(r->moves, k);
    uint32_t parts;
    const pb_node *part = pb_moves_also(r->moves, k, &parts);
    bool again = r->at[v] != NULL;
    uint64_t own = again ? 0 : g->size[v], made = own, gone = over == PB_NO_NODE ? 0 : g->size[over];
    uint64_t saved = own < gone ? own : gone, workspace = pb_moves_way(r->moves, g, k).workspace;
    for (uint32_t i = 0; i < parts; i++)
        made += g->size[part[i]];
    take_places(r, k + 1);
    for (uint32_t i = 0; i < parts; i++)
        r->at[part[i]] = r->at[part[i]] ? r->at[part[i]] : r->e->nothing;
    r->at[v] = r->at[v] ? r->at[v] : r->e->nothing;
    use(r, made + workspace, saved);
    r->held = workspace + gone - saved;
    uint64_t time = r->t->duration[v];
    if (r->moves->move[k].by)
        time = r->t->recipe[g->recipe_start[v] + r->moves->move[k].by - 1];
    r->held_until = r->moves->when[k].at + time;
    r->computing = k;
}

static void begin_copy(pbi_timed *r, pb_step k)
{
    pb_engine *e = r->e;
    pb_node v = r->moves->move[k].node;
    const pb_machine_link *link = link_of(r, k);
    uint64_t bytes = e->graph->size[v], units = pb_machine_copy_time(r->t->machine, link, bytes);
    bool out = link->from == r->memory;
    uint32_t file = out ? link->to : link->from;
    copier *c = copier_of(r, k);
    if (!out) {
        take_places(r, k + 1);
        r->at[v] = r->at[v] ? r->at[v] : e->nothing;
        use(r, bytes, 0);
        e->m.loaded_bytes += bytes;
    } else {
        e->m.stored_bytes += bytes;
        if (bytes)
            slot_of(r, v, file)->at = e->phase->filed[file].offset[e->next_filed[file]++];
    }
    const pbi_slot *slot = slot_of(r, v, file);
    c->transfer = (pbi_transfer){
        .memory = r->at[v], .bytes = bytes, .at = slot->at, .sum = slot->sum, .node = v, .tier = file, .store = out};
    c->planned_ns = e->options.throttle ? (uint64_t)((double)units * 1e9 / (double)r->t->machine->per_second) : 0;
    c->taken = false;
    c->move = k;
}

static void begin_free(pbi_timed *r, pb_step k)
{
    pb_node v = r->moves->move[k].node;
    uint32_t memory = r->moves->when[k].place;
    *complete(r, v, memory) = 0;
    if (memory != r->memory)
        return;
    r->at[v] = NULL;
    use(r, 0, r->e->graph->size[v]);
}

/* Begins all moves that can begin now. */
static void advance(pbi_timed *r)
{
    pb_step before = r->next;
    for (; r->status == PB_OK && !r->closing && r->next < r->moves->count && may_begin(r, r->next); r->next++) {
        pb_step k = r->next;
        switch (r->moves->move[k].op) {
        case PB_COMPUTE: begin_compute(r, k); break;
        case PB_COPY: begin_copy(r, k); break;
        default: begin_free(r, k);
        }
    }
    if (r->next != before)
        pthread_cond_broadcast(&r->changed);
}

/* ---- copies ---- */

/* A throttled copy ends when the link of the plan would have ended it, counted from the previous one if it followed it
 * directly: so the delays of waking up do not add up. */
static void throttle(copier *c, uint64_t begin)
{
    if (!c->planned_ns)
        return;
    bool follows = c->due && begin >= c->due && begin - c->due < SLACK_NS;
    c->due = (follows ? c->due : begin) + c->planned_ns;
    sleep_until(c->due);
}

static void end_copy(pbi_timed *r, copier *c, uint64_t busy_ns)
{
    const pb_machine_link *link = link_of(r, c->move);
    const pbi_transfer *t = &c->transfer;
    if (t->error || t->differs) {
        r->failed = r->failed ? r->failed : c;
        r->status = PB_EIO;
    }
    if (t->store)
        slot_of(r, t->node, t->tier)->sum = t->sum;
    else
        r->ready_ns[t->node] = pbi_now(r->e);
    r->e->m.io_busy_ns += busy_ns;
    *complete(r, t->node, link->to) = 1;
    c->move = NONE;
    advance(r);
    pthread_cond_broadcast(&r->changed);
}

static void *copy(void *state)
{
    copier *c = state;
    pbi_timed *r = c->run;
    pthread_mutex_lock(&r->lock);
    for (;;) {
        while (!r->closing && (c->move == NONE || c->taken))
            pthread_cond_wait(&r->changed, &r->lock);
        if (c->move == NONE || c->taken)
            break;
        c->taken = true;
        pthread_mutex_unlock(&r->lock);
        uint64_t begin = wall_ns();
        if (c->transfer.bytes)
            pbi_slow_transfer(r->e->slow, &c->transfer, c->number);
        throttle(c, begin);
        uint64_t busy = wall_ns() - begin;
        pthread_mutex_lock(&r->lock);
        end_copy(r, c, busy);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- computations, in the thread of the caller ---- */

static pb_status refuse(const pb_call *call, uint64_t bytes, void **out)
{
    pb_engine *e = call->owner;
    (void)out;
    return pbi_fail(e->ctx, PB_ELIMIT,
                    "node %.80s needs %llu bytes of workspace more than it declares, which a timed plan does not have; "
                    "profile it again, or plan in the remat game",
                    pb_graph_name(e->graph, call->node), (unsigned long long)bytes);
}

/* The addresses that the kernel sees: its inputs and what it makes. */
static void show(pbi_timed *r, pb_step k, bool visible)
{
    pb_engine *e = r->e;
    pb_node v = r->moves->move[k].node;
    pb_way way = pb_moves_way(r->moves, e->graph, k);
    uint32_t parts;
    const pb_node *part = pb_moves_also(r->moves, k, &parts);
    for (uint32_t i = 0; i < way.in_count; i++)
        e->value[way.in[i]] = visible ? r->at[way.in[i]] : NULL;
    e->value[v] = visible ? r->at[v] : NULL;
    for (uint32_t i = 0; i < parts; i++)
        e->value[part[i]] = visible ? r->at[part[i]] : NULL;
}

/* The processor has waited since it ended its last computation: until the last input was copied, then for room. */
static void count_stall(pbi_timed *r, pb_step k, uint64_t now)
{
    pb_way way = pb_moves_way(r->moves, r->e->graph, k);
    uint64_t ready = r->idle_ns;
    for (uint32_t i = 0; i < way.in_count; i++)
        ready = r->ready_ns[way.in[i]] > ready ? r->ready_ns[way.in[i]] : ready;
    ready = ready < now ? ready : now;
    r->e->m.stall_copy_ns += ready - r->idle_ns;
    r->e->m.stall_memory_ns += now - ready;
}

static pb_status run_kernel(pbi_timed *r, pb_step k, pb_call *call)
{
    pb_engine *e = r->e;
    pb_node v = call->node;
    uint32_t by = r->moves->move[k].by;
    uint8_t kind = e->kernels->kinds ? e->kernels->kinds[v] : 0;
    if ((kind & PB_KERNEL_XOR) && !call->parts_only && pb_moves_over(r->moves, k) == PB_NO_NODE)
        memset(e->value[v], 0, e->graph->size[v]);
    call->by = by;
    call->times = e->times[v]++;
    uint64_t begin = pbi_now(e);
    pb_status status = pbi_kernel_of(e, v, by)(e->kernels->state, e->ctx, call);
    uint64_t ns = pbi_now(e) - begin;
    e->m.kernel_ns += ns;
    e->m.computed++;
    e->m.recomputed += call->times > 0;
    e->m.recompute_ns += call->times ? ns : 0;
    if (status == PB_OK && e->options.timed)
        e->options.timed(e->options.timed_state, v, ns);
    return status;
}

/* Runs the computation that has begun; the lock is held before and after. */
static void compute(pbi_timed *r)
{
    pb_step k = r->computing;
    pb_engine *e = r->e;
    pb_node v = r->moves->move[k].node, over = pb_moves_over(r->moves, k);
    pb_call call = {.node = v,
                    .value = e->value,
                    .fixed = e->block,
                    .workspace = r->workspace,
                    .parts_only = *complete(r, v, r->memory),
                    .grant = refuse,
                    .owner = e};
    uint32_t parts;
    const pb_node *part = pb_moves_also(r->moves, k, &parts);
    if (r->idle_ns)
        count_stall(r, k, pbi_now(e));
    show(r, k, true);
    pthread_mutex_unlock(&r->lock);
    pb_status status = run_kernel(r, k, &call);
    pthread_mutex_lock(&r->lock);
    show(r, k, false);
    r->idle_ns = pbi_now(e);
    r->status = r->status == PB_OK ? status : r->status;
    *complete(r, v, r->memory) = 1;
    r->ready_ns[v] = 0;
    for (uint32_t i = 0; i < parts; i++) {
        *complete(r, part[i], r->memory) = 1;
        r->ready_ns[part[i]] = 0;
    }
    if (over != PB_NO_NODE) {
        *complete(r, over, r->memory) = 0;
        r->at[over] = NULL;
    }
    r->computing = NONE;
}

static bool is_done(const pbi_timed *r)
{
    if (r->next < r->moves->count)
        return false;
    for (uint32_t i = 0; i < r->copier_count; i++)
        if (r->copiers[i].move != NONE)
            return false;
    return r->computing == NONE;
}

/* Waits for a change; a stop of the program is noticed in time. */
static void wait(pbi_timed *r)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATIENCE_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&r->changed, &r->lock, &until);
}

static pb_status check_lowered(pb_engine *e)
{
    uint64_t asked = atomic_load_explicit(&e->lowered, memory_order_relaxed);
    if (asked >= e->phase->peak)
        return PB_OK;
    return pbi_fail(e->ctx, PB_ELIMIT, "the cap was lowered to %llu bytes, but the timed plan needs %llu; plan again",
                    (unsigned long long)asked, (unsigned long long)e->phase->peak);
}

static void play(pbi_timed *r)
{
    pb_engine *e = r->e;
    pthread_mutex_lock(&r->lock);
    while (r->status == PB_OK && !is_done(r)) {
        if (e->ctx->stop || e->ctx->stopped != PB_GO_ON)
            r->status = pbi_poll(e->ctx);
        if (r->status == PB_OK)
            r->status = check_lowered(e);
        advance(r);
        if (r->computing != NONE)
            compute(r);
        else if (!is_done(r) && r->status == PB_OK)
            wait(r);
    }
    r->closing = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* ---- the start ---- */

/* Values that start in another memory are written to its file, through the place to which they are copied first. */
static pb_status fill_other(pbi_timed *r, pb_node v)
{
    pb_engine *e = r->e;
    const pbi_phase *phase = e->phase;
    uint32_t memory = r->t->start[v], i = 0;
    pbi_slot *slot = slot_of(r, v, memory);
    if (!e->graph->size[v])
        return PB_OK;
    slot->at = phase->filed[memory].offset[e->next_filed[memory]++];
    while (i < phase->lives.count && phase->lives.life[i].node != v)
        i++;
    if (i == phase->lives.count)
        return PB_OK; /* nothing reads it */
    unsigned char *at = e->block + phase->packing.offset[i];
    pb_status status = e->kernels->fill ? e->kernels->fill(e->kernels->state, e->ctx, v, at) : PB_OK;
    if (status != PB_OK)
        return status;
    pbi_transfer t = {
        .memory = at, .bytes = e->graph->size[v], .at = slot->at, .node = v, .tier = memory, .store = true};
    pbi_slow_transfer(e->slow, &t, 0);
    slot->sum = t.sum;
    return pbi_slow_judge(e->ctx, e->slow, &t, pb_graph_name(e->graph, v));
}

static pb_status start(pbi_timed *r)
{
    pb_engine *e = r->e;
    const pb_graph *g = e->graph;
    pb_status status = PB_OK;
    pbi_engine_begin_phase(e, &e->whole);
    memset(e->value, 0, g->node_count * sizeof *e->value);
    memset(e->times, 0, g->node_count * sizeof *e->times);
    memset(r->at, 0, g->node_count * sizeof *r->at);
    memset(r->ready_ns, 0, g->node_count * sizeof *r->ready_ns);
    memset(r->complete, 0, (size_t)g->node_count * r->memories);
    e->m = (pb_measured){.block = e->whole.packing.size};
    e->cap = e->whole.game->cap;
    e->used = r->t->fixed[r->memory];
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        if ((g->flags[v] & PB_NODE_GIVEN) && r->t->start[v] != r->memory) {
            *complete(r, v, r->t->start[v]) = 1;
            status = fill_other(r, v);
        }
    take_places(r, 0);
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++) {
        if (!(g->flags[v] & PB_NODE_GIVEN) || r->t->start[v] != r->memory)
            continue;
        e->used += g->size[v];
        *complete(r, v, r->memory) = 1;
        r->at[v] = r->at[v] ? r->at[v] : e->nothing;
        status = e->kernels->fill ? e->kernels->fill(e->kernels->state, e->ctx, v, r->at[v]) : PB_OK;
    }
    e->m.peak = e->used;
    return status;
}

/* Signals are for the threads of the program. */
static pb_status start_copiers(pbi_timed *r)
{
    sigset_t all, before;
    int failed = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (r->started = 0; r->started < r->copier_count && !failed; r->started += !failed) {
        copier *c = &r->copiers[r->started];
        *c = (copier){.run = r, .number = r->started, .move = NONE};
        failed = pthread_create(&c->thread, NULL, copy, c);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? pbi_fail(r->e->ctx, PB_ENOMEM, "the system has no thread for copies; close other programs") : PB_OK;
}

pb_status pbi_timed_run(pb_engine *e)
{
    pbi_timed *r = e->timed;
    r->next = 0;
    r->computing = NONE;
    r->held = r->idle_ns = 0;
    r->closing = false;
    r->failed = NULL;
    r->status = start(r);
    if (r->status != PB_OK)
        return r->status;
    r->begin_ns = e->last_ns = pbi_now(e);
    for (uint32_t i = 0; i < r->copier_count; i++)
        r->copiers[i].move = NONE;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    pb_status status = start_copiers(r);
    if (status == PB_OK)
        play(r);
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    for (uint32_t i = 0; i < r->started; i++)
        pthread_join(r->copiers[i].thread, NULL);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    e->m.makespan_ns = pbi_now(e) - r->begin_ns;
    e->m.io_wait_ns = e->m.stall_copy_ns + e->m.stall_memory_ns;
    if (status == PB_OK && r->failed)
        return pbi_slow_judge(e->ctx, e->slow, &r->failed->transfer, pb_graph_name(e->graph, r->failed->transfer.node));
    for (pb_node v = 0; v < e->graph->node_count; v++)
        e->value[v] = r->at[v];
    return status == PB_OK ? r->status : status;
}

pb_status pbi_timed_open(pb_engine *e, const pbi_slow_calls *calls)
{
    const pb_timing *t = e->whole.game->timing;
    size_t nodes = (size_t)e->graph->node_count + 1, memories = t->machine->memory_count;
    pbi_timed *r = pb_arena_zero(&e->arena, 1, sizeof *r);
    if (!r)
        return PB_ENOMEM;
    *r = (pbi_timed){.e = e,
                     .t = t,
                     .moves = e->whole.moves,
                     .memory = t->machine->processors[0].memory,
                     .memories = (uint32_t)memories,
                     .copier_count = t->lane_count};
    r->complete = pb_arena_zero(&e->arena, nodes * memories, 1);
    r->at = pb_arena_zero(&e->arena, nodes, sizeof *r->at);
    r->ready_ns = pb_arena_zero(&e->arena, nodes, sizeof *r->ready_ns);
    r->copiers = pb_arena_zero(&e->arena, (size_t)t->lane_count + 1, sizeof *r->copiers);
    e->slot = pb_arena_zero(&e->arena, nodes * memories, sizeof *e->slot);
    e->timed = r;
    if (!r->complete || !r->at || !r->ready_ns || !r->copiers || !e->slot)
        return PB_ENOMEM;
    if (memories < 2)
        return PB_OK;
    return pbi_slow_open(e->ctx, &e->arena,
                         &(pbi_slow_options){.path = e->options.slow_path,
                                             .tier_count = (uint32_t)memories,
                                             .threads = t->lane_count,
                                             .in_memory = !e->options.slow_path[0],
                                             .by_caller = true,
                                             .no_direct = e->options.no_direct,
                                             .calls = calls},
                         &e->slow);
}
