/* train_dnn.c -- see train.h: the only file that calls oneDNN to create and run primitives.
 *
 * Memory is ours: values, fixed memory and workspace are in the engine's block, and scratchpads are part of a node's
 * workspace. The library itself still allocates code and tables of primitives when they are created, and a buffer of at
 * most a few megabytes inside matrix products, whatever their size.
 */
#include "workloads/train.h"

#include "base/context.h"

#include <oneapi/dnnl/dnnl_debug.h>
#include <string.h>

/* From OpenMP, on which the library runs; not every compiler has a header for them. */
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int count);

int pbi_threads_pin(void)
{
    int before = omp_get_max_threads();
    if (before != 1)
        omp_set_num_threads(1);
    return before;
}

void pbi_threads_unpin(int before)
{
    if (before != 1)
        omp_set_num_threads(before);
}

bool pbi_dnn_good(pbi_train *t, dnnl_status_t status, const char *what)
{
    if (status != dnnl_success && t->status == PB_OK)
        t->status = pbi_fail(t->ctx, status == dnnl_out_of_memory ? PB_ENOMEM : PB_EINVAL,
                             "oneDNN: %s: %s; change the options of the workload", what, dnnl_status2str(status));
    return t->status == PB_OK;
}

/* The first product generates the code for all: do it before anything is measured. */
static void warm_up(pbi_train *t)
{
    enum { SIDE = 32 };
    float a[SIDE * SIDE] = {0}, c[SIDE * SIDE];
    pbi_product p = {.rows = SIDE, .columns = SIDE, .inner = SIDE, .scale = 1};
    for (int turned = 0; turned < 3 && t->status == PB_OK; turned++)
        t->status =
            pbi_multiply(t, &p, (pbi_matrix){a, SIDE, turned == 1}, (pbi_matrix){a, SIDE, turned == 2}, c, SIDE);
}

pb_status pbi_dnn_open(pbi_train *t)
{
    if (pbi_dnn_good(t, dnnl_engine_create(&t->engine, dnnl_cpu, 0), "an engine") &&
        pbi_dnn_good(t, dnnl_stream_create(&t->stream, t->engine, dnnl_stream_default_flags), "a stream") &&
        pbi_dnn_good(t, dnnl_primitive_attr_create(&t->attr), "attributes"))
        pbi_dnn_good(t, dnnl_primitive_attr_set_scratchpad_mode(t->attr, dnnl_scratchpad_mode_user), "scratchpads");
    if (t->status == PB_OK)
        warm_up(t);
    return t->status;
}

void pbi_dnn_close(pbi_train *t)
{
    for (uint32_t i = 0; i < t->calls.count; i++) {
        pbi_dnn *d = t->calls.at[i];
        for (int k = 0; k < d->count; k++)
            dnnl_memory_destroy(d->arg[k].memory);
        dnnl_primitive_destroy(d->primitive);
    }
    for (uint32_t i = 0; i < t->descs.count; i++)
        dnnl_primitive_desc_destroy(t->descs.at[i]);
    if (t->attr)
        dnnl_primitive_attr_destroy(t->attr);
    if (t->stream)
        dnnl_stream_destroy(t->stream);
    if (t->engine)
        dnnl_engine_destroy(t->engine);
}

/* ---- building ---- */

static bool append_pointer(pbi_train *t, pbi_pointers *list, void *entry)
{
    if (list->count == list->room) {
        uint32_t more = list->room ? 2 * list->room : 256;
        void **at = pb_arena_alloc(t->arena, more, sizeof *at);
        if (!at) {
            t->status = PB_ENOMEM;
            return false;
        }
        if (list->count)
            memcpy(at, list->at, list->count * sizeof *at);
        list->at = at;
        list->room = more;
    }
    list->at[list->count++] = entry;
    return true;
}

static dnnl_primitive_desc_t registered(pbi_train *t, dnnl_primitive_desc_t pd)
{
    const char *name = "";
    if (!append_pointer(t, &t->descs, pd)) {
        dnnl_primitive_desc_destroy(pd);
        return NULL;
    }
    if (dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) == dnnl_success &&
        strncmp(name, "ref", 3) == 0)
        t->slow_calls++;
    return pd;
}

dnnl_primitive_desc_t pbi_dnn_pd(pbi_train *t, const void *desc, dnnl_primitive_desc_t hint)
{
    dnnl_primitive_desc_t pd = NULL;
    if (t->status != PB_OK ||
        !pbi_dnn_good(t, dnnl_primitive_desc_create(&pd, desc, t->attr, t->engine, hint), "a primitive"))
        return NULL;
    return registered(t, pd);
}

dnnl_primitive_desc_t pbi_dnn_reorder(pbi_train *t, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to)
{
    dnnl_primitive_desc_t pd = NULL;
    if (t->status != PB_OK ||
        !pbi_dnn_good(t, dnnl_reorder_primitive_desc_create(&pd, from, t->engine, to, t->engine, t->attr), "a reorder"))
        return NULL;
    return registered(t, pd);
}

dnnl_memory_desc_t pbi_dnn_md(dnnl_primitive_desc_t pd, dnnl_query_t what)
{
    const dnnl_memory_desc_t *md = pd ? dnnl_primitive_desc_query_md(pd, what, 0) : NULL;
    return md ? *md : (dnnl_memory_desc_t){0};
}

dnnl_memory_desc_t pbi_md_vector(uint64_t count)
{
    dnnl_memory_desc_t md = {0};
    dnnl_memory_desc_init_by_tag(&md, 1, (const dnnl_dims_t){(int64_t)count}, dnnl_f32, dnnl_a);
    return md;
}

dnnl_memory_desc_t pbi_md_rows(uint64_t rows, uint64_t columns)
{
    dnnl_memory_desc_t md = {0};
    dnnl_memory_desc_init_by_tag(&md, 2, (const dnnl_dims_t){(int64_t)rows, (int64_t)columns}, dnnl_f32, dnnl_ab);
    return md;
}

dnnl_memory_desc_t pbi_md_image(uint64_t n, uint64_t c, uint64_t h, uint64_t w, dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t md = {0};
    dnnl_memory_desc_init_by_tag(&md, 4, (const dnnl_dims_t){(int64_t)n, (int64_t)c, (int64_t)h, (int64_t)w}, dnnl_f32,
                                 tag);
    return md;
}

pbi_dnn *pbi_making_call(pbi_train *t, pbi_making *m, dnnl_primitive_desc_t pd)
{
    pbi_dnn *d = pd && t->status == PB_OK ? pb_arena_zero(t->arena, 1, sizeof *d) : NULL;
    if (!d) {
        t->status = t->status == PB_OK ? PB_ENOMEM : t->status;
        return NULL;
    }
    if (!pbi_dnn_good(t, dnnl_primitive_create(&d->primitive, pd), "a primitive"))
        return NULL;
    if (!append_pointer(t, &t->calls, d)) {
        dnnl_primitive_destroy(d->primitive);
        return NULL;
    }
    m->job->call[m->job->call_count++] = d;
    dnnl_memory_desc_t scratch = pbi_dnn_md(pd, dnnl_query_scratchpad_md);
    size_t bytes = scratch.ndims ? dnnl_memory_desc_get_size(&scratch) : 0;
    if (bytes)
        pbi_dnn_arg(t, d, DNNL_ARG_SCRATCHPAD, &scratch, pbi_at_work(pbi_making_work(m, bytes)));
    return d;
}

void pbi_dnn_arg(pbi_train *t, pbi_dnn *d, int arg, const dnnl_memory_desc_t *md, pbi_place place)
{
    dnnl_memory_t memory = NULL;
    if (!d || t->status != PB_OK ||
        !pbi_dnn_good(t, dnnl_memory_create(&memory, md, t->engine, DNNL_MEMORY_NONE), "a memory"))
        return;
    d->arg[d->count] = (dnnl_exec_arg_t){arg, memory};
    d->place[d->count++] = place;
    d->bytes += dnnl_memory_desc_get_size(md) * (arg == DNNL_ARG_SCRATCHPAD ? 2 : 1); /* written, then read */
}

/* ---- running ---- */

static void *address(const pbi_place *place, const pb_call *call)
{
    unsigned char *base = place->kind == PBI_AT_FIXED  ? call->fixed
                          : place->kind == PBI_AT_WORK ? call->workspace
                                                       : call->value[place->node];
    if (!base && place->kind == PBI_AT_VALUE) /* a by-product that is not needed */
        return (unsigned char *)call->workspace + place->spare;
    return base + place->offset;
}

static dnnl_status_t execute(const pbi_train *t, const pbi_dnn *d, const pb_call *call)
{
    dnnl_status_t status = dnnl_success;
    for (int k = 0; k < d->count && status == dnnl_success; k++)
        status = dnnl_memory_set_data_handle_v2(d->arg[k].memory, address(&d->place[k], call), t->stream);
    if (status == dnnl_success)
        status = dnnl_primitive_execute(d->primitive, t->stream, d->count, d->arg);
    return status;
}

/* Sizes are multiples of 64; the padding must be equal too, so that results are equal to the last byte. */
static void clear_tail(const pbi_train *t, const pb_call *call, pb_node v)
{
    uint64_t used = t->job[v].used;
    if (call->value[v] && used % 64)
        memset((unsigned char *)call->value[v] + used, 0, pbi_round64(used) - used);
}

pb_status pbi_train_run(void *state, pb_context *ctx, const pb_call *call)
{
    pbi_train *t = state;
    const pbi_job *job = pbi_train_job(t, call);
    int threads = pbi_threads_pin();
    dnnl_status_t done = dnnl_success;
    for (uint32_t i = 0; i < job->call_count && done == dnnl_success; i++)
        done = execute(t, job->call[i], call);
    pb_status status = PB_OK;
    if (done != dnnl_success)
        status = pbi_fail(ctx, PB_EBUG, "oneDNN: a kernel failed: %s", dnnl_status2str(done));
    else if (job->loop)
        status = job->loop(t, job, call);
    pbi_threads_unpin(threads);
    clear_tail(t, call, call->node);
    for (pb_node part = call->node + 1; part < t->job_count && t->job[part].owner == call->node; part++)
        clear_tail(t, call, part);
    return status == PB_OK && t->recovered_count ? pbi_train_probe(t, ctx, call) : status;
}

pb_status pbi_multiply(const pbi_train *t, const pbi_product *p, pbi_matrix a, pbi_matrix b, float *c,
                       uint64_t c_stride)
{
    dnnl_status_t status =
        dnnl_sgemm(a.turned ? 'T' : 'N', b.turned ? 'T' : 'N', (dnnl_dim_t)p->rows, (dnnl_dim_t)p->columns,
                   (dnnl_dim_t)p->inner, p->scale, a.at, (dnnl_dim_t)a.stride, b.at, (dnnl_dim_t)b.stride,
                   p->add ? 1.0f : 0.0f, c, (dnnl_dim_t)c_stride);
    return status == dnnl_success ? PB_OK
                                  : pbi_fail(t->ctx, PB_EBUG, "oneDNN: a product failed: %s", dnnl_status2str(status));
}
