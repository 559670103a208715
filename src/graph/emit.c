/* emit.c -- see emit.h. */
#include "graph/emit.h"

#include <string.h>

#include "base/context.h"

void pbi_emit_init(pbi_emit *e, pb_context *ctx, const char *maker, pb_builder *builder)
{
    *e = (pbi_emit){.ctx = ctx, .builder = builder, .maker = maker};
}

pb_status pbi_emit_budget(pbi_emit *e, uint64_t nodes, uint64_t edges)
{
    if (e->status == PB_OK && nodes >= PBI_GENERATED_NODES)
        e->status =
            pbi_fail(e->ctx, PB_ERANGE, "%s: these parameters give about %llu nodes; use smaller ones, for at most %u",
                     e->maker, (unsigned long long)nodes, PBI_GENERATED_NODES - 1);
    if (e->status == PB_OK && edges >= PBI_GENERATED_EDGES)
        e->status =
            pbi_fail(e->ctx, PB_ERANGE, "%s: these parameters give about %llu edges; use smaller ones, for at most %u",
                     e->maker, (unsigned long long)edges, PBI_GENERATED_EDGES - 1);
    return e->status;
}

static bool going(pbi_emit *e)
{
    if (e->status == PB_OK && ++e->since_poll >= 4096) {
        e->since_poll = 0;
        e->status = pbi_poll(e->ctx);
    }
    return e->status == PB_OK;
}

static pb_status refuse_huge(pbi_emit *e, const pb_node_spec *spec)
{
    const char *what = spec->cost == UINT64_MAX        ? "cost"
                       : spec->size == UINT64_MAX      ? "size"
                       : spec->workspace == UINT64_MAX ? "workspace"
                                                       : "memory traffic";
    int length = spec->name_length ? (int)spec->name_length : (int)strlen(spec->name);
    return pbi_fail(e->ctx, PB_ERANGE, "%s: the %s of '%.*s' exceeds 2^64; use smaller parameters", e->maker, what,
                    length, spec->name);
}

pb_node pbi_emit_node(pbi_emit *e, const pb_node_spec *spec)
{
    pb_node v = PB_NO_NODE;
    if (!going(e))
        return v;
    if (spec->cost == UINT64_MAX || spec->size == UINT64_MAX || spec->workspace == UINT64_MAX ||
        spec->work.bytes == UINT64_MAX)
        e->status = refuse_huge(e, spec);
    else
        e->status = pb_builder_add_node(e->builder, spec, &v);
    return v;
}

pb_node pbi_emit_step(pbi_emit *e, const pb_node_spec *spec)
{
    pb_node v = pbi_emit_node(e, spec);
    pbi_emit_order(e, v);
    return v;
}

pb_node pbi_emit_part(pbi_emit *e, const pb_node_spec *spec, pb_node owner)
{
    pb_node v = pbi_emit_node(e, spec);
    if (e->status == PB_OK)
        e->status = pb_builder_set_byproduct(e->builder, v, owner);
    return v;
}

void pbi_emit_order(pbi_emit *e, pb_node v)
{
    if (e->status == PB_OK)
        e->status = pb_builder_add_order(e->builder, v);
}

void pbi_emit_edge(pbi_emit *e, pb_node from, pb_node to)
{
    if (going(e))
        e->status = pb_builder_add_edge(e->builder, from, to);
}

void pbi_emit_inplace(pbi_emit *e, pb_node v, pb_node input)
{
    if (e->status == PB_OK)
        e->status = pb_builder_add_inplace(e->builder, v, input);
}

void pbi_emit_target(pbi_emit *e, pb_node v)
{
    if (e->status == PB_OK)
        e->status = pb_builder_add_target(e->builder, v);
}

uint32_t pbi_emit_recipe(pbi_emit *e, pb_node v, const pb_recipe_spec *spec)
{
    uint32_t number = 0;
    if (e->status == PB_OK && spec->cost == UINT64_MAX)
        e->status =
            pbi_fail(e->ctx, PB_ERANGE, "%s: the cost of a recipe exceeds 2^64; use smaller parameters", e->maker);
    if (going(e))
        e->status = pb_builder_add_recipe(e->builder, v, spec, &number);
    return number;
}

void pbi_emit_recipe_input(pbi_emit *e, uint32_t number, pb_node input, bool inplace)
{
    if (e->status == PB_OK)
        e->status = pb_builder_add_recipe_input(e->builder, number, input);
    if (e->status == PB_OK && inplace)
        e->status = pb_builder_add_recipe_inplace(e->builder, number, input);
}

void pbi_emit_units(pbi_emit *e, const char *cost_unit, const char *size_unit)
{
    if (e->status == PB_OK)
        e->status = pb_builder_set_texts(e->builder, NULL, cost_unit, size_unit);
}

void pbi_label_text(pbi_label *label, const char *text)
{
    size_t length = strlen(text), room = sizeof label->text - 1 - label->length;
    if (length > room)
        length = room;
    memcpy(label->text + label->length, text, length);
    label->length += length;
    label->text[label->length] = 0;
}

void pbi_label_set(pbi_label *label, const char *text)
{
    label->length = 0;
    pbi_label_text(label, text);
}

void pbi_label_number(pbi_label *label, uint64_t number)
{
    char digits[21];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    pbi_label_text(label, digits + at);
}

void pbi_label_pair(pbi_label *label, const char *prefix, uint64_t a, uint64_t b)
{
    pbi_label_set(label, prefix);
    pbi_label_number(label, a);
    pbi_label_text(label, "_");
    pbi_label_number(label, b);
}
