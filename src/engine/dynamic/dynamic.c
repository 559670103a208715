/* dynamic.c -- see dynamic.h: records of values, and recomputation.
 *
 * A value is known as long as the program has a reference to it or a known value reads it: it may then be needed again.
 * An evicted value is recomputed together with all evicted values that it depends on, with an explicit stack;
 * inputs that are ready are pinned until their reader is computed.
 */
#include "pebble/dynamic.h"

#include "base/arena.h"
#include "base/context.h"
#include "engine/dynamic/parts.h"

#include <string.h>

static uint64_t room_of(const pb_dynamic *o, uint64_t bytes)
{
    uint64_t align = o->options.align;
    return ((bytes ? bytes : 1) + align - 1) & ~(align - 1);
}

static uint64_t now_ns(const pb_dynamic *o) { return o->ctx->clock_ns ? o->ctx->clock_ns(o->ctx->callback_state) : 0; }

static bool is_known(const pb_dynamic *o, pb_value v)
{
    return v < o->record_count && (o->record[v].flags & PBI_KNOWN);
}

static pb_status unknown(const pb_dynamic *o, pb_value v)
{
    return pbi_fail(o->ctx, PB_EINVAL, "there is no value %u, or it was released; use a value that is still held",
                    (unsigned)v);
}

/* ---- records ---- */

static bool reserve(pb_dynamic *o, void **items, size_t *room, size_t need, size_t size)
{
    return pbi_arena_reserve(&o->arena, items, room, need, size);
}

static pb_status new_record(pb_dynamic *o, pb_value *out)
{
    if (o->dead != UINT32_MAX) {
        *out = o->dead;
        o->dead = o->record[*out].group;
    } else {
        void *record = o->record, *search = o->search, *stack = o->stack, *next = o->stack_next;
        size_t need = (size_t)o->record_count + 1;
        bool ok = reserve(o, &record, &o->record_room, need, sizeof *o->record);
        o->record = record;
        ok = ok && reserve(o, &search, &o->search_room, need, sizeof *o->search);
        o->search = search;
        ok = ok && reserve(o, &stack, &o->stack_room, need, sizeof *o->stack);
        o->stack = stack;
        ok = ok && reserve(o, &next, &o->stack_next_room, need, sizeof *o->stack_next);
        o->stack_next = next;
        if (!ok)
            return PB_ENOMEM;
        *out = o->record_count++;
    }
    o->record[*out] = (pbi_record){.readers = UINT32_MAX,
                                   .piece = PBI_NO_PIECE,
                                   .group = UINT32_MAX,
                                   .traced = PB_NO_NODE,
                                   .flags = PBI_KNOWN,
                                   .used_at = o->now};
    return PB_OK;
}

/* Edges for a value with this number of inputs. */
static pb_status new_readings(pb_dynamic *o, uint32_t inputs, uint32_t *out)
{
    if (inputs < PBI_FEW_INPUTS && o->spare_readings[inputs] != UINT32_MAX) {
        *out = o->spare_readings[inputs];
        o->spare_readings[inputs] = o->reading[*out].after;
        return PB_OK;
    }
    void *reading = o->reading;
    if (o->reading_count + inputs >= UINT32_MAX)
        return pbi_fail(o->ctx, PB_ERANGE, "more than 2^32 values were read; use fewer or larger operations");
    if (!reserve(o, &reading, &o->reading_room, o->reading_count + inputs, sizeof *o->reading))
        return PB_ENOMEM;
    o->reading = reading;
    *out = (uint32_t)o->reading_count;
    o->reading_count += inputs;
    return PB_OK;
}

static void link_readings(pb_dynamic *o, pb_value v, const pb_value *input)
{
    pbi_record *r = &o->record[v];
    for (uint32_t i = 0; i < r->inputs; i++) {
        pbi_record *in = &o->record[input[i]];
        uint32_t edge = r->reading + i;
        o->reading[edge] = (pbi_reading){input[i], v, UINT32_MAX, in->readers};
        if (in->readers != UINT32_MAX)
            o->reading[in->readers].before = edge;
        in->readers = edge;
        in->needed++;
    }
}

static void unlink_reading(pb_dynamic *o, uint32_t edge)
{
    pbi_reading *e = &o->reading[edge];
    if (e->before != UINT32_MAX)
        o->reading[e->before].after = e->after;
    else
        o->record[e->input].readers = e->after;
    if (e->after != UINT32_MAX)
        o->reading[e->after].before = e->before;
}

static void give_readings(pb_dynamic *o, const pbi_record *r)
{
    if (!r->inputs || r->inputs >= PBI_FEW_INPUTS)
        return;
    o->reading[r->reading].after = o->spare_readings[r->inputs];
    o->spare_readings[r->inputs] = r->reading;
}

/* Forgets v, and then every value that only v needed. */
static void forget(pb_dynamic *o, pb_value v)
{
    size_t depth = 0;
    o->search[depth++] = v;
    while (depth) {
        pb_value at = o->search[--depth];
        pbi_record *r = &o->record[at];
        if (r->piece != PBI_NO_PIECE)
            pbi_pool_give(&o->pool, r->piece);
        pbi_dynamic_came_back(o, at);
        for (uint32_t i = 0; i < r->inputs; i++) {
            pb_value w = o->reading[r->reading + i].input;
            pbi_record *in = &o->record[w];
            unlink_reading(o, r->reading + i);
            if (--in->needed == 0 && !in->held && !in->pins)
                o->search[depth++] = w;
        }
        give_readings(o, r);
        *r = (pbi_record){.group = o->dead, .piece = PBI_NO_PIECE};
        o->dead = at;
        o->counts.values--;
    }
}

/* A value that is never recomputed does not need its inputs any more. */
static void cut_inputs(pb_dynamic *o, pb_value v)
{
    pbi_record *r = &o->record[v];
    for (uint32_t i = 0; i < r->inputs; i++) {
        pb_value w = o->reading[r->reading + i].input;
        pbi_record *in = &o->record[w];
        unlink_reading(o, r->reading + i);
        if (--in->needed == 0 && !in->held && !in->pins)
            forget(o, w);
    }
    give_readings(o, r);
    r->inputs = 0;
}

/* No references or pins are left: evicts and forgets it as far as possible. */
static pb_status let_go(pb_dynamic *o, pb_value v)
{
    const pbi_record *r = &o->record[v];
    if (r->held || r->pins)
        return PB_OK;
    if (!r->needed)
        forget(o, v);
    else if (pbi_dynamic_may_go(o, v))
        return pbi_dynamic_evict(o, v);
    return PB_OK;
}

/* ---- computing ---- */

static pb_status call_kernel(pb_dynamic *o, pb_value v, uint32_t work)
{
    pbi_record *r = &o->record[v];
    void *input = (void *)o->input;
    if (!reserve(o, &input, &o->input_room, (size_t)r->inputs + 1, sizeof *o->input))
        return PB_ENOMEM;
    o->input = input;
    for (uint32_t i = 0; i < r->inputs; i++)
        o->input[i] = o->block + o->pool.piece[o->record[o->reading[r->reading + i].input].piece].at;
    pb_dynamic_call call = {.input = o->input,
                            .count = r->inputs,
                            .output = o->block + o->pool.piece[r->piece].at,
                            .workspace = work == PBI_NO_PIECE ? NULL : o->block + o->pool.piece[work].at,
                            .size = r->size,
                            .times = r->times};
    uint64_t from = r->cost ? 0 : now_ns(o);
    pb_status status = r->kernel(r->state, o->ctx, &call);
    r = &o->record[v];
    if (status == PB_OK && !r->cost)
        r->cost = now_ns(o) - from;
    return status;
}

/* All inputs are resident and pinned. */
static pb_status compute(pb_dynamic *o, pb_value v)
{
    pbi_record *r = &o->record[v];
    uint32_t work = PBI_NO_PIECE, piece;
    pb_status status = pbi_poll(o->ctx);
    if (status == PB_OK && r->workspace)
        status = pbi_dynamic_make_room(o, room_of(o, r->workspace), PBI_WORK, &work);
    if (status == PB_OK)
        status = pbi_dynamic_make_room(o, room_of(o, r->size), v, &piece);
    if (status == PB_OK) {
        r->piece = piece;
        status = call_kernel(o, v, work);
        if (status != PB_OK) {
            pbi_pool_give(&o->pool, r->piece);
            r->piece = PBI_NO_PIECE;
        }
    }
    if (work != PBI_NO_PIECE)
        pbi_pool_give(&o->pool, work);
    if (status != PB_OK)
        return status;
    pbi_dynamic_came_back(o, v);
    o->counts.computed++;
    o->counts.work += r->cost;
    if (r->times++) {
        o->counts.recomputed++;
        o->counts.rework += r->cost;
    }
    o->now += r->cost + 1;
    r->used_at = o->now;
    return PB_OK;
}

static void unpin_inputs(pb_dynamic *o, pb_value v, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        o->record[o->reading[o->record[v].reading + i].input].pins--;
}

/* Makes v resident. Each value is on the stack at most once. */
static pb_status ensure(pb_dynamic *o, pb_value v)
{
    size_t depth = 0;
    pb_status status = PB_OK;
    if (o->record[v].piece != PBI_NO_PIECE)
        return PB_OK;
    o->stack[depth] = v;
    o->stack_next[depth++] = 0;
    while (depth && status == PB_OK) {
        pb_value at = o->stack[depth - 1];
        const pbi_record *r = &o->record[at];
        uint32_t *next = &o->stack_next[depth - 1];
        if (*next < r->inputs) {
            pb_value w = o->reading[r->reading + *next].input;
            if (o->record[w].piece == PBI_NO_PIECE) {
                o->stack[depth] = w;
                o->stack_next[depth++] = 0;
                continue;
            }
            o->record[w].pins++;
            o->record[w].used_at = o->now;
            (*next)++;
            continue;
        }
        status = compute(o, at);
        if (status == PB_OK) {
            unpin_inputs(o, at, o->record[at].inputs);
            depth--;
        }
    }
    while (depth--)
        unpin_inputs(o, o->stack[depth], o->stack_next[depth]);
    return status;
}

/* ---- the trace ---- */

static pb_status note(pb_dynamic *o, pb_value v, const pb_value *input)
{
    pbi_record *r = &o->record[v];
    void *traced = o->traced, *inputs = o->traced_input;
    if (!o->options.record)
        return PB_OK;
    bool ok = reserve(o, &traced, &o->traced_room, (size_t)o->traced_count + 1, sizeof *o->traced);
    o->traced = traced;
    ok = ok &&
         reserve(o, &inputs, &o->traced_input_room, o->traced_input_count + r->inputs + 1, sizeof *o->traced_input);
    o->traced_input = inputs;
    if (!ok)
        return PB_ENOMEM;
    r->traced = o->traced_count++;
    o->traced[r->traced] = (pbi_traced){.size = r->size,
                                        .workspace = r->workspace,
                                        .cost = r->cost,
                                        .given = r->flags & PBI_OUTSIDE,
                                        .once = r->flags & PBI_ONCE,
                                        .inputs = r->inputs};
    for (uint32_t i = 0; i < r->inputs; i++)
        o->traced_input[o->traced_input_count++] = o->record[input[i]].traced;
    return PB_OK;
}

/* ---- the interface ---- */

pb_status pb_dynamic_new(pb_context *ctx, const pb_dynamic_options *options, pb_dynamic **out)
{
    pb_arena arena;
    uint64_t align = options->align ? options->align : PB_ALIGN_DEFAULT;
    if ((align & (align - 1)) || (unsigned)options->policy >= PB_DYNAMIC_POLICIES || options->cap > SIZE_MAX / 2)
        return pbi_fail(ctx, PB_EINVAL, "expected a cap, an alignment that is a power of two, and a known policy");
    pb_arena_init(&arena, ctx);
    pb_dynamic *o = pb_arena_zero(&arena, 1, sizeof *o);
    if (!o)
        return PB_ENOMEM;
    o->ctx = ctx;
    o->arena = arena;
    o->options = *options;
    o->options.align = align;
    o->dead = UINT32_MAX;
    memset(o->spare_readings, 0xff, sizeof o->spare_readings);
    uint64_t cap = options->cap & ~(align - 1);
    unsigned char *block = pb_arena_alloc(&o->arena, cap + align, 1);
    pb_status status = block ? pbi_pool_init(&o->pool, &o->arena, cap) : PB_ENOMEM;
    if (status != PB_OK) {
        pb_dynamic_free(o);
        return status;
    }
    o->block = block + (align - (uintptr_t)block % align) % align;
    *out = o;
    return PB_OK;
}

void pb_dynamic_free(pb_dynamic *o)
{
    if (!o)
        return;
    pb_arena arena = o->arena;
    pb_arena_release(&arena);
}

pb_status pb_dynamic_input(pb_dynamic *o, const void *bytes, uint64_t size, pb_value *out)
{
    pb_value v;
    uint32_t piece;
    if (size > o->options.cap)
        return pbi_fail(o->ctx, PB_ELIMIT, "a value of %llu bytes does not fit the cap of %llu; raise the cap",
                        (unsigned long long)size, (unsigned long long)o->options.cap);
    pb_status status = new_record(o, &v);
    if (status != PB_OK)
        return status;
    pbi_record *r = &o->record[v];
    r->size = size;
    r->flags |= PBI_OUTSIDE;
    o->counts.values++;
    status = pbi_dynamic_make_room(o, room_of(o, size), v, &piece);
    if (status == PB_OK) {
        o->record[v].piece = piece;
        memcpy(o->block + o->pool.piece[piece].at, bytes, size);
        status = note(o, v, NULL);
    }
    if (status != PB_OK) {
        forget(o, v);
        return status;
    }
    o->record[v].held = 1;
    *out = v;
    return PB_OK;
}

pb_status pb_dynamic_compute(pb_dynamic *o, const pb_dynamic_spec *spec, pb_value *out)
{
    pb_value v;
    for (uint32_t i = 0; i < spec->count; i++)
        if (!is_known(o, spec->inputs[i]))
            return unknown(o, spec->inputs[i]);
    if (spec->size > o->options.cap || spec->workspace > o->options.cap)
        return pbi_fail(o->ctx, PB_ELIMIT,
                        "a value of %llu bytes with %llu of workspace does not fit the cap of %llu; raise the cap",
                        (unsigned long long)spec->size, (unsigned long long)spec->workspace,
                        (unsigned long long)o->options.cap);
    pb_status status = new_record(o, &v);
    if (status != PB_OK)
        return status;
    o->counts.values++;
    uint32_t edges = 0;
    status = spec->count ? new_readings(o, spec->count, &edges) : PB_OK;
    if (status != PB_OK) {
        forget(o, v);
        return status;
    }
    pbi_record *r = &o->record[v];
    r->kernel = spec->kernel;
    r->state = spec->state;
    r->size = spec->size;
    r->workspace = spec->workspace;
    r->cost = spec->cost;
    r->flags |= spec->once ? PBI_ONCE : 0;
    r->reading = edges;
    r->inputs = spec->count;
    r->held = 1;
    link_readings(o, v, spec->inputs);
    status = ensure(o, v);
    if (status == PB_OK)
        status = note(o, v, spec->inputs);
    if (status != PB_OK) {
        o->record[v].held = 0;
        forget(o, v);
        return status;
    }
    if (spec->once)
        cut_inputs(o, v);
    *out = v;
    return PB_OK;
}

pb_status pb_dynamic_hold(pb_dynamic *o, pb_value v)
{
    if (!is_known(o, v))
        return unknown(o, v);
    o->record[v].held++;
    return PB_OK;
}

pb_status pb_dynamic_release(pb_dynamic *o, pb_value v)
{
    if (!is_known(o, v) || !o->record[v].held)
        return unknown(o, v);
    o->record[v].held--;
    return let_go(o, v);
}

pb_status pb_dynamic_pin(pb_dynamic *o, pb_value v, void **out)
{
    if (!is_known(o, v))
        return unknown(o, v);
    pb_status status = ensure(o, v);
    if (status != PB_OK)
        return status;
    pbi_record *r = &o->record[v];
    r->pins++;
    r->user_pins++;
    r->used_at = o->now;
    if (r->traced != PB_NO_NODE)
        o->traced[r->traced].pinned = true;
    *out = o->block + o->pool.piece[r->piece].at;
    return PB_OK;
}

pb_status pb_dynamic_unpin(pb_dynamic *o, pb_value v)
{
    if (!is_known(o, v) || !o->record[v].user_pins)
        return unknown(o, v);
    o->record[v].pins--;
    o->record[v].user_pins--;
    return let_go(o, v);
}

void pb_dynamic_count(const pb_dynamic *o, pb_dynamic_counts *out) { *out = o->counts; }
