/* family_recursion.c -- recursive proofs, as systems that compress many proofs into one make them.
 *
 * A proof of level l checks two proofs of level l - 1. Each check opens `queries` hash paths: a path is a chain of
 * hashes that reads the proof below at every step, for the siblings. The proof reads the ends of all its paths; making
 * it takes memory of its own. The order is that of a program which finishes one subtree after the other.
 */
#include "base/context.h"
#include "generate/families.h"
#include "graph/emit.h"

typedef struct recursion {
    pbi_emit e;
    uint64_t queries, path;
    pb_node_spec proof;
} recursion;

static pb_node emit_proof(recursion *r, uint64_t level, uint64_t i)
{
    pbi_label name;
    pb_node_spec spec = r->proof;
    pbi_label_pair(&name, "proof", level, i);
    spec.name = name.text;
    spec.name_length = name.length;
    return pbi_emit_step(&r->e, &spec);
}

/* The paths of one check; their last hashes are returned in `end`. */
static void emit_check(recursion *r, const char *name, pb_node below, pb_node *end)
{
    for (uint64_t q = 0; q < r->queries && r->e.status == PB_OK; q++)
        for (uint64_t k = 0; k < r->path; k++) {
            pbi_label step;
            pbi_label_set(&step, name);
            pbi_label_text(&step, ".");
            pbi_label_number(&step, q);
            pbi_label_text(&step, ".");
            pbi_label_number(&step, k);
            pb_node v = pbi_emit_step(
                &r->e, &(pb_node_spec){.name = step.text, .name_length = step.length, .cost = 1, .size = 1});
            pbi_emit_edge(&r->e, below, v);
            if (k) {
                pbi_emit_edge(&r->e, end[q], v);
                pbi_emit_inplace(&r->e, v, end[q]);
            }
            end[q] = v;
        }
}

static pb_node emit_above(recursion *r, uint64_t level, uint64_t i, const pb_node below[2], pb_node *end)
{
    for (uint64_t side = 0; side < 2; side++) {
        pbi_label name;
        pbi_label_pair(&name, "check", level, 2 * i + side);
        emit_check(r, name.text, below[side], end + side * r->queries);
    }
    pb_node v = emit_proof(r, level, i);
    for (uint64_t k = 0; k < 2 * r->queries; k++)
        pbi_emit_edge(&r->e, end[k], v);
    return v;
}

pb_status pbi_generate_recursive_checks(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    recursion r = {.queries = pbi_param_integer(params, "queries"),
                   .path = pbi_param_integer(params, "path"),
                   .proof = {.cost = pbi_param_integer(params, "prove-cost"),
                             .size = pbi_param_integer(params, "proof-size"),
                             .workspace = pbi_param_integer(params, "prove-space")}};
    uint64_t height = pbi_param_integer(params, "height"), leaves = UINT64_C(1) << height;
    uint64_t hashes = 2 * r.queries * r.path * (leaves - 1);
    pbi_emit_init(&r.e, ctx, params->family->name, builder);
    if (pbi_emit_budget(&r.e, 2 * leaves - 1 + hashes, 2 * hashes + 2 * r.queries * leaves) != PB_OK)
        return r.e.status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_node *end = pb_arena_alloc(&scratch, 2 * r.queries, sizeof *end), pending[32][2];
    pbi_emit_units(&r.e, "hash", "hash");
    for (uint64_t leaf = 0; end && leaf < leaves && r.e.status == PB_OK; leaf++) {
        pb_node v = emit_proof(&r, 0, leaf);
        uint64_t level = 0, i = leaf;
        for (; level < height && i % 2; level++, i /= 2) {
            pending[level][1] = v;
            v = emit_above(&r, level + 1, i / 2, pending[level], end);
        }
        pending[level][0] = v;
        if (level == height)
            pbi_emit_target(&r.e, v);
    }
    pb_arena_release(&scratch);
    return end ? r.e.status : PB_ENOMEM;
}
