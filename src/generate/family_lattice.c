/* family_lattice.c -- pyramids, grids and butterflies: the graphs of the classic space bounds. */
#include "generate/families.h"
#include "graph/emit.h"

typedef struct lattice {
    pbi_emit e;
    uint64_t cost, size;
    bool inputs_given;
} lattice;

static void lattice_init(lattice *l, pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    pbi_emit_init(&l->e, ctx, params->family->name, builder);
    l->cost = pbi_param_integer(params, "cost");
    l->size = pbi_param_integer(params, "size");
    l->inputs_given = false;
}

static pb_node lattice_node(lattice *l, const char *prefix, uint64_t row, uint64_t column, bool source)
{
    pbi_label name;
    pbi_label_pair(&name, prefix, row, column);
    pb_node_spec spec = {.name = name.text, .name_length = name.length, .size = l->size};
    if (source && l->inputs_given) {
        spec.flags = PB_NODE_GIVEN;
        return pbi_emit_node(&l->e, &spec);
    }
    spec.cost = l->cost;
    return pbi_emit_step(&l->e, &spec);
}

pb_status pbi_generate_pyramid(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    uint64_t height = pbi_param_integer(params, "height");
    lattice l;
    lattice_init(&l, ctx, params, builder);
    l.inputs_given = pbi_param_is(params, "inputs", "given");
    if (pbi_emit_budget(&l.e, (height + 1) * (height + 2) / 2, height * (height + 1)) != PB_OK)
        return l.e.status;
    pbi_emit_units(&l.e, "step", "pebble");
    pb_node below = 0; /* first node of the row below */
    for (uint64_t row = 0; row <= height && l.e.status == PB_OK; row++) {
        uint64_t width = height + 1 - row;
        pb_node first = pb_builder_node_count(builder);
        for (uint64_t i = 0; i < width && l.e.status == PB_OK; i++) {
            pb_node v = lattice_node(&l, "p", row, i, row == 0);
            if (row == 0)
                continue;
            pbi_emit_edge(&l.e, below + (pb_node)i, v);
            pbi_emit_edge(&l.e, below + (pb_node)i + 1, v);
        }
        below = first;
    }
    return l.e.status;
}

pb_status pbi_generate_grid(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    uint64_t rows = pbi_param_integer(params, "rows"), cols = pbi_param_integer(params, "cols");
    lattice l;
    lattice_init(&l, ctx, params, builder);
    if (pbi_emit_budget(&l.e, rows * cols, 2 * rows * cols) != PB_OK)
        return l.e.status;
    pbi_emit_units(&l.e, "step", "pebble");
    for (uint64_t r = 0; r < rows; r++) {
        for (uint64_t c = 0; c < cols && l.e.status == PB_OK; c++) {
            pb_node v = lattice_node(&l, "c", r, c, false);
            if (r > 0)
                pbi_emit_edge(&l.e, v - (pb_node)cols, v);
            if (c > 0)
                pbi_emit_edge(&l.e, v - 1, v);
        }
    }
    return l.e.status;
}

pb_status pbi_generate_butterfly(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    uint64_t stages = pbi_param_integer(params, "stages"), width = UINT64_C(1) << stages;
    lattice l;
    lattice_init(&l, ctx, params, builder);
    l.inputs_given = pbi_param_is(params, "inputs", "given");
    if (pbi_emit_budget(&l.e, (stages + 1) * width, 2 * stages * width) != PB_OK)
        return l.e.status;
    pbi_emit_units(&l.e, "step", "pebble");
    for (uint64_t s = 0; s <= stages; s++) {
        for (uint64_t i = 0; i < width && l.e.status == PB_OK; i++) {
            pb_node v = lattice_node(&l, "b", s, i, s == 0);
            if (s == 0)
                continue;
            uint64_t partner = i ^ UINT64_C(1) << (s - 1);
            pb_node below = (pb_node)((s - 1) * width);
            pbi_emit_edge(&l.e, below + (pb_node)i, v);
            pbi_emit_edge(&l.e, below + (pb_node)partner, v);
        }
    }
    return l.e.status;
}
