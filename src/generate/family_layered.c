/* family_layered.c -- random layered graphs in linear time.
 *
 * Neighbouring layers are first covered: both are shuffled and paired cyclically along the longer one, so each node
 * has an input in the previous layer and each node of that layer a reader. Further edges up to the mean degree are
 * then drawn, some of them from earlier layers. Shares are fixed-point integers, so that all machines round equally.
 */
#include "base/arena.h"
#include "base/rng.h"
#include "generate/families.h"
#include "graph/emit.h"

typedef struct layered {
    pbi_emit e;
    pbi_rng rng;
    uint64_t nodes, width, reach, max_cost, max_size;
    uint64_t degree; /* in 1/65536 */
    uint64_t skip;   /* in 1/65536 */
    uint64_t edge_carry, skip_carry;
    bool skewed;
    pb_node *starts; /* first node of each layer, and one more */
    uint64_t layers;
    pb_node *above, *below; /* shuffled layers */
} layered;

static uint64_t square_root(uint64_t value)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= value)
            root += bit;
    return root;
}

static bool cut_layers(layered *l, pb_arena *arena)
{
    size_t room = 0;
    uint64_t made = 0, widest = 1;
    void *starts = NULL;
    while (made < l->nodes) {
        if (!pbi_arena_reserve(arena, &starts, &room, l->layers + 2, sizeof *l->starts))
            return false;
        uint64_t width = 1 + pbi_rng_below(&l->rng, 2 * l->width - 1);
        if (width > l->nodes - made)
            width = l->nodes - made;
        if (width > widest)
            widest = width;
        l->starts = starts;
        l->starts[l->layers++] = (pb_node)made;
        made += width;
        l->starts[l->layers] = (pb_node)made;
    }
    l->above = pb_arena_alloc(arena, widest, sizeof *l->above);
    l->below = pb_arena_alloc(arena, widest, sizeof *l->below);
    return l->above && l->below;
}

static uint64_t draw_size(layered *l)
{
    uint64_t size = pbi_rng_below(&l->rng, l->max_size);
    /* The product of two uniform draws: a quarter of the maximum on average, as in the published graphs. */
    return 1 + (l->skewed ? pbi_u128_product(size, pbi_rng_next(&l->rng)).high : size);
}

static void emit_layer_nodes(layered *l, uint64_t layer)
{
    for (pb_node v = l->starts[layer]; v < l->starts[layer + 1] && l->e.status == PB_OK; v++) {
        pbi_label name;
        pbi_label_pair(&name, "l", layer, v - l->starts[layer]);
        pb_node_spec spec = {.name = name.text, .name_length = name.length};
        spec.cost = pbi_rng_below(&l->rng, l->max_cost + 1);
        spec.size = draw_size(l);
        pbi_emit_step(&l->e, &spec);
    }
}

static uint64_t shuffle_layer(layered *l, uint64_t layer, pb_node *out)
{
    uint64_t width = l->starts[layer + 1] - l->starts[layer];
    for (uint64_t i = 0; i < width; i++) {
        uint64_t j = pbi_rng_below(&l->rng, i + 1);
        if (j < i)
            out[i] = out[j];
        out[j] = l->starts[layer] + (pb_node)i;
    }
    return width;
}

static pb_node draw_from(layered *l, uint64_t layer)
{
    return l->starts[layer] + (pb_node)pbi_rng_below(&l->rng, l->starts[layer + 1] - l->starts[layer]);
}

static void emit_layer_edges(layered *l, uint64_t layer)
{
    uint64_t above = shuffle_layer(l, layer - 1, l->above), width = shuffle_layer(l, layer, l->below);
    uint64_t cover = above > width ? above : width;
    for (uint64_t i = 0; i < cover && l->e.status == PB_OK; i++)
        pbi_emit_edge(&l->e, l->above[i % above], l->below[i % width]);

    uint64_t wanted = l->degree * width + l->edge_carry;
    l->edge_carry = wanted & 0xffff;
    wanted >>= 16;
    uint64_t extra = wanted > cover ? wanted - cover : 0;
    uint64_t far = l->skip * wanted + l->skip_carry;
    l->skip_carry = far & 0xffff;
    far >>= 16;
    uint64_t reach = layer < l->reach ? layer : l->reach;
    for (uint64_t i = 0; i < extra && l->e.status == PB_OK; i++) {
        uint64_t back = i < far && reach >= 2 ? 2 + pbi_rng_below(&l->rng, reach - 1) : 1;
        pb_node from = draw_from(l, layer - back);
        pbi_emit_edge(&l->e, from, draw_from(l, layer));
    }
}

pb_status pbi_generate_layered(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    layered l = {.rng = {pbi_param_integer(params, "seed")},
                 .nodes = pbi_param_integer(params, "nodes"),
                 .width = pbi_param_integer(params, "width"),
                 .reach = pbi_param_integer(params, "reach"),
                 .max_cost = pbi_param_integer(params, "max-cost"),
                 .max_size = pbi_param_integer(params, "max-size"),
                 .degree = (uint64_t)(pbi_param_real(params, "degree") * 65536),
                 .skip = (uint64_t)(pbi_param_real(params, "skip") * 65536),
                 .skewed = pbi_param_is(params, "sizes", "skewed")};
    if (l.width == 0)
        l.width = square_root(l.nodes) / 2;
    if (l.width == 0)
        l.width = 1;
    pbi_emit_init(&l.e, ctx, params->family->name, builder);
    if (pbi_emit_budget(&l.e, l.nodes, (l.degree * l.nodes >> 16) + l.nodes) != PB_OK)
        return l.e.status;
    pbi_emit_units(&l.e, "unit", "unit");
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    bool ok = cut_layers(&l, &scratch);
    for (uint64_t layer = 0; ok && layer < l.layers && l.e.status == PB_OK; layer++) {
        emit_layer_nodes(&l, layer);
        if (layer > 0)
            emit_layer_edges(&l, layer);
    }
    pb_arena_release(&scratch);
    return ok ? l.e.status : PB_ENOMEM;
}
