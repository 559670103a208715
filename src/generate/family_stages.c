/* family_stages.c -- a training step on several devices: the parts of a model, and micro-batches.
 *
 * Part s of micro-batch m has a forward step F, a backward step B for the gradient of its input, and a backward step W
 * for the gradient of its weights. F saves two by-products: Fs.m.b, which B reads, and Fs.m.w, which W reads. The graph
 * carries its machine: a memory and a processor for each device, and links between the devices of neighboring parts,
 * as many as it takes that no result ever waits for another one.
 */
#include "base/context.h"
#include "generate/families.h"
#include "graph/emit.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PARTS = 20000 };

typedef struct stages {
    pbi_emit e;
    const pbi_params *params;
    uint64_t devices, parts, micro;
    uint64_t *device; /* by part */
    uint64_t *f, *b, *w, *memory, *memory_b;
    uint64_t *transfer, *boundary; /* from part s to part s + 1 */
    uint64_t *fixed, *cap;         /* by device */
    bool recompute;
} stages;

/* What a list has to be. */
typedef struct want {
    const char *key, *what;
    uint64_t count, most;
} want;

static pb_status refuse(const stages *s, const want *w, const char *text)
{
    return pbi_fail(s->e.ctx, PB_EINVAL,
                    "stages: %s must be a whole number or a list of %llu, %s, below %llu, not '%.60s'", w->key,
                    (unsigned long long)w->count, w->what, (unsigned long long)w->most, text);
}

/* Reads numbers joined by commas; one number counts for all. */
static pb_status read_list(const stages *s, const want *w, const char *text, uint64_t *out)
{
    const char *at = text;
    for (uint64_t i = 0; i < w->count; i++) {
        size_t length = strcspn(at, ",");
        if (!length || !pbi_u64_parse(at, length, &out[i]) || out[i] >= w->most)
            return refuse(s, w, text);
        at += length;
        bool last = i + 1 == w->count;
        if (!*at && i == 0) {
            for (uint64_t k = 1; k < w->count; k++)
                out[k] = out[0];
            return PB_OK;
        }
        if ((*at == ',') == last)
            return refuse(s, w, text);
        at += !last;
    }
    return *at && w->count ? refuse(s, w, text) : PB_OK;
}

static pb_status read_key(stages *s, const char *key, uint64_t count, const char *what, uint64_t **out)
{
    want w = {key, what, count, UINT64_C(1000000000000000)};
    const char *text = pbi_param_list(s->params, key);
    *out = pb_arena_zero(s->params->result, count + 1, sizeof **out);
    if (!*out)
        return PB_ENOMEM;
    return read_list(s, &w, text, *out);
}

static pb_status read_placement(stages *s)
{
    const char *text = pbi_param_list(s->params, "placement");
    s->device = pb_arena_alloc(s->params->result, s->parts, sizeof *s->device);
    if (!s->device)
        return PB_ENOMEM;
    bool loop = strcmp(text, "loop") == 0, v = strcmp(text, "v") == 0;
    for (uint64_t i = 0; i < s->parts && (loop || v); i++) {
        uint64_t at = i % s->devices, turn = i / s->devices % 2;
        s->device[i] = v && turn ? s->devices - 1 - at : at;
    }
    if (loop || v)
        return PB_OK;
    want w = {"placement", "one for each part, or loop or v", s->parts, MAX_PARTS};
    pb_status status = read_list(s, &w, text, s->device);
    if (status == PB_EINVAL)
        return pbi_fail(s->e.ctx, status, "stages: placement must be loop, v, or a list of %llu devices, not '%.60s'",
                        (unsigned long long)s->parts, text);
    for (uint64_t i = 0; i < s->parts && status == PB_OK; i++)
        if (s->device[i] >= s->devices)
            return pbi_fail(s->e.ctx, PB_EINVAL,
                            "stages: placement must be of devices 0 to %llu, but part %llu is on device %llu; add "
                            "devices or correct it",
                            (unsigned long long)s->devices - 1, (unsigned long long)i,
                            (unsigned long long)s->device[i]);
    return status;
}

static pb_status read_saved(stages *s)
{
    pb_status status = read_key(s, "memory", s->parts, "one for each part", &s->memory);
    if (status == PB_OK && strcmp(pbi_param_list(s->params, "memory-b"), "auto") == 0) {
        s->memory_b = pb_arena_alloc(s->params->result, s->parts, sizeof *s->memory_b);
        for (uint64_t i = 0; s->memory_b && i < s->parts; i++)
            s->memory_b[i] = s->memory[i] - s->memory[i] / 2;
        return s->memory_b ? PB_OK : PB_ENOMEM;
    }
    if (status == PB_OK)
        status = read_key(s, "memory-b", s->parts, "one for each part", &s->memory_b);
    for (uint64_t i = 0; i < s->parts && status == PB_OK; i++)
        if (s->memory_b[i] > s->memory[i])
            return pbi_fail(
                s->e.ctx, PB_EINVAL,
                "stages: memory-b must be at most memory, which it is a part of, but part %llu has %llu of %llu",
                (unsigned long long)i, (unsigned long long)s->memory_b[i], (unsigned long long)s->memory[i]);
    return status;
}

static pb_status read_cap(stages *s)
{
    if (strcmp(pbi_param_list(s->params, "cap"), "none") != 0)
        return read_key(s, "cap", s->devices, "one for each device, or none", &s->cap);
    s->cap = pb_arena_alloc(s->params->result, s->devices, sizeof *s->cap);
    for (uint64_t d = 0; s->cap && d < s->devices; d++)
        s->cap[d] = PB_UNLIMITED;
    return s->cap ? PB_OK : PB_ENOMEM;
}

/* A forward step must fit: its input, its result and what it saves. */
static pb_status check_fits(const stages *s)
{
    for (uint64_t i = 0; i < s->parts; i++) {
        uint64_t d = s->device[i], need = s->fixed[d] + s->memory[i];
        need += i + 1 < s->parts ? s->boundary[i] : 0;
        need += i && s->device[i - 1] != d ? s->boundary[i - 1] : 0;
        if (need > s->cap[d])
            return pbi_fail(
                s->e.ctx, PB_EINVAL,
                "stages: cap must be at least %llu for part %llu, which does not fit device %llu: its input, "
                "its result, what F saves and the fixed memory together exceed %llu",
                (unsigned long long)need, (unsigned long long)i, (unsigned long long)d, (unsigned long long)s->cap[d]);
    }
    return PB_OK;
}

static pb_status read_stages(stages *s)
{
    const pbi_params *p = s->params;
    s->devices = pbi_param_integer(p, "stages");
    s->parts = s->devices * pbi_param_integer(p, "chunks");
    s->micro = pbi_param_integer(p, "micro-batches");
    s->recompute = pbi_param_is(p, "recompute", "yes");
    if (s->parts > MAX_PARTS)
        return pbi_fail(s->e.ctx, PB_ERANGE, "stages: there are more than %d parts; use fewer chunks", MAX_PARTS);
    pb_status status = read_placement(s);
    const struct {
        const char *key;
        uint64_t count;
        const char *what;
        uint64_t **out;
    } lists[] = {{"forward", s->parts, "one for each part", &s->f},
                 {"backward", s->parts, "one for each part", &s->b},
                 {"weight", s->parts, "one for each part", &s->w},
                 {"transfer", s->parts - 1, "one for each pair of neighbors", &s->transfer},
                 {"boundary", s->parts - 1, "one for each pair of neighbors", &s->boundary},
                 {"fixed", s->devices, "one for each device", &s->fixed}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == PB_OK; i++)
        status = read_key(s, lists[i].key, lists[i].count, lists[i].what, lists[i].out);
    if (status == PB_OK)
        status = read_saved(s);
    if (status == PB_OK)
        status = read_cap(s);
    return status == PB_OK ? check_fits(s) : status;
}

/* ---- the machine ---- */

static const char *keep_text(stages *s, const char *text)
{
    const char *kept = pb_arena_text(s->params->result, text, strlen(text));
    if (!kept)
        s->e.status = PB_ENOMEM;
    return kept;
}

/* Steps of a device end at least this far apart. */
static uint64_t shortest(const stages *s, uint64_t device)
{
    uint64_t least = UINT64_MAX;
    for (uint64_t i = 0; i < s->parts; i++)
        if (s->device[i] == device) {
            least = s->f[i] < least ? s->f[i] : least;
            least = s->b[i] < least ? s->b[i] : least;
        }
    return least;
}

/* Links enough that a transfer that takes `time` never waits for one that began before. */
static uint64_t links_for(const stages *s, uint64_t from, uint64_t time)
{
    uint64_t apart = shortest(s, from), most = 2 * s->parts * s->micro;
    if (!time)
        return 1;
    uint64_t count = apart ? pbi_ceil_div(time, apart) : most;
    return count < 16 ? count : 16;
}

typedef struct link_list {
    pb_machine_link *link; /* NULL: only counted */
    uint32_t count;
} link_list;

/* Adds the links in one direction, unless an earlier pair of parts has them. */
static void add_links(stages *s, link_list *l, uint64_t i, bool back)
{
    uint64_t from = s->device[i + back], to = s->device[i + !back], time = s->transfer[i], count = 0;
    for (uint64_t k = 0; k < i; k++) {
        bool same =
            (s->device[k] == from && s->device[k + 1] == to) || (s->device[k + 1] == from && s->device[k] == to);
        if (same && s->transfer[k] == time)
            return;
        count += same;
    }
    uint64_t each = from == to ? 0 : links_for(s, from, time);
    for (uint64_t k = 0; k < each && s->e.status == PB_OK; k++, l->count++) {
        if (!l->link)
            continue;
        char name[80];
        if (count || k)
            snprintf(name, sizeof name, "%llu>%llu.%llu.%llu", (unsigned long long)from, (unsigned long long)to,
                     (unsigned long long)count, (unsigned long long)k);
        else
            snprintf(name, sizeof name, "%llu>%llu", (unsigned long long)from, (unsigned long long)to);
        l->link[l->count] =
            (pb_machine_link){.name = keep_text(s, name), .from = (uint32_t)from, .to = (uint32_t)to, .latency = time};
    }
}

static void set_machine(stages *s)
{
    pb_arena *arena = s->params->result;
    link_list links = {NULL, 0};
    for (uint64_t i = 0; i + 1 < s->parts; i++)
        for (int back = 0; back < 2; back++)
            add_links(s, &links, i, back);
    pb_machine *m = pb_arena_zero(arena, 1, sizeof *m);
    pb_machine_memory *memories = pb_arena_zero(arena, s->devices, sizeof *memories);
    pb_machine_processor *processors = pb_arena_zero(arena, s->devices, sizeof *processors);
    links.link = pb_arena_zero(arena, links.count + 1u, sizeof *links.link);
    if (!m || !memories || !processors || !links.link) {
        s->e.status = PB_ENOMEM;
        return;
    }
    for (uint64_t d = 0; d < s->devices; d++) {
        pbi_label name;
        pbi_label_set(&name, "device");
        pbi_label_number(&name, d);
        memories[d] = (pb_machine_memory){.name = keep_text(s, name.text), .cap = s->cap[d]};
        processors[d] = (pb_machine_processor){.name = memories[d].name, .memory = (uint32_t)d};
    }
    uint32_t count = links.count;
    links.count = 0;
    for (uint64_t i = 0; i + 1 < s->parts; i++)
        for (int back = 0; back < 2; back++)
            add_links(s, &links, i, back);
    *m = (pb_machine){.name = "stages",
                      .time_unit = "tick",
                      .memories = memories,
                      .processors = processors,
                      .links = links.link,
                      .memory_count = (uint32_t)s->devices,
                      .processor_count = (uint32_t)s->devices,
                      .link_count = count};
    if (s->e.status == PB_OK)
        s->e.status = pb_machine_check(s->e.ctx, m);
    pb_builder_set_machine(s->e.builder, m);
    for (uint64_t d = 0; d < s->devices && s->e.status == PB_OK; d++)
        if (s->fixed[d])
            s->e.status = pb_builder_add_note(s->e.builder, PB_NO_NODE, PB_NOTE_IN, memories[d].name, s->fixed[d]);
}

/* ---- the graph ---- */

/* Every micro-batch of a part: F, its two by-products, B, W. */
static pb_node node_of(const stages *s, uint64_t part, uint64_t m, unsigned kind)
{
    return (pb_node)((part * s->micro + m) * 5 + kind);
}

static void on_device(stages *s, pb_node v, uint64_t part)
{
    char name[40];
    snprintf(name, sizeof name, "device%llu", (unsigned long long)s->device[part]);
    if (s->e.status == PB_OK)
        s->e.status = pb_builder_add_note(s->e.builder, v, PB_NOTE_ON, name, 0);
}

static void name_of(pbi_label *name, const char *kind, uint64_t part, uint64_t m)
{
    pbi_label_set(name, kind);
    pbi_label_number(name, part);
    pbi_label_text(name, ".");
    pbi_label_number(name, m);
}

static void emit_cell(stages *s, uint64_t i, uint64_t m)
{
    pbi_label name, group;
    pbi_label_set(&group, "stage");
    pbi_label_number(&group, i);
    name_of(&name, "F", i, m);
    pb_node_spec spec = {
        .name = name.text, .name_length = name.length, .group = group.text, .group_length = group.length};
    spec.cost = s->f[i];
    spec.size = i + 1 < s->parts ? s->boundary[i] : 0;
    spec.flags = s->recompute ? 0 : PB_NODE_ONCE;
    pb_node f = pbi_emit_node(&s->e, &spec);
    on_device(s, f, i);
    spec.flags = 0;
    spec.cost = 0;
    for (int k = 0; k < 2; k++) {
        name_of(&name, "F", i, m);
        pbi_label_text(&name, k ? ".w" : ".b");
        spec.name_length = name.length;
        spec.size = k ? s->memory[i] - s->memory_b[i] : s->memory_b[i];
        pbi_emit_part(&s->e, &spec, f);
    }
    spec.size = 0;
    for (int k = 0; k < 2; k++) {
        name_of(&name, k ? "W" : "B", i, m);
        spec.name_length = name.length;
        spec.cost = k ? s->w[i] : s->b[i];
        on_device(s, pbi_emit_node(&s->e, &spec), i);
    }
    if (i)
        pbi_emit_edge(&s->e, node_of(s, i - 1, m, 0), f);
    pbi_emit_edge(&s->e, f + 1, f + 3);
    if (i + 1 < s->parts)
        pbi_emit_edge(&s->e, node_of(s, i + 1, m, 3), f + 3);
    pbi_emit_edge(&s->e, f + 2, f + 4);
    pbi_emit_edge(&s->e, f + 3, f + 4);
    pbi_emit_target(&s->e, f + 4);
}

/* One micro-batch after the other. */
static void emit_order(stages *s)
{
    for (uint64_t m = 0; m < s->micro; m++) {
        for (uint64_t i = 0; i < s->parts && s->e.status == PB_OK; i++)
            pbi_emit_order(&s->e, node_of(s, i, m, 0));
        for (uint64_t i = s->parts; i-- > 0 && s->e.status == PB_OK;) {
            pbi_emit_order(&s->e, node_of(s, i, m, 3));
            pbi_emit_order(&s->e, node_of(s, i, m, 4));
        }
    }
}

pb_status pbi_generate_stages(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    stages s = {.params = params};
    pbi_emit_init(&s.e, ctx, params->family->name, builder);
    pb_status status = read_stages(&s);
    if (status != PB_OK)
        return status;
    uint64_t cells = pbi_times(s.parts, s.micro);
    if (pbi_emit_budget(&s.e, pbi_times(cells, 5), pbi_times(cells, 5)) != PB_OK)
        return s.e.status;
    pbi_emit_units(&s.e, "tick", "byte");
    set_machine(&s);
    for (uint64_t i = 0; i < s.parts; i++)
        for (uint64_t m = 0; m < s.micro && s.e.status == PB_OK; m++)
            emit_cell(&s, i, m);
    emit_order(&s);
    return s.e.status;
}
