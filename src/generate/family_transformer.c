/* family_transformer.c -- a training step of a transformer with normalisation before attention and before the MLP. */
#include "base/context.h"
#include "generate/families.h"
#include "generate/training.h"

typedef struct model {
    uint64_t blocks, batch, sequence, width, heads, ratio, vocabulary;
    bool flash;
} model;

static pbi_value attention(pbi_tape *t, const model *m, pbi_value x)
{
    pbi_value q = pbi_op_linear(t, "q", x, m->width);
    pbi_value k = pbi_op_linear(t, "k", x, m->width);
    pbi_value v = pbi_op_linear(t, "v", x, m->width);
    if (m->flash)
        return pbi_op_attention(t, "attention", &(pbi_attention){q, k, v, m->heads, m->sequence});
    pbi_dims square = {pbi_times(m->batch, m->heads * m->sequence), m->sequence, 1, 1};
    pbi_value scores = pbi_op_matmul(t, "scores", q, k, square, m->width / m->heads);
    pbi_value probs = pbi_op_softmax(t, "probs", scores);
    probs = pbi_op_dropout(t, "probs_drop", probs);
    return pbi_op_matmul(t, "context", probs, v, pbi_tape_dims(t, v), m->sequence);
}

static pbi_value block(pbi_tape *t, const model *m, pbi_value x)
{
    pbi_value way = pbi_op_layer_norm(t, "norm1", x);
    way = attention(t, m, way);
    way = pbi_op_linear(t, "proj", way, m->width);
    way = pbi_op_dropout(t, "proj_drop", way);
    x = pbi_op_add(t, "add1", x, way);
    way = pbi_op_layer_norm(t, "norm2", x);
    way = pbi_op_linear(t, "fc1", way, m->width * m->ratio);
    way = pbi_op_gelu(t, "gelu", way);
    way = pbi_op_linear(t, "fc2", way, m->width);
    way = pbi_op_dropout(t, "fc2_drop", way);
    return pbi_op_add(t, "add2", x, way);
}

static pb_status write_transformer(pbi_training *s, const pbi_params *params, const model *m)
{
    pbi_tape *t = &s->tape;
    if (m->width % m->heads)
        return pbi_fail(s->emit.ctx, PB_EINVAL,
                        "transformer: heads (%llu) must divide width (%llu); change one of them",
                        (unsigned long long)m->heads, (unsigned long long)m->width);
    if (pbi_emit_budget(&s->emit, 54 * m->blocks + 12, 110 * m->blocks + 30) != PB_OK)
        return s->emit.status;
    pbi_dims tokens = {pbi_times(m->batch, m->sequence), 1, 1, 1};
    pbi_value ids = pbi_tape_input(t, "tokens", tokens, PBI_INDEX),
              labels = pbi_tape_input(t, "labels", tokens, PBI_INDEX);
    pbi_tape_group(t, "embedding");
    pbi_value x = pbi_op_embed(t, "embed", ids, m->width, m->vocabulary, m->sequence);
    x = pbi_op_dropout(t, "drop", x);
    for (uint64_t i = 0; i < m->blocks && s->emit.status == PB_OK; i++) {
        pbi_tape_block(t, "block", i);
        x = block(t, m, x);
    }
    pbi_tape_group(t, "head");
    x = pbi_op_layer_norm(t, "norm", x);
    x = pbi_op_linear(t, "fc", x, m->vocabulary);
    pbi_op_loss(t, "loss", x, labels);
    return pbi_training_finish(s, params);
}

pb_status pbi_generate_transformer(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    model m = {.blocks = pbi_param_integer(params, "blocks"),
               .batch = pbi_param_integer(params, "batch"),
               .sequence = pbi_param_integer(params, "sequence"),
               .width = pbi_param_integer(params, "width"),
               .heads = pbi_param_integer(params, "heads"),
               .ratio = pbi_param_integer(params, "ratio"),
               .vocabulary = pbi_param_integer(params, "vocabulary"),
               .flash = pbi_param_is(params, "attention", "flash")};
    pb_arena arena;
    pb_arena_init(&arena, ctx);
    pbi_training s;
    pbi_training_start(&s, ctx, params, builder, &arena);
    pb_status status = write_transformer(&s, params, &m);
    pb_arena_release(&arena);
    return status;
}
