/* workload.c -- the table of workloads, and their common functions. */
#include "workloads/workload.h"

#include "base/context.h"
#include "base/sha256.h"

#include <string.h>

/* The last row is for a table that may be empty. */
static const struct {
    const char *name, *summary;
    const pbi_workload_kind *kind;
} table[] = {
#define WORKLOAD(id, name, summary) {name, summary, &pbi_workload_##id},
#include "workloads/workloads.def"
#undef WORKLOAD
    {NULL, NULL, NULL}};
enum { COUNT = sizeof table / sizeof *table - 1, MAX_OPTIONS = 32 };

uint32_t pb_workload_count(void) { return COUNT; }

void pb_workload_row_of(uint32_t i, pb_workload_row *out)
{
    const pbi_workload_kind *kind = table[i].kind;
    *out = (pb_workload_row){table[i].name, table[i].summary,   kind->needs,
                             kind->options, kind->option_count, kind->smaller};
}

static pb_status find(pb_context *ctx, const char *name, const pbi_workload_kind **out)
{
    for (uint32_t i = 0; table[i].name; i++)
        if (strcmp(table[i].name, name) == 0) {
            *out = table[i].kind;
            return PB_OK;
        }
    return pbi_fail(ctx, PB_EUNKNOWN, "there is no workload %s; `pebble help run` lists them", name);
}

static pb_status read_options(pb_context *ctx, const char *name, const pbi_workload_kind *kind,
                              const pb_option *options, uint32_t count, const char *values[MAX_OPTIONS])
{
    for (uint32_t k = 0; k < kind->option_count; k++)
        values[k] = kind->options[k].fallback;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < kind->option_count && strcmp(kind->options[k].key, options[i].key) != 0)
            k++;
        if (k == kind->option_count)
            return pbi_fail(ctx, PB_EUNKNOWN, "the workload %s has no option %s; `pebble help run` lists them", name,
                            options[i].key);
        values[k] = options[i].value;
    }
    return PB_OK;
}

pb_status pb_workload_open(pb_context *ctx, const char *name, const pb_option *options, uint32_t option_count,
                           pb_workload **out)
{
    const pbi_workload_kind *kind = NULL;
    const char *values[MAX_OPTIONS];
    pb_status status = find(ctx, name, &kind);
    if (status == PB_OK)
        status = read_options(ctx, name, kind, options, option_count, values);
    if (status == PB_OK && kind->needs)
        status = pbi_fail(ctx, PB_EINVAL, "the workload %s: %s", name, kind->needs);
    if (status != PB_OK)
        return status;
    pb_arena arena;
    pb_arena_init(&arena, ctx);
    pb_workload *w = pb_arena_zero(&arena, 1, sizeof *w);
    if (!w)
        return PB_ENOMEM;
    *w = (pb_workload){.ctx = ctx, .arena = arena, .kind = kind};
    status = kind->open(w, values);
    if (status == PB_OK)
        *out = w;
    else
        pb_workload_close(w);
    return status;
}

void pb_workload_close(pb_workload *w)
{
    if (!w)
        return;
    if (w->kind->close)
        w->kind->close(w);
    pb_arena arena = w->arena;
    pb_arena_release(&arena);
}

const pb_graph *pb_workload_graph(const pb_workload *w) { return w->graph; }
const pb_kernels *pb_workload_kernels(const pb_workload *w) { return &w->kernels; }

pb_status pb_workload_begin(pb_workload *w, uint64_t step, pb_engine *e)
{
    return w->kind->begin ? w->kind->begin(w, step, e) : PB_OK;
}

pb_status pb_workload_end(pb_workload *w, uint64_t step, pb_engine *e)
{
    return w->kind->end ? w->kind->end(w, step, e) : PB_OK;
}

size_t pb_workload_text(pb_workload *w, char *text, size_t room)
{
    if (w->kind->text)
        return w->kind->text(w, text, room);
    if (room)
        *text = '\0';
    return 0;
}

static bool add_values(pbi_sha256 *sum, const pb_workload *w, pb_engine *e)
{
    const pb_graph *g = w->graph;
    bool ok = pbi_sha256_add(sum, pb_engine_fixed(e), g->fixed_size);
    for (pb_node v = 0; v < g->node_count && ok; v++)
        if (g->flags[v] & PB_NODE_KEEP)
            ok = pbi_sha256_add(sum, pb_engine_value(e, v), g->size[v]);
    return ok;
}

pb_status pb_workload_digest(pb_workload *w, pb_engine *e, char hash[PB_HASH_TEXT])
{
    if (w->kind->digest)
        return w->kind->digest(w, e, hash);
    pbi_sha256 sum;
    unsigned char bytes[PBI_SHA256_BYTES];
    if (!pbi_sha256_begin(&sum) || !add_values(&sum, w, e) || !pbi_sha256_end(&sum, bytes))
        return pbi_sha256_failed(w->ctx);
    pbi_sha256_text(bytes, hash);
    return PB_OK;
}
