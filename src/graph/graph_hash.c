/* graph_hash.c -- SHA-256 of the canonical text of a graph; docs/formats.md has the bytes. */
#include "base/context.h"
#include "base/out.h"
#include "pebble/graph.h"

#include <openssl/evp.h>
#include <string.h>

static pb_status digest_write(void *state, const char *bytes, size_t length)
{
    return EVP_DigestUpdate(state, bytes, length) == 1 ? PB_OK : PB_EBUG;
}

static void write_text(pbi_out *out, const char *text)
{
    pbi_out_u64(out, strlen(text));
    pbi_out_char(out, ':');
    pbi_out_text(out, text);
}

static void write_node(pbi_out *out, const pb_graph *g, pb_node v)
{
    uint16_t flags = g->flags[v];
    pbi_out_text(out, "node ");
    write_text(out, pb_graph_name(g, v));
    const uint64_t numbers[] = {g->cost[v], g->size[v], g->workspace[v]};
    for (int i = 0; i < 3; i++) {
        pbi_out_char(out, ' ');
        pbi_out_u64(out, numbers[i]);
    }
    pbi_out_char(out, ' ');
    pbi_out_char(out, flags & PB_NODE_GIVEN_SLOW ? 's' : flags & PB_NODE_GIVEN ? 'g' : '-');
    pbi_out_char(out, flags & PB_NODE_ONCE ? 'o' : '-');
    pbi_out_char(out, flags & PB_NODE_KEEP ? 'k' : '-');
    pbi_out_char(out, flags & PB_NODE_TARGET ? 't' : '-');
    if (flags & PB_NODE_BYPRODUCT) {
        pbi_out_text(out, " of ");
        pbi_out_u64(out, g->owner[v]);
    }
    if (g->group && g->group[v] != UINT32_MAX) {
        pbi_out_text(out, " in ");
        write_text(out, g->group_names[g->group[v]]);
    }
    pbi_out_char(out, '\n');
}

static void write_pairs(pbi_out *out, const char *word, const pb_graph *g, const uint32_t *start, const pb_node *row)
{
    for (pb_node v = 0; start && v < g->node_count; v++)
        for (uint32_t k = start[v]; k < start[v + 1]; k++) {
            pbi_out_text(out, word);
            pbi_out_u64(out, v);
            pbi_out_char(out, ' ');
            pbi_out_u64(out, row[k]);
            pbi_out_char(out, '\n');
        }
}

static pb_status write_canonical(pb_context *ctx, const pb_graph *g, EVP_MD_CTX *digest)
{
    pbi_out out;
    pbi_out_init(&out, ctx, (pb_sink){digest_write, digest});
    pbi_out_text(&out, "pebble-graph/1\nfixed_size ");
    pbi_out_u64(&out, g->fixed_size);
    pbi_out_char(&out, '\n');
    for (pb_node v = 0; v < g->node_count; v++)
        write_node(&out, g, v);
    write_pairs(&out, "edge ", g, g->out_start, g->out);
    write_pairs(&out, "inplace ", g, g->inplace_start, g->inplace);
    for (uint32_t i = 0; i < g->order_count; i++) {
        pbi_out_text(&out, "order ");
        pbi_out_u64(&out, g->order[i]);
        pbi_out_char(&out, '\n');
    }
    return pbi_out_finish(&out);
}

pb_status pb_graph_hash(pb_context *ctx, const pb_graph *g, char hash[PB_HASH_TEXT])
{
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    if (!digest)
        return pbi_fail(ctx, PB_ENOMEM, "out of memory for a hash");
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    pb_status status = EVP_DigestInit_ex(digest, EVP_sha256(), NULL) == 1 ? write_canonical(ctx, g, digest) : PB_EBUG;
    if (status == PB_OK && EVP_DigestFinal_ex(digest, bytes, &length) != 1)
        status = PB_EBUG;
    EVP_MD_CTX_free(digest);
    if (status != PB_OK)
        return pbi_fail(ctx, status, "SHA-256 is not available from the crypto library");
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < 32; i++) {
        hash[2 * i] = digits[bytes[i] >> 4];
        hash[2 * i + 1] = digits[bytes[i] & 15];
    }
    hash[64] = '\0';
    return PB_OK;
}
