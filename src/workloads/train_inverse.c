/* train_inverse.c -- see train.h: values that come back by the inverse of a block.
 *
 * Floating-point sums are not inverted exactly. So some numbers of each such value are noted when it is computed, and
 * compared when it comes back: the largest difference is reported, and a run whose difference is above the tolerance
 * fails.
 */
#include "workloads/train.h"

#include "base/context.h"
#include "workloads/plain_loops.h"

#include <math.h>
#include <string.h>

static void subtract(float *restrict out, const float *restrict less, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] -= less[i];
}

/* out = sum - relu(linear(other)); `out` may be the sum. */
static pb_status run_inverse(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    uint64_t rows = job->n[0], inputs = job->n[1], outputs = job->n[2];
    const float *sum = call->value[job->in[0]], *other = call->value[job->in[1]];
    const float *weights = (const float *)((const unsigned char *)call->fixed + job->at);
    const float *bias = weights + inputs * outputs;
    float *out = call->value[call->node], *way = call->workspace;
    pbi_product p = {rows, outputs, inputs, 1, true};
    for (uint64_t r = 0; r < rows; r++)
        memcpy(way + r * outputs, bias, outputs * sizeof *way);
    pb_status status =
        pbi_multiply(t, &p, (pbi_matrix){other, inputs, false}, (pbi_matrix){weights, outputs, false}, way, outputs);
    if (status == PB_OK && out != sum)
        memcpy(out, sum, rows * outputs * sizeof *out);
    if (status == PB_OK) { /* two passes without a branch: one with a branch takes ten times as long */
        pbi_loop_relu(way, way, rows * outputs);
        subtract(out, way, rows * outputs);
    }
    return status;
}

static bool grow(pbi_train *t)
{
    if (t->recovered_count < t->recovered_room)
        return true;
    uint32_t room = t->recovered_room ? 2 * t->recovered_room : 16;
    pbi_recovered *more = pb_arena_zero(t->arena, room, sizeof *more);
    if (!more)
        return false;
    if (t->recovered_count)
        memcpy(more, t->recovered, t->recovered_count * sizeof *more);
    t->recovered = more;
    t->recovered_room = room;
    return true;
}

void pbi_net_inverse(pbi_train *t, pbi_tensor x, pbi_tensor sum, pbi_tensor other, pb_node linear)
{
    uint64_t floats = t->status == PB_OK ? t->tensor[x].bytes / sizeof(float) : 0;
    uint32_t number;
    if (t->status != PB_OK)
        return;
    if (!grow(t)) {
        t->status = PB_ENOMEM;
        return;
    }
    pb_node in[] = {t->tensor[sum].node, t->tensor[other].node};
    const pbi_job *forward = &t->job[linear];
    uint64_t flops = 2 * forward->n[0] * forward->n[1] * forward->n[2];
    pbi_recovered *r = &t->recovered[t->recovered_count++];
    *r = (pbi_recovered){.node = t->tensor[x].node};
    r->job =
        (pbi_job){.loop = run_inverse, .at = forward->at, .in = {in[0], in[1]}, .in_count = 2, .owner = PB_NO_NODE};
    memcpy(r->job.n, forward->n, 3 * sizeof *forward->n);
    r->job.used = t->tensor[x].bytes;
    pb_recipe_spec spec = {
        .name = "inverse", .cost = flops + 2 * PBI_FLOP_MOVE * floats, .workspace = pbi_round64(t->tensor[x].bytes)};
    spec.work = (pb_work){.op = "matmul",
                          .dtype = "float32",
                          .has_flops = true,
                          .has_bytes = true,
                          .flops = flops,
                          .bytes = 6 * t->tensor[x].bytes + forward->n[1] * forward->n[2] * sizeof(float)};
    t->status = pb_builder_add_recipe(t->builder, r->node, &spec, &number);
    for (int i = 0; i < 2 && t->status == PB_OK; i++)
        t->status = pb_builder_add_recipe_input(t->builder, number, in[i]);
    if (t->status == PB_OK)
        t->status = pb_builder_add_recipe_inplace(t->builder, number, in[0]);
}

static pbi_recovered *find(const pbi_train *t, pb_node v)
{
    uint32_t low = 0, high = t->recovered_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->recovered[middle].node < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->recovered_count && t->recovered[low].node == v ? &t->recovered[low] : NULL;
}

const pbi_job *pbi_train_job(const pbi_train *t, const pb_call *call)
{
    return call->by ? &find(t, call->node)->job : &t->job[call->node];
}

pb_status pbi_train_probe(pbi_train *t, pb_context *ctx, const pb_call *call)
{
    pbi_recovered *r = find(t, call->node);
    if (!r || (!call->by && call->times))
        return PB_OK;
    const float *value = call->value[call->node];
    uint64_t count = r->job.used / sizeof(float), probes = count < PBI_PROBES ? count : PBI_PROBES;
    double largest = 0, difference = 0;
    for (uint64_t i = 0; i < probes; i++) {
        float now = value[i * (count / probes)];
        if (!call->by)
            r->probe[i] = now;
        largest = fmax(largest, fabs((double)r->probe[i]));
        difference = fmax(difference, fabs((double)now - (double)r->probe[i]));
    }
    if (!call->by)
        return PB_OK;
    double relative = largest > 0 ? difference / largest : difference;
    t->comparisons++;
    t->max_difference = fmax(t->max_difference, relative);
    if (relative <= PBI_TRAIN_TOLERANCE)
        return PB_OK;
    return pbi_fail(
        ctx, PB_EINVAL,
        "a value recovered by inversion differs from the first one by %.1e of its largest number, above the "
        "tolerance of %.0e; use fewer blocks, or a lower learning rate",
        relative, PBI_TRAIN_TOLERANCE);
}
