/* bind.c -- sizes for the dimensions that a model leaves open: by name, or as the batch. */
#include "io/onnx/model.h"

#include "base/context.h"

#include <stdio.h>

enum { NAME_ROOM = 160 };

/* The label of an open dimension: its name, else input:axis. */
static void dim_label(const pbi_onnx *m, uint32_t input, uint32_t axis, char label[NAME_ROOM])
{
    const pbi_onnx_tensor *t = &m->tensor[input];
    if (t->dim_names[axis])
        snprintf(label, NAME_ROOM, "%s", t->dim_names[axis]);
    else
        snprintf(label, NAME_ROOM, "%.100s:%u", pbi_onnx_name(m, input), axis);
}

static pb_status read_size(const pbi_onnx *m, const pb_option *o, uint64_t *out)
{
    if (pbi_u64_parse(o->value, strlen(o->value), out) && *out > 0 && *out <= (uint64_t)1 << 40)
        return PB_OK;
    return pbi_fail(m->ctx, PB_EINVAL, "dimension %.60s: expected a whole number of at least 1, not \"%.60s\"", o->key,
                    o->value);
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* Whether --batch applies to this dimension: the first of the first input, or one with the same name or size. */
static bool is_batch(const pbi_onnx *m, const pbi_onnx_tensor *t, uint32_t axis)
{
    const pbi_onnx_tensor *first = &m->tensor[m->input[0]];
    if (first->rank == 0)
        return false;
    uint64_t size = first->dims[0];
    const char *name = first->dim_names[0];
    if (size == UINT64_MAX && name)
        return t->dims[axis] == UINT64_MAX && same_text(t->dim_names[axis], name);
    return axis == 0 && t->dims[0] == size && same_text(t->dim_names[0], name);
}

/* Names for messages, with separators. */
typedef struct listing {
    char text[300];
    size_t length;
    char labels[300]; /* labels already listed, each between line breaks */
} listing;

static void list_add(listing *l, const char *before, const char *name, const char *after)
{
    char item[NAME_ROOM + 120];
    snprintf(item, sizeof item, "%s%s%s", before, name, after);
    if (l->length + strlen(item) + 8 > sizeof l->text || strstr(l->text, item))
        return;
    memcpy(l->text + l->length, item, strlen(item) + 1);
    l->length += strlen(item);
}

/* Whether the label is already listed; adds it. */
static bool has_label(listing *l, const char *label)
{
    char item[NAME_ROOM + 4];
    size_t used = strlen(l->labels);
    snprintf(item, sizeof item, "\n%s\n", label);
    if (strstr(l->labels, item))
        return true;
    if (used + strlen(item) < sizeof l->labels)
        memcpy(l->labels + used, item, strlen(item) + 1);
    return false;
}

/* Every name in the options must be one of the model's. */
static pb_status check_names(const pbi_onnx *m)
{
    for (uint32_t k = 0; k < m->options->dim_count; k++) {
        listing names = {.length = 0};
        bool found = false;
        for (size_t i = 0; i < m->input_count; i++) {
            const pbi_onnx_tensor *t = &m->tensor[m->input[i]];
            for (uint32_t axis = 0; axis < t->rank; axis++) {
                char label[NAME_ROOM];
                if (t->dims[axis] != UINT64_MAX)
                    continue;
                dim_label(m, m->input[i], axis, label);
                found |= strcmp(label, m->options->dims[k].key) == 0;
                list_add(&names, " ", label, "");
            }
        }
        if (!found)
            return pbi_fail(m->ctx, PB_EINVAL, "the model has no open dimension \"%.60s\"; %s%s",
                            m->options->dims[k].key,
                            *names.text ? "choose from:" : "all its sizes are fixed, so leave it out", names.text);
    }
    return PB_OK;
}

/* The size from the options for this dimension; *out is unchanged if there is none; two sizes are an error. */
static pb_status named_size(const pbi_onnx *m, const char *label, uint64_t *out)
{
    const pb_option *found = NULL;
    for (uint32_t k = 0; k < m->options->dim_count; k++) {
        const pb_option *o = &m->options->dims[k];
        uint64_t size;
        if (strcmp(label, o->key) != 0)
            continue;
        pb_status status = read_size(m, o, &size);
        if (status != PB_OK)
            return status;
        if (found && size != *out)
            return pbi_fail(m->ctx, PB_EINVAL, "dimension %.60s is given two sizes, %.20s and %.20s; leave one out",
                            label, found->value, o->value);
        found = o;
        *out = size;
    }
    return PB_OK;
}

/* In the syntax of the caller's users. */
static void list_open(const pbi_onnx *m, const char *label, listing *open)
{
    static const pb_dim_words plain = {"", "", "", ", ", ""};
    const pb_dim_words *w = m->options->dim_words ? m->options->dim_words : &plain;
    char before[80];
    snprintf(before, sizeof before, "%.20s%.40s", open->length ? w->join : w->begin, w->before);
    if (!has_label(open, label))
        list_add(open, before, label, w->after);
}

static pb_status bind_input(pbi_onnx *m, uint32_t input, const bool *batch, listing *open)
{
    pbi_onnx_tensor *t = &m->tensor[input];
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        char label[NAME_ROOM];
        uint64_t size = m->options->batch;
        if (batch[axis])
            m->batch_replaced |= t->dims[axis] != UINT64_MAX && t->dims[axis] != size;
        if (t->dims[axis] == UINT64_MAX) {
            dim_label(m, input, axis, label);
            pb_status status = named_size(m, label, &t->dims[axis]);
            if (status != PB_OK)
                return status;
            if (batch[axis] && t->dims[axis] != UINT64_MAX && t->dims[axis] != size)
                return pbi_fail(m->ctx, PB_EINVAL,
                                "dimension %.60s is the batch, and is given two sizes, %llu and %llu; leave one out",
                                label, (unsigned long long)t->dims[axis], (unsigned long long)size);
        }
        if (batch[axis])
            t->dims[axis] = size;
        else if (t->dims[axis] == UINT64_MAX)
            list_open(m, label, open);
    }
    return PB_OK;
}

static pb_status bind_all(pbi_onnx *m, bool (*batch)[PBI_ONNX_RANK])
{
    listing open = {.length = 0};
    for (size_t i = 0; i < m->input_count; i++)
        for (uint32_t axis = 0; axis < m->tensor[m->input[i]].rank; axis++)
            batch[i][axis] = m->options->batch && is_batch(m, &m->tensor[m->input[i]], axis);
    for (size_t i = 0; i < m->input_count; i++) {
        pb_status status = bind_input(m, m->input[i], batch[i], &open);
        if (status != PB_OK)
            return status;
    }
    if (!open.length)
        return PB_OK;
    if (m->options->dim_words)
        return pbi_fail(m->ctx, PB_EGRAPH,
                        "the model leaves sizes of its inputs open; give each of them a number, as in %s%s", open.text,
                        m->options->dim_words->end);
    return pbi_fail(m->ctx, PB_EGRAPH, "the model leaves sizes of its inputs open; give each of them a number: %s",
                    open.text);
}

pb_status pbi_onnx_bind(pbi_onnx *m)
{
    for (size_t i = 0; i < m->input_count; i++) {
        const pbi_onnx_tensor *t = &m->tensor[m->input[i]];
        const char *name = pbi_onnx_name(m, m->input[i]);
        if (!t->shaped)
            return pbi_fail(m->ctx, PB_EGRAPH,
                            "input \"%.100s\" has no shape; export the model with the shapes of its inputs", name);
        if (!pbi_onnx_bits(t->type))
            return pbi_fail(
                m->ctx, PB_EGRAPH,
                "input \"%.100s\" is of type %s, which is not supported; export the model with numbers or booleans",
                name, pbi_onnx_type_name(t->type));
    }
    if (m->options->batch && (!m->input_count || !m->tensor[m->input[0]].rank))
        return pbi_fail(m->ctx, PB_EINVAL,
                        "there is no batch to set: the model's first input has no dimensions; leave the batch out");
    bool(*batch)[PBI_ONNX_RANK] = pb_arena_zero(m->arena, m->input_count + 1, sizeof *batch);
    if (!batch)
        return PB_ENOMEM;
    pb_status status = check_names(m);
    if (status == PB_OK)
        status = bind_all(m, batch);
    for (size_t i = 0; status == PB_OK && i < m->input_count; i++)
        if (pbi_times(pbi_onnx_elements(&m->tensor[m->input[i]]), 16) == UINT64_MAX)
            status = pbi_fail(m->ctx, PB_ERANGE, "input \"%.100s\" has more than 2^60 elements; choose smaller sizes",
                              pbi_onnx_name(m, m->input[i]));
    return status;
}
