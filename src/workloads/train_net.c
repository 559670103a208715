/* train_net.c -- see train.h: nodes with their jobs, tensors, parameters, and the backward pass. */
#include "workloads/train.h"

#include "base/context.h"

#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 160 };

/* Room for one more entry at the end of a list in the arena. */
static void *grown(pbi_train *t, void *list, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return list;
    uint32_t more = *room ? 2 * *room : 64;
    char *new = pb_arena_zero(t->arena, more, size);
    if (!new) {
        t->status = PB_ENOMEM;
        return list;
    }
    if (count)
        memcpy(new, list, count * size);
    *room = more;
    return new;
}

const char *pbi_net_text(pbi_train *t, const char *text, uint64_t number)
{
    char made[NAME_ROOM];
    int length = snprintf(made, sizeof made, "%s%llu", text, (unsigned long long)number);
    const char *copy = pb_arena_text(t->arena, made, (size_t)length);
    if (!copy)
        t->status = PB_ENOMEM;
    return copy ? copy : "";
}

void pbi_net_group(pbi_train *t, const char *name, uint64_t number)
{
    t->group = number == UINT64_MAX ? name : pbi_net_text(t, name, number);
}

/* ---- nodes ---- */

pbi_making pbi_making_begin(pbi_train *t, const char *name, const char *suffix, uint64_t bytes, uint64_t cost)
{
    t->job = grown(t, t->job, t->job_count, &t->job_room, sizeof *t->job);
    pbi_making m = {.name = name, .suffix = suffix, .bytes = pbi_round64(bytes), .cost = cost, .node = t->job_count};
    m.job = t->status == PB_OK ? &t->job[t->job_count] : &t->no_job;
    *m.job = (pbi_job){.used = bytes, .owner = PB_NO_NODE};
    return m;
}

void pbi_making_reads(pbi_train *t, pbi_making *m, pb_node u)
{
    if (t->status == PB_OK)
        t->status = pb_builder_add_edge(t->builder, u, m->node);
    m->job->in[m->job->in_count++] = u;
}

void pbi_making_over(pbi_making *m, pb_node u) { m->over[m->over_count++] = u; }

void pbi_making_does(pbi_making *m, const char *op, uint64_t flops)
{
    m->op = op;
    m->flops = flops;
}

uint64_t pbi_making_work(pbi_making *m, uint64_t bytes)
{
    uint64_t at = m->work;
    m->work += pbi_round64(bytes);
    return at;
}

static pb_node add_node(pbi_train *t, const char *name, const char *suffix, const pb_node_spec *like)
{
    char made[NAME_ROOM];
    pb_node v = PB_NO_NODE;
    pb_node_spec spec = *like;
    const char *group = t->group ? t->group : "";
    snprintf(made, sizeof made, "%s%s%s%s", group, *group ? "." : "", name, suffix);
    spec.name = made;
    spec.group = *group ? group : NULL;
    if (t->status == PB_OK)
        t->status = pb_builder_add_node(t->builder, &spec, &v);
    if (t->status == PB_OK)
        t->job_count++;
    return v;
}

static pb_work work_of(const pbi_train *t, const pbi_making *m)
{
    uint64_t bytes = m->traffic;
    for (uint32_t i = 0; i < m->job->call_count; i++)
        bytes += m->job->call[i]->bytes;
    for (uint32_t i = 0; i < m->job->in_count && !m->job->call_count; i++)
        bytes += m->slices ? m->job->used : t->job[m->job->in[i]].used;
    if (!m->job->call_count)
        bytes += m->job->used;
    return (pb_work){
        .op = m->op, .dtype = "float32", .has_flops = true, .has_bytes = true, .flops = m->flops, .bytes = bytes};
}

pb_node pbi_making_end(pbi_train *t, pbi_making *m)
{
    pb_node_spec spec = {.cost = m->cost, .size = m->bytes, .workspace = m->work, .flags = m->flags};
    if (m->op && t->status == PB_OK)
        spec.work = work_of(t, m);
    pb_node v = add_node(t, m->name, m->suffix, &spec);
    for (uint32_t i = 0; i < m->over_count && t->status == PB_OK; i++)
        t->status = pb_builder_add_inplace(t->builder, v, m->over[i]);
    return v;
}

pb_node pbi_net_byproduct(pbi_train *t, pb_node owner, const char *name, const char *suffix, uint64_t bytes,
                          uint16_t flags)
{
    pbi_making m = pbi_making_begin(t, name, suffix, bytes, 0);
    m.flags = flags;
    m.job->owner = owner;
    pb_node v = pbi_making_end(t, &m);
    if (t->status == PB_OK)
        t->status = pb_builder_set_byproduct(t->builder, v, owner);
    return v;
}

pb_node pbi_net_given(pbi_train *t, const char *name, uint64_t bytes,
                      void (*fill)(const pbi_train *, const pbi_job *, void *), const uint64_t *numbers, uint32_t count)
{
    pbi_making m = pbi_making_begin(t, name, "", bytes, 0);
    m.flags = PB_NODE_GIVEN;
    m.job->fill = fill;
    memcpy(m.job->n, numbers, count * sizeof *numbers);
    return pbi_making_end(t, &m);
}

/* ---- tensors, operations, parameters ---- */

static uint64_t elements(const dnnl_memory_desc_t *md)
{
    uint64_t count = 1;
    for (int i = 0; i < md->ndims; i++)
        count *= (uint64_t)md->dims[i];
    return count;
}

pbi_tensor pbi_net_tensor(pbi_train *t, const char *name, pb_node node, const dnnl_memory_desc_t *md, bool learns)
{
    t->tensor = grown(t, t->tensor, t->tensor_count, &t->tensor_room, sizeof *t->tensor);
    if (t->status != PB_OK)
        return 0;
    t->tensor[t->tensor_count] = (pbi_tensor_row){.name = name,
                                                  .node = node,
                                                  .grad = PB_NO_NODE,
                                                  .learns = learns,
                                                  .md = *md,
                                                  .bytes = dnnl_memory_desc_get_size(md),
                                                  .count = elements(md)};
    return t->tensor_count++;
}

pbi_op *pbi_net_op(pbi_train *t, const char *name, pbi_tensor out, void (*back)(pbi_train *, const pbi_op *))
{
    t->op = grown(t, t->op, t->op_count, &t->op_room, sizeof *t->op);
    pbi_op *op = t->status == PB_OK ? &t->op[t->op_count++] : &t->no_op;
    *op = (pbi_op){.back = back, .name = name, .group = t->group, .out = out};
    op->in[0] = op->in[1] = PBI_NO_TENSOR;
    op->side = PB_NO_NODE;
    return op;
}

uint64_t pbi_net_fixed(pbi_train *t, uint64_t bytes)
{
    uint64_t at = t->fixed;
    t->fixed += pbi_round64(bytes);
    return at;
}

uint32_t pbi_net_param(pbi_train *t, uint64_t count, uint64_t lead, float deviation)
{
    t->param = grown(t, t->param, t->param_count, &t->param_room, sizeof *t->param);
    if (t->status != PB_OK)
        return 0;
    t->param[t->param_count] = (pbi_param){.at = pbi_net_fixed(t, count * sizeof(float)),
                                           .momentum_at = pbi_net_fixed(t, count * sizeof(float)),
                                           .count = count,
                                           .lead = lead,
                                           .deviation = deviation,
                                           .grad = PB_NO_NODE};
    return t->param_count++;
}

/* ---- the backward pass ---- */

static pb_status run_sum(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    pbi_loop_add(call->value[job->in[0]], call->value[job->in[1]], call->value[call->node], job->n[0]);
    return PB_OK;
}

void pbi_net_add_grad(pbi_train *t, pbi_tensor x, pb_node part)
{
    pbi_tensor_row *row = &t->tensor[x];
    if (t->status != PB_OK || !row->learns)
        return;
    if (row->grad == PB_NO_NODE) {
        row->grad = part;
        return;
    }
    uint64_t floats = row->bytes / sizeof(float);
    pbi_making m =
        pbi_making_begin(t, row->name, pbi_net_text(t, ".dsum", row->sums++), row->bytes, PBI_FLOP_MOVE * floats);
    pbi_making_reads(t, &m, row->grad);
    pbi_making_reads(t, &m, part);
    pbi_making_over(&m, row->grad);
    pbi_making_over(&m, part);
    m.job->n[0] = floats;
    m.job->loop = run_sum;
    pbi_making_does(&m, "elementwise", floats);
    row->grad = pbi_making_end(t, &m);
}

void pbi_train_backward(pbi_train *t)
{
    for (uint32_t i = t->op_count; i-- > 0 && t->status == PB_OK;) {
        const pbi_op *op = &t->op[i];
        t->group = op->group;
        op->back(t, op);
    }
}
