/* proofs.c -- which layers of a hash tree to keep for proofs of random leaves.
 *
 * Without the lowest d layers a proof recomputes the subtree of 2^d leaves around its leaf, except the nodes on the
 * path itself. Several proofs at once recompute a subtree once. With q different leaves, each set as likely as any
 * other, a node with s leaves below it is on a path with probability 1 - C(N - s, q) / C(N, q); expected figures are
 * sums of these.
 */
#include "pebble/hashtree.h"

#include "base/checked.h"
#include "base/context.h"

#include <math.h>

/* Expected number of nodes of `level` that are on a path. */
static double on_paths(uint32_t height, uint32_t level, uint64_t queries)
{
    double leaves = ldexp(1, (int)height), below = ldexp(1, (int)level), q = (double)queries, log_missed = 0;
    if (q + below > leaves)
        return ldexp(1, (int)(height - level));
    double few = q < below ? q : below, other = q < below ? below : q; /* the quotient is symmetric in both */
    for (double i = 0; i < few; i++)
        log_missed += log1p(-other / (leaves - i));
    return -expm1(log_missed) * ldexp(1, (int)(height - level));
}

static bool price(uint64_t leaves, uint64_t hashes, pb_traversal_prices p, uint64_t *work)
{
    uint64_t of_leaves, of_hashes;
    return pbi_mul(leaves, p.leaf, &of_leaves) && pbi_mul(hashes, p.hash, &of_hashes) &&
           pbi_add(of_leaves, of_hashes, work);
}

static bool fill_row(const pb_proof_request *r, uint32_t dropped, const double *on, pb_proof_row *row)
{
    uint64_t below = UINT64_C(1) << dropped;
    *row = (pb_proof_row){.dropped = dropped,
                          .kept = (UINT64_C(2) << (r->height - dropped)) - 1,
                          .stored = (UINT64_C(2) << (r->height - dropped)) - 1 + dropped,
                          .leaves = below - 1,
                          .hashes = below - 1 - dropped,
                          .subtrees = on[dropped]};
    for (uint32_t level = 0; level < dropped; level++)
        row->batch_work += (on[dropped] * ldexp(1, (int)(dropped - level)) - on[level]) *
                           (double)(level ? r->prices.hash : r->prices.leaf);
    row->fits = row->stored <= r->cap;
    return price(row->leaves, row->hashes, r->prices, &row->work);
}

pb_status pb_proof_layers(pb_context *ctx, const pb_proof_request *request, pb_proof_choice *out)
{
    double on[PB_TRAVERSAL_MAX_HEIGHT + 1];
    pb_proof_choice c = {.row_count = request->height + 1, .winner = UINT32_MAX};
    if (request->height > PB_TRAVERSAL_MAX_HEIGHT)
        return pbi_fail(ctx, PB_ERANGE, "the tree has a height of %u; use at most %d", (unsigned)request->height,
                        PB_TRAVERSAL_MAX_HEIGHT);
    if (request->queries == 0 || request->queries > UINT64_C(1) << request->height ||
        request->queries > PB_PROOF_MAX_QUERIES)
        return pbi_fail(ctx, PB_ERANGE, "the number of proofs must be between 1 and the number of leaves, at most %d",
                        PB_PROOF_MAX_QUERIES);
    for (uint32_t level = 0; level <= request->height; level++)
        on[level] = on_paths(request->height, level, request->queries);
    for (uint32_t level = 0; level < request->height; level++)
        c.batch_hashes += 2 * on[level + 1] - on[level];
    for (uint32_t d = 0; d <= request->height; d++) {
        if (!fill_row(request, d, on, &c.row[d]))
            return pbi_fail(ctx, PB_ERANGE, "the work of one proof passes 2^64; use smaller prices or a lower tree");
        if (c.row[d].fits && c.winner == UINT32_MAX)
            c.winner = d;
    }
    *out = c;
    return PB_OK;
}
