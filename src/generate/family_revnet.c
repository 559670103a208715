/* family_revnet.c -- a training step of a reversible network: blocks whose inputs come back from their outputs.
 *
 * Two streams a and b; a block computes a' = a + f(b) and b' = b + g(a'). Then b = b' - g(a') and a = a' - f(b), so the
 * backward pass needs no values of the blocks in front of it: memory does not grow with depth.
 */
#include "generate/families.h"
#include "generate/training.h"

typedef struct stream {
    pbi_value value;
    pbi_emit *emit;
    uint64_t count; /* of numbers */
    uint64_t width, bytes;
} stream;

/* stream + relu(linear(other)) */
static pbi_value couple(pbi_tape *t, const char *const names[3], const stream *s, pbi_value other, bool inverse)
{
    pbi_value way = pbi_op_relu(t, names[1], pbi_op_linear(t, names[0], other, s->width));
    pbi_value sum = pbi_op_add(t, names[2], s->value, way);
    uint64_t flops = pbi_times(s->count, 2 * s->width + 3); /* the layer, the rectifier and the difference */
    pb_recipe_spec spec = {.name = "inverse", .cost = flops, .workspace = s->bytes};
    pb_node in[] = {pbi_tape_node(t, sum), pbi_tape_node(t, other)};
    spec.work = (pb_work){.op = "matmul",
                          .dtype = t->options.type.name,
                          .has_flops = true,
                          .has_bytes = true,
                          .flops = flops,
                          .bytes = pbi_times(6, s->bytes)};
    if (inverse) {
        uint32_t number = pbi_emit_recipe(s->emit, pbi_tape_node(t, s->value), &spec);
        pbi_emit_recipe_input(s->emit, number, in[0], true);
        pbi_emit_recipe_input(s->emit, number, in[1], false);
    }
    return sum;
}

static pb_status write_revnet(pbi_training *s, const pbi_params *params)
{
    static const char *const first[] = {"f.fc", "f.relu", "a"}, *const second[] = {"g.fc", "g.relu", "b"};
    pbi_tape *t = &s->tape;
    uint64_t depth = pbi_param_integer(params, "depth"), batch = pbi_param_integer(params, "batch");
    uint64_t width = pbi_param_integer(params, "width");
    bool inverse = pbi_param_is(params, "inverse", "yes");
    if (pbi_emit_budget(&s->emit, 24 * depth + 24, 48 * depth + 48) != PB_OK)
        return s->emit.status;
    pbi_dims sample = {batch, pbi_param_integer(params, "inputs"), 1, 1};
    pbi_value x = pbi_tape_input(t, "batch", sample, t->options.type);
    pbi_value labels = pbi_tape_input(t, "labels", (pbi_dims){batch, 1, 1, 1}, PBI_INDEX);
    pbi_tape_group(t, "stem");
    stream a = {.emit = &s->emit, .count = pbi_times(batch, width), .width = width}, b = a;
    a.bytes = b.bytes = pbi_times(a.count, t->options.type.size);
    a.value = pbi_op_linear(t, "a", x, width);
    b.value = pbi_op_linear(t, "b", x, width);
    for (uint64_t i = 0; i < depth && s->emit.status == PB_OK; i++) {
        pbi_tape_block(t, "block", i);
        a.value = couple(t, first, &a, b.value, inverse);
        b.value = couple(t, second, &b, a.value, inverse);
    }
    pbi_tape_group(t, "head");
    x = pbi_op_linear(t, "fc", pbi_op_add(t, "add", a.value, b.value), pbi_param_integer(params, "classes"));
    pbi_op_loss(t, "loss", x, labels);
    return pbi_training_finish(s, params);
}

pb_status pbi_generate_revnet(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    pb_arena arena;
    pb_arena_init(&arena, ctx);
    pbi_training s;
    pbi_training_start(&s, ctx, params, builder, &arena);
    pb_status status = write_revnet(&s, params);
    pb_arena_release(&arena);
    return status;
}
