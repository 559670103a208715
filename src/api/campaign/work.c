/* work.c -- a worker: takes cells, plans them, writes their rows, until none is left.
 *
 * Idea        shards in a circle, from a place of the worker's own, so that workers seldom want the same cell. A cell
 *             is taken by renaming its file. A round in which every cell was done, or planned by this process, is the
 *             last.
 * Invariants  every thread has its own context and arena; what is planned next is chosen under `taking`, sweeps are
 *             read under `reading`, rows are handed to the clerk under `writing`. A cell that does not become a row is
 *             put back, on every path.
 */
#define _XOPEN_SOURCE 700
#include "api/campaign/work.h"

#include "base/context.h"
#include "base/workers.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SLICE_NS = 5000000, CLERK_NAP_NS = 1000000, DEFAULT_TIMEOUT_S = 60, BEATS_IN_TIMEOUT = 5 };

static uint64_t now_of(const pbi_crew *c) { return c->ctx->clock_ns(c->ctx->callback_state); }

static void nap(uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    nanosleep(&t, NULL);
}

/* ---- what a thread's context calls ---- */

static pb_stop crew_stop(const pbi_crew *crew)
{
    pbi_crew *c = (pbi_crew *)crew;
    int stopped = atomic_load(&c->stopped);
    if (stopped == PB_GO_ON && c->ctx->stop && (stopped = (int)c->ctx->stop(c->ctx->callback_state)) != PB_GO_ON)
        atomic_store(&c->stopped, stopped);
    if (stopped == PB_GO_ON && c->end_ns && now_of(c) >= c->end_ns) {
        stopped = PB_STOP_TIME;
        atomic_store(&c->stopped, stopped);
    }
    return (pb_stop)stopped;
}

static pb_stop hand_stop(void *state)
{
    const pbi_hand *h = state;
    return crew_stop(h->c);
}

static uint64_t hand_clock(void *state)
{
    const pbi_hand *h = state;
    return now_of(h->c);
}

/* A cell that reaches its own memory limit gives up, on every computer; one that the system refuses memory does not. */
static void *hand_resize(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
    pbi_hand *h = state;
    void *got = h->c->ctx->resize(h->c->ctx->allocator_state, block, old_bytes, new_bytes);
    h->refused = h->refused || (!got && new_bytes);
    return got;
}

static void fail_with(pbi_crew *c, pb_status status, const char *message)
{
    pthread_mutex_lock(&c->reading);
    if (c->status == PB_OK) {
        c->status = status;
        snprintf(c->message, sizeof c->message, "%.299s", message);
    }
    pthread_mutex_unlock(&c->reading);
    atomic_store(&c->failed, true);
}

/* ---- life ---- */

static void beat(pbi_crew *c)
{
    pb_context ctx = *c->ctx; /* for its error: another thread may use the caller's */
    uint64_t now = now_of(c);
    pthread_mutex_lock(&c->beating);
    if (!c->worker.beats || now >= c->beat_ns) {
        c->beat_ns = now + c->timeout_ns / BEATS_IN_TIMEOUT;
        c->worker.cells = atomic_load(&c->done);
        pbi_worker_beat(&ctx, &c->worker, now); /* a failure is not final: the next one may succeed */
    }
    pthread_mutex_unlock(&c->beating);
}

/* ---- taking ---- */

static pb_status next_list(pbi_crew *c, uint32_t shard)
{
    pb_arena_release(&c->listing);
    pb_arena_init(&c->listing, &c->list_ctx);
    c->at = c->count = 0;
    return pbi_cells_list(&c->list_ctx, &c->store->folder, shard, &c->listing, &c->list, &c->count);
}

/* Puts the cell's lease into *out if this worker gets it now. */
static pb_status try_cell(pbi_crew *c, const pbi_cell *cell, pbi_cell *out, bool *got)
{
    pbi_life life;
    *out = *cell;
    out->state = PBI_CELL_LEASE;
    memcpy(out->worker, c->worker.id, sizeof out->worker);
    *got = false;
    if (c->options->only && strcmp(cell->sweep, c->options->only) != 0)
        return PB_OK;
    if (cell->state == PBI_CELL_TODO) {
        *got = pbi_cell_move(&c->store->folder, cell, out);
        c->others += !*got;
        c->unknown += !*got;
        return PB_OK;
    }
    if (cell->state != PBI_CELL_LEASE || strcmp(cell->worker, c->worker.id) == 0)
        return PB_OK;
    pb_status status = pbi_watch_look(&c->list_ctx, &c->watch, cell->worker, now_of(c), &life);
    if (status == PB_OK && life == PBI_DEAD) {
        out->tries++;
        out->state = out->tries > PBI_MAX_TRIES ? PBI_CELL_FAIL : PBI_CELL_LEASE;
        *got = pbi_cell_move(&c->store->folder, cell, out);
        atomic_fetch_add(out->state == PBI_CELL_FAIL ? &c->given_up : &c->taken_over, *got);
        if (out->state == PBI_CELL_FAIL)
            *got = false;
        else
            c->unknown += !*got;
    }
    c->others += !*got;
    c->unknown += life == PBI_UNKNOWN;
    return status;
}

/* At the end of a round: false if there is nothing to wait for. */
static bool wait_for_others(pbi_crew *c)
{
    if (!c->others || (!c->unknown && !c->options->wait))
        return false;
    uint64_t end = now_of(c) + c->pause_ns;
    c->pause_ns = c->pause_ns < 1000000000u ? 2 * c->pause_ns : c->pause_ns;
    while (now_of(c) < end && crew_stop(c) == PB_GO_ON && !atomic_load(&c->failed)) {
        beat(c);
        nap(SLICE_NS);
    }
    return true;
}

static bool too_late(const pbi_crew *c)
{
    return c->end_ns && now_of(c) + atomic_load(&((pbi_crew *)c)->longest_ns) >= c->end_ns;
}

static pb_status take(pbi_crew *c, pbi_cell *out, bool *got)
{
    pb_status status = PB_OK;
    *got = false;
    while (status == PB_OK && !*got && !c->over && crew_stop(c) == PB_GO_ON && !atomic_load(&c->failed)) {
        if (too_late(c)) {
            c->over = c->late = true;
        } else if (c->options->cells && c->taken >= c->options->cells) {
            c->over = c->enough = true;
        } else if (c->at < c->count) {
            status = try_cell(c, &c->list[c->at++], out, got);
        } else if (c->round < PBI_SHARDS) {
            status = next_list(c, (c->first + c->round++) % PBI_SHARDS);
        } else {
            c->over = !wait_for_others(c);
            c->round = c->others = c->unknown = 0;
        }
    }
    if (*got) {
        c->taken++;
        c->pause_ns = SLICE_NS;
    }
    return status;
}

static void give_back(pbi_crew *c, const pbi_cell *lease)
{
    pbi_cell back = *lease;
    back.state = PBI_CELL_TODO;
    atomic_fetch_add(&c->returned, pbi_cell_move(&c->store->folder, lease, &back));
}

/* ---- sweeps ---- */

/* The sweep with this id, read once; the least recently used ones that no thread uses make room. */
static pbi_loaded *hold_sweep(pbi_crew *c, const char *id, pb_status *status)
{
    pbi_loaded *found = NULL, *oldest = NULL;
    pthread_mutex_lock(&c->reading);
    for (int i = 0; i < PBI_MAX_LOADED && !found; i++) {
        pbi_loaded *l = &c->loaded[i];
        if (l->campaign && strcmp(l->campaign->id, id) == 0)
            found = l;
        else if (!l->users && (!oldest || l->used < oldest->used))
            oldest = l;
    }
    *status = PB_OK;
    if (!found && oldest) {
        if (oldest->campaign)
            pb_arena_release(&oldest->arena);
        *oldest = (pbi_loaded){.users = 0};
        oldest->ctx = *c->ctx;
        oldest->ctx.stop = NULL;
        oldest->ctx.progress = NULL;
        oldest->ctx.log = NULL;
        oldest->ctx.memory_used = oldest->ctx.memory_limit = 0;
        pb_arena_init(&oldest->arena, &oldest->ctx);
        *status = pbi_campaign_read(&oldest->ctx, c->store, id, &oldest->arena, &oldest->campaign);
        if (*status == PB_OK) {
            found = oldest;
        } else {
            pb_arena_release(&oldest->arena);
            snprintf(c->read_error, sizeof c->read_error, "%.299s", oldest->ctx.error.message);
            oldest->campaign = NULL;
        }
    }
    if (found) {
        found->users++;
        found->used = ++c->uses;
    }
    pthread_mutex_unlock(&c->reading);
    return found;
}

static void let_go(pbi_crew *c, pbi_loaded *l)
{
    pthread_mutex_lock(&c->reading);
    l->users--;
    pthread_mutex_unlock(&c->reading);
}

/* ---- one cell ---- */

/* A place for a row, with a context of its own; NULL if the disk is slower than the planners. */
static pbi_row_slot *free_slot(pbi_crew *c)
{
    pbi_row_slot *found = NULL;
    pthread_mutex_lock(&c->writing);
    for (int i = 0; i < PBI_ROW_SLOTS && !found && atomic_load(&c->clerk); i++)
        if (!c->slots[i].used)
            found = &c->slots[i];
    if (found)
        found->used = true;
    pthread_mutex_unlock(&c->writing);
    if (found) {
        found->ctx = *c->ctx;
        found->ctx.stop = NULL;
        found->ctx.stopped = PB_GO_ON;
        found->ctx.memory_limit = found->ctx.memory_used = 0;
        pb_arena_init(&found->arena, &found->ctx);
    }
    return found;
}

static void mark_slot(pbi_crew *c, pbi_row_slot *slot, bool ready)
{
    if (!ready)
        pb_arena_release(&slot->arena);
    pthread_mutex_lock(&c->writing);
    slot->ready = ready;
    slot->used = ready;
    pthread_mutex_unlock(&c->writing);
}

/* Leaves the row to the clerk, because a disk takes milliseconds to sync it; without a free slot writes it here. */
static pb_status write_row(pbi_crew *c, pbi_hand *h, const pbi_cell *lease, pb_arena *arena, const pb_schedule *s)
{
    char outcome[PBI_OUTCOME_TEXT];
    pbi_bytes row;
    pbi_row_slot *slot = free_slot(c);
    pb_context *ctx = slot ? &slot->ctx : &h->ctx;
    pbi_held held = pbi_hold(&h->ctx);
    pb_status status = pbi_row_outcome(ctx, s, outcome);
    if (status == PB_OK)
        status = pbi_row_write(ctx, s, slot ? &slot->arena : arena, &row);
    if (status == PB_OK && !slot)
        status = pbi_cell_finish(ctx, &c->store->folder, lease, outcome, row);
    if (slot) {
        slot->lease = *lease;
        slot->row = row;
        memcpy(slot->outcome, outcome, sizeof outcome);
        if (status != PB_OK)
            h->ctx.error = slot->ctx.error;
        mark_slot(c, slot, status == PB_OK);
        h->handed_over = status == PB_OK;
    }
    pbi_resume(&h->ctx, held);
    return status;
}

static pb_status plan_cell(pbi_hand *h, const pbi_campaign *campaign, const pbi_cell *lease, bool *done)
{
    pb_arena arena;
    pb_plan_result planned;
    const pbi_cell_help alone = {.start = NULL};
    pb_context *ctx = &h->ctx;
    ctx->tick_limit = campaign->ticks;
    ctx->memory_limit = (size_t)campaign->memory;
    ctx->memory_used = 0;
    h->refused = h->handed_over = false;
    pb_arena_init(&arena, ctx);
    pb_status status = pbi_sweep_plan(&campaign->state, lease->index, &alone, ctx, &arena, &planned);
    h->planning_ns += now_of(h->c) - h->begin_ns;
    *done = false;
    if (status != PB_OK && ctx->stopped == PB_GO_ON && !h->refused) {
        ctx->memory_limit = 0; /* the answer itself is small */
        status = pbi_sweep_failed(&campaign->state, lease->index, ctx, &arena, &planned);
    }
    if (ctx->stopped == PB_GO_ON && !h->refused && status == PB_OK) {
        ctx->memory_limit = 0;
        status = write_row(h->c, h, lease, &arena, &planned.schedule);
        *done = status == PB_OK;
    } else if (h->refused) {
        status = pbi_fail(ctx, PB_ENOMEM,
                          "the system has no memory left for a cell, which was put back; use fewer threads at a time");
    } else if (ctx->stopped != PB_GO_ON) {
        status = PB_OK;
    }
    pb_arena_release(&arena);
    return status;
}

static void do_cell(pbi_hand *h, const pbi_cell *lease)
{
    pbi_crew *c = h->c;
    pb_status status;
    bool done = false;
    h->begin_ns = now_of(c);
    pbi_loaded *sweep = hold_sweep(c, lease->sweep, &status);
    if (!sweep) {
        give_back(c, lease);
        fail_with(c, status, c->read_error);
        return;
    }
    if (lease->index < sweep->campaign->sweep.cell_count)
        status = plan_cell(h, sweep->campaign, lease, &done);
    else
        status =
            pbi_fail(&h->ctx, PB_EFORMAT, "the store has a cell that its sweep has not; `pebble store gc` removes it");
    let_go(c, sweep);
    if (!done)
        give_back(c, lease);
    if (status != PB_OK)
        fail_with(c, status, h->ctx.error.message);
    uint64_t spent = now_of(c) - h->begin_ns, longest = atomic_load(&c->longest_ns);
    h->spent_ns += spent;
    while (done && spent > longest && !atomic_compare_exchange_weak(&c->longest_ns, &longest, spent))
        continue;
    atomic_fetch_add(&c->done, done && !h->handed_over);
}

static void run_hand(pbi_hand *h)
{
    pbi_crew *c = h->c;
    bool got = true;
    while (got) {
        pbi_cell lease;
        pthread_mutex_lock(&c->taking);
        pb_status status = take(c, &lease, &got);
        char message[sizeof c->message];
        snprintf(message, sizeof message, "%.299s", c->list_ctx.error.message);
        pthread_mutex_unlock(&c->taking);
        if (status != PB_OK)
            fail_with(c, status, message);
        else if (got)
            do_cell(h, &lease);
        if (h == &c->hands[0])
            pbi_progress(c->ctx, "cells", atomic_load(&c->done), 0);
        beat(c);
    }
}

/* Writes a row that waits; false if there is none. */
static bool write_one(pbi_crew *c)
{
    pbi_row_slot *slot = NULL;
    pthread_mutex_lock(&c->writing);
    for (int i = 0; i < PBI_ROW_SLOTS && !slot; i++)
        if (c->slots[i].ready)
            slot = &c->slots[i];
    pthread_mutex_unlock(&c->writing);
    if (!slot)
        return false;
    pb_status status = pbi_cell_finish(&slot->ctx, &c->store->folder, &slot->lease, slot->outcome, slot->row);
    atomic_fetch_add(&c->done, status == PB_OK);
    if (status != PB_OK) {
        give_back(c, &slot->lease);
        fail_with(c, status, slot->ctx.error.message);
    }
    mark_slot(c, slot, false);
    return true;
}

/* The last one is the clerk: it writes rows, and keeps the worker alive while the others plan. */
static void run_one(void *state, uint32_t index)
{
    pbi_crew *c = state;
    if (index < c->threads) {
        run_hand(&c->hands[index]);
        atomic_fetch_sub(&c->running, 1);
        return;
    }
    atomic_store(&c->clerk, true);
    for (bool last = false; !last;) {
        last = atomic_load(&c->running) == 0; /* looked at first: what they left before is written below */
        while (write_one(c))
            beat(c);
        beat(c);
        if (!last)
            nap(CLERK_NAP_NS);
    }
}

/* ---- the whole ---- */

static pb_status begin_crew(pbi_crew *c, pb_arena *scratch)
{
    const pb_work_options *o = c->options;
    c->timeout_ns = o->timeout_ns ? o->timeout_ns : DEFAULT_TIMEOUT_S * UINT64_C(1000000000);
    c->threads = o->threads ? o->threads : 1;
    c->threads = c->threads < PBI_MAX_LOADED ? c->threads : PBI_MAX_LOADED; /* each may hold a sweep */
    c->hands = pb_arena_zero(scratch, c->threads, sizeof *c->hands);
    c->loaded = pb_arena_zero(scratch, PBI_MAX_LOADED, sizeof *c->loaded);
    if (!c->hands || !c->loaded)
        return PB_ENOMEM;
    c->pause_ns = SLICE_NS;
    c->end_ns = o->time_ns ? now_of(c) + o->time_ns : 0;
    c->list_ctx = *c->ctx;
    c->list_ctx.stop = NULL;
    pb_arena_init(&c->listing, &c->list_ctx);
    pb_arena_init(&c->watching, &c->list_ctx);
    pb_status status = pbi_worker_begin(c->ctx, &c->store->folder, c->threads, &c->worker);
    c->watch = (pbi_watch){.folder = &c->store->folder,
                           .arena = &c->watching,
                           .own_process = c->worker.process,
                           .timeout_ns = c->timeout_ns};
    c->first = pbi_shard_of(c->worker.id);
    for (uint32_t i = 0; i < c->threads; i++) {
        pbi_hand *h = &c->hands[i];
        *h = (pbi_hand){.ctx = *c->ctx, .c = c};
        h->ctx.resize = hand_resize;
        h->ctx.allocator_state = h;
        h->ctx.stop = hand_stop;
        h->ctx.clock_ns = hand_clock;
        h->ctx.callback_state = h;
        h->ctx.progress = NULL;
        h->ctx.log = NULL;
    }
    return status == PB_OK ? pbi_worker_beat(c->ctx, &c->worker, now_of(c)) : status;
}

static void end_crew(pbi_crew *c, pb_work_report *out)
{
    int stopped = atomic_load(&c->stopped);
    for (int i = 0; i < PBI_MAX_LOADED; i++)
        if (c->loaded[i].campaign)
            pb_arena_release(&c->loaded[i].arena);
    pb_arena_release(&c->listing);
    pb_arena_release(&c->watching);
    pbi_worker_end(&c->worker);
    *out = (pb_work_report){.end = stopped == PB_STOP_INTERRUPT         ? PB_WORK_INTERRUPT
                                   : stopped == PB_STOP_TIME || c->late ? PB_WORK_TIME
                                   : c->enough                          ? PB_WORK_CELLS
                                                                        : PB_WORK_NONE_LEFT,
                            .done = atomic_load(&c->done),
                            .returned = atomic_load(&c->returned),
                            .taken_over = atomic_load(&c->taken_over),
                            .given_up = atomic_load(&c->given_up)};
    for (uint32_t i = 0; i < c->threads; i++) {
        out->seconds += 1e-9 * (double)c->hands[i].spent_ns;
        out->planning += 1e-9 * (double)c->hands[i].planning_ns;
    }
}

/* Fewer threads if the cells that are left may use more memory than there is. */
static pb_status limit_threads(pbi_crew *c)
{
    pb_arena scratch;
    const char *const *ids = NULL;
    uint32_t count = 0;
    uint64_t most = 0;
    pb_arena_init(&scratch, c->ctx);
    pb_status status = pb_store_sweeps(c->ctx, c->store, &scratch, &ids, &count);
    for (uint32_t i = 0; i < count && status == PB_OK; i++) {
        pbi_loaded *l = hold_sweep(c, ids[i], &status);
        if (!l)
            continue;
        uint64_t memory = l->campaign->memory;
        let_go(c, l);
        if (!memory)
            status = pbi_fail(c->ctx, PB_EINVAL,
                              "the cells of the sweep %.8s have no memory limit, so this worker cannot keep one; sweep "
                              "with --memory, or work without it",
                              ids[i]);
        else if (memory > c->options->memory)
            status =
                pbi_fail(c->ctx, PB_EINVAL,
                         "a cell of the sweep %.8s may use more memory than this worker has; give it more", ids[i]);
        most = memory > most ? memory : most;
    }
    pb_arena_release(&scratch);
    if (status == PB_OK && most && c->options->memory / most < c->threads)
        c->threads = (uint32_t)(c->options->memory / most);
    return status;
}

pb_status pb_store_work(pb_context *ctx, pb_store *store, const pb_work_options *options, pb_work_report *out)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_crew *c = pb_arena_zero(&scratch, 1, sizeof *c);
    if (!c || !ctx->clock_ns) {
        pb_arena_release(&scratch);
        return c ? pbi_fail(ctx, PB_EINVAL, "a worker needs a clock; set ctx->clock_ns") : PB_ENOMEM;
    }
    ctx->stopped = PB_GO_ON;
    c->ctx = ctx;
    c->store = store;
    c->options = options;
    pthread_mutex_init(&c->taking, NULL);
    pthread_mutex_init(&c->reading, NULL);
    pthread_mutex_init(&c->beating, NULL);
    pthread_mutex_init(&c->writing, NULL);
    pb_status status = begin_crew(c, &scratch);
    if (status == PB_OK && options->memory)
        status = limit_threads(c);
    if (status == PB_OK) {
        atomic_store(&c->running, (int)c->threads);
        pbi_workers_run(c->threads + 1, run_one, c);
        status = c->status == PB_OK ? PB_OK : pbi_fail(ctx, c->status, "%s", c->message);
    }
    if (c->hands && c->loaded)
        end_crew(c, out);
    pthread_mutex_destroy(&c->taking);
    pthread_mutex_destroy(&c->reading);
    pthread_mutex_destroy(&c->beating);
    pthread_mutex_destroy(&c->writing);
    pb_arena_release(&scratch);
    return status;
}
