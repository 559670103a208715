/* graph_hash.c -- SHA-256 of the canonical text of a graph; docs/formats.md has the bytes. */
#include "base/context.h"
#include "base/out.h"
#include "base/sha256.h"
#include "machine/machine_parts.h"
#include "pebble/graph.h"

#include <string.h>

static pb_status digest_write(void *state, const char *bytes, size_t length)
{
    return pbi_sha256_add(state, bytes, length) ? PB_OK : PB_ENOMEM;
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

static void write_word(pbi_out *out, const pb_graph *g, uint32_t word)
{
    pbi_out_char(out, ' ');
    if (word == PB_NO_WORD)
        pbi_out_char(out, '-');
    else
        write_text(out, g->words[word]);
}

static void write_stated(pbi_out *out, bool stated, uint64_t value)
{
    pbi_out_char(out, ' ');
    if (stated)
        pbi_out_u64(out, value);
    else
        pbi_out_char(out, '-');
}

/* What is for machines: only what the file has, so that the hashes of other graphs stay as they were. */
static void write_for_machines(pbi_out *out, const pb_graph *g)
{
    static const char *const kinds[] = {"time ", "on ", "in ", "keep "};
    for (pb_node v = 0; g->work && v < g->node_count; v++) {
        const pb_node_work *k = &g->work[v];
        if (!k->has_flops && !k->has_bytes && k->op == PB_NO_WORD && k->dtype == PB_NO_WORD)
            continue;
        pbi_out_text(out, "work ");
        pbi_out_u64(out, v);
        write_stated(out, k->has_flops, k->flops);
        write_stated(out, k->has_bytes, k->bytes);
        write_word(out, g, k->op);
        write_word(out, g, k->dtype);
        pbi_out_char(out, '\n');
    }
    for (pb_node v = 0; g->note && v < g->node_count; v++)
        for (uint32_t i = g->note_start[v]; i < g->note_start[v + 1]; i++) {
            const pb_note *n = &g->note[i];
            pbi_out_text(out, kinds[n->kind]);
            pbi_out_u64(out, v);
            write_word(out, g, n->word);
            if (n->kind == PB_NOTE_TIME)
                write_stated(out, true, n->value);
            pbi_out_char(out, '\n');
        }
    for (uint32_t i = 0; i < g->fixed_count; i++) {
        pbi_out_text(out, "fixed");
        write_word(out, g, g->fixed[i].word);
        write_stated(out, true, g->fixed[i].value);
        pbi_out_char(out, '\n');
    }
}

static void write_recipe_rows(pbi_out *out, const char *word, const pb_node *row, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        pbi_out_text(out, word);
        pbi_out_u64(out, row[i]);
        pbi_out_char(out, '\n');
    }
}

static void write_recipe(pbi_out *out, const pb_graph *g, pb_node v, const pb_recipe *r)
{
    pbi_out_text(out, "recipe ");
    pbi_out_u64(out, v);
    pbi_out_char(out, ' ');
    write_text(out, r->name);
    write_stated(out, true, r->cost);
    write_stated(out, true, r->workspace);
    write_stated(out, r->work.has_flops, r->work.flops);
    write_stated(out, r->work.has_bytes, r->work.bytes);
    write_word(out, g, r->work.op);
    write_word(out, g, r->work.dtype);
    pbi_out_char(out, '\n');
    write_recipe_rows(out, "reads ", r->in, r->in_count);
    write_recipe_rows(out, "over ", r->inplace, r->inplace_count);
    for (uint32_t i = 0; i < r->time_count; i++) {
        pbi_out_text(out, "takes");
        write_word(out, g, r->time[i].word);
        write_stated(out, true, r->time[i].value);
        pbi_out_char(out, '\n');
    }
}

static pb_status count_write(void *state, const char *bytes, size_t length)
{
    (void)bytes;
    *(uint64_t *)state += length;
    return PB_OK;
}

static void write_machine(pbi_out *out, const pb_machine *m)
{
    uint64_t length = 0;
    pbi_out counting;
    pbi_out_init(&counting, out->ctx, (pb_sink){count_write, &length});
    pbi_machine_write(&counting, m, false);
    (void)pbi_out_finish(&counting);
    pbi_out_text(out, "machine ");
    pbi_out_u64(out, length);
    pbi_out_char(out, ':');
    pbi_machine_write(out, m, false);
    pbi_out_char(out, '\n');
}

static pb_status write_canonical(pb_context *ctx, const pb_graph *g, pbi_sha256 *digest)
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
    write_for_machines(&out, g);
    for (pb_node v = 0; g->recipe_start && v < g->node_count; v++)
        for (uint32_t i = g->recipe_start[v]; i < g->recipe_start[v + 1]; i++)
            write_recipe(&out, g, v, &g->recipe[i]);
    if (g->machine)
        write_machine(&out, g->machine);
    return pbi_out_finish(&out);
}

pb_status pb_graph_hash(pb_context *ctx, const pb_graph *g, char hash[PB_HASH_TEXT])
{
    pbi_sha256 digest;
    unsigned char bytes[PBI_SHA256_BYTES];
    g = g->unpriced ? g->unpriced : g;
    if (!pbi_sha256_begin(&digest) || write_canonical(ctx, g, &digest) != PB_OK || !pbi_sha256_end(&digest, bytes))
        return pbi_sha256_failed(ctx);
    pbi_sha256_text(bytes, hash);
    return PB_OK;
}
