/* stream.c -- streams of adjoint actions for other languages; see bindings.h. */
#include "api/session/session.h"

#include "base/context.h"
#include "report/metrics_json.h"

#include <string.h>

enum { BATCH = 256 };

typedef enum stream_kind { REVOLVE, MULTILEVEL, ONLINE, MIXED, MIXED_ONLINE } stream_kind;

struct pb_stream {
    stream_kind kind;
    pb_revolve revolve; /* only the one for `kind` is used */
    pb_multilevel multilevel;
    pb_online online;
    pb_mixed mixed;
    pb_mixed_online mixed_online;
};

static pb_status new_stream(pb_session *s, stream_kind kind, pb_stream **out)
{
    *out = pb_arena_zero(&s->arena, 1, sizeof **out);
    if (!*out)
        return PB_ENOMEM;
    (*out)->kind = kind;
    return PB_OK;
}

pb_status pb_session_revolve(pb_session *s, uint64_t steps, uint64_t snapshots, pb_stream **out)
{
    if (!s)
        return PB_EINVAL;
    pb_stream *stream;
    pb_status status = new_stream(s, REVOLVE, &stream);
    if (status == PB_OK)
        status = pb_revolve_init(&s->ctx, steps, snapshots, &s->arena, &stream->revolve);
    if (status == PB_OK)
        *out = stream;
    return pbi_session_end(s, status);
}

pb_status pb_session_add_level(pb_session *s, uint64_t slots, uint64_t write_cost, uint64_t read_cost)
{
    if (!s)
        return PB_EINVAL;
    pb_status status = PB_OK;
    if (s->level_count < PB_MAX_LEVELS) {
        s->level[s->level_count++] = (pb_level){slots, write_cost, read_cost};
    } else {
        s->level_count = 0;
        status = pbi_fail(&s->ctx, PB_EINVAL, "more storage levels than %d; use fewer", (int)PB_MAX_LEVELS);
    }
    return pbi_session_end(s, status);
}

static pb_status init_multilevel(pb_session *s, const pb_multilevel_spec *spec, pb_stream **out)
{
    pb_stream *stream;
    pb_status status = new_stream(s, MULTILEVEL, &stream);
    if (status == PB_OK)
        status = pb_multilevel_init(&s->ctx, spec, &s->arena, &stream->multilevel);
    if (status == PB_OK)
        *out = stream;
    return status;
}

pb_status pb_session_multilevel(pb_session *s, uint64_t steps, uint64_t forward_cost, uint64_t reverse_cost,
                                pb_stream **out)
{
    if (!s)
        return PB_EINVAL;
    pb_multilevel_spec spec = {
        .steps = steps, .forward_cost = forward_cost, .reverse_cost = reverse_cost, .level_count = s->level_count};
    memcpy(spec.level, s->level, sizeof spec.level);
    s->level_count = 0;
    pb_status status = pbi_session_begin(s); /* it plans, so a stop must have effect */
    if (status == PB_OK)
        status = init_multilevel(s, &spec, out);
    return pbi_session_finish(s, status);
}

pb_status pb_session_online(pb_session *s, uint32_t snapshots, pb_stream **out)
{
    if (!s)
        return PB_EINVAL;
    pb_stream *stream;
    pb_status status = new_stream(s, ONLINE, &stream);
    if (status == PB_OK)
        status = pb_online_init(&s->ctx, snapshots, &s->arena, &stream->online);
    if (status == PB_OK)
        *out = stream;
    return pbi_session_end(s, status);
}

/* ---- mixed ---- */

pb_status pb_session_add_mixed_level(pb_session *s, uint64_t size, const uint64_t costs[4])
{
    if (!s)
        return PB_EINVAL;
    pb_status status = PB_OK;
    if (s->mixed_count < PB_MAX_MIXED_LEVELS) {
        s->mixed[s->mixed_count++] = (pb_mixed_level){size, costs[0], costs[1], costs[2], costs[3]};
    } else {
        s->mixed_count = 0;
        status = pbi_fail(&s->ctx, PB_EINVAL, "more storage levels than %d; use fewer", (int)PB_MAX_MIXED_LEVELS);
    }
    return pbi_session_end(s, status);
}

static pb_status init_mixed(pb_session *s, const pb_mixed_spec *spec, bool open_end, pb_stream **out)
{
    pb_stream *stream;
    pb_status status = new_stream(s, open_end ? MIXED_ONLINE : MIXED, &stream);
    if (status == PB_OK)
        status = open_end ? pb_mixed_online_init(&s->ctx, spec, &s->arena, &stream->mixed_online)
                          : pb_mixed_init(&s->ctx, spec, &s->arena, &stream->mixed);
    if (status == PB_OK)
        *out = stream;
    return status;
}

pb_status pb_session_mixed(pb_session *s, uint64_t steps, const uint64_t numbers[4], pb_stream **out)
{
    if (!s)
        return PB_EINVAL;
    bool open_end = steps == UINT64_MAX;
    pb_mixed_spec spec = {.steps = open_end ? 0 : steps,
                          .state_size = numbers[0],
                          .tape_size = numbers[1],
                          .forward_cost = numbers[2],
                          .reverse_cost = numbers[3],
                          .level_count = s->mixed_count};
    memcpy(spec.level, s->mixed, sizeof spec.level);
    s->mixed_count = 0;
    pb_status status = pbi_session_begin(s);
    if (status == PB_OK)
        status = init_mixed(s, &spec, open_end, out);
    return pbi_session_finish(s, status);
}

pb_status pb_session_mixed_end(pb_session *s, pb_stream *stream)
{
    if (!s)
        return PB_EINVAL;
    pb_status status = pbi_session_begin(s);
    if (status == PB_OK && stream->kind != MIXED_ONLINE)
        status = pbi_fail(&s->ctx, PB_EINVAL, "this stream is not a mixed one for unknown steps; it has no end to set");
    if (status == PB_OK)
        status = pb_mixed_online_end(&s->ctx, &s->arena, &stream->mixed_online);
    return pbi_session_finish(s, status);
}

static void put_row(uint64_t *row, const pb_action *a)
{
    const uint64_t numbers[PB_ACTION_FIELDS] = {a->kind, a->n0, a->n1, a->slot, a->flags, a->from, a->to};
    for (int i = 0; i < PB_ACTION_FIELDS; i++)
        row[i] = numbers[i];
}

uint64_t pb_stream_actions(pb_stream *stream, uint64_t room, uint64_t *rows)
{
    pb_action batch[BATCH];
    uint64_t count = 0;
    for (;;) {
        size_t expected = room - count < BATCH ? (size_t)(room - count) : BATCH, got;
        switch (stream->kind) {
        case REVOLVE: got = pb_revolve_next_many(&stream->revolve, batch, expected); break;
        case MIXED: got = pb_mixed_next_many(&stream->mixed, batch, expected); break;
        case MIXED_ONLINE:
            got = stream->mixed_online.ended ? pb_mixed_next_many(&stream->mixed_online.back, batch, expected) : 0;
            break;
        case MULTILEVEL: got = pb_multilevel_next_many(&stream->multilevel, batch, expected); break;
        default: got = pb_online_next_many(&stream->online, batch, expected); break;
        }
        for (size_t i = 0; i < got; i++)
            put_row(rows + PB_ACTION_FIELDS * count++, &batch[i]);
        if (got < expected || count == room)
            return count;
    }
}

uint64_t pb_stream_online_steps(pb_stream *stream, uint64_t steps, uint64_t *rows)
{
    pb_action action;
    uint64_t count = 0;
    while (stream->kind == MIXED_ONLINE && count < steps && pb_mixed_online_step(&stream->mixed_online, &action))
        put_row(rows + PB_ACTION_FIELDS * count++, &action);
    while (stream->kind == ONLINE && count < steps && pb_online_step(&stream->online, &action))
        put_row(rows + PB_ACTION_FIELDS * count++, &action);
    return count;
}

void pb_stream_online_end(pb_stream *stream)
{
    if (stream->kind == ONLINE)
        pb_online_end(&stream->online);
}

uint64_t pb_stream_cost(const pb_stream *stream)
{
    switch (stream->kind) {
    case MULTILEVEL: return stream->multilevel.cost;
    case MIXED: return stream->mixed.cost;
    case MIXED_ONLINE: return stream->mixed_online.back.cost;
    default: return 0;
    }
}

pb_status pb_session_revolve_count(pb_session *s, uint64_t steps, uint64_t snapshots)
{
    if (!s)
        return PB_EINVAL;
    pb_revolve_cost cost;
    pbi_out out;
    pb_status status = pb_revolve_count(&s->ctx, steps, snapshots, &cost);
    if (status != PB_OK)
        return pbi_session_end(s, status);
    pbi_out_init(&out, &s->ctx, pbi_session_write(s));
    pbi_out_text(&out, "{\"forward_steps\":");
    pbi_out_json_u128(&out, cost.forward_steps);
    pbi_put_u64(&out, ",\"writes\":", cost.writes);
    pbi_put_u64(&out, ",\"reads\":", cost.reads);
    pbi_put_u64(&out, ",\"actions\":", cost.actions);
    pbi_put_u64(&out, ",\"repetitions\":", cost.repetitions);
    pbi_out_text(&out, "}\n");
    return pbi_session_end(s, pbi_out_finish(&out));
}

const char *pb_action_label(uint32_t kind)
{
    return kind < PB_ACTION_KIND_COUNT ? pb_action_kind_name((pb_action_kind)kind) : NULL;
}

const char *pb_storage_label(uint32_t storage)
{
    return storage < PB_STORAGE_COUNT ? pb_storage_name((pb_storage)storage) : NULL;
}
