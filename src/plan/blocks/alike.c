/* alike.c -- a network repeats its blocks: the ways found for one serve all identical ones. */
#include "base/arena.h"
#include "plan/blocks/maker.h"

#include <string.h>

static bool add_word(pbi_block_maker *m, uint64_t word)
{
    void *items = m->word;
    if (!pbi_arena_reserve(m->arena, &items, &m->word_room, m->word_count + 1, sizeof *m->word))
        return false;
    m->word = items;
    m->word[m->word_count++] = word;
    return true;
}

/* A value, described by the distance of its producer from the block's first forward or backward node. */
static bool add_value(pbi_block_maker *m, pb_node u)
{
    const pbi_block_chain *c = m->c;
    pb_node maker_of = pb_graph_maker(m->g, u);
    uint64_t part = maker_of == u ? 0 : 1;
    while (part && m->g->part[m->g->part_start[maker_of] + part - 1] != u)
        part++;
    bool back = m->position[maker_of] != PBI_BLOCK_NEVER && c->role[u] == PBI_BACKWARD;
    uint32_t start = back ? c->backward_start[m->block] : c->forward_start[m->block];
    uint64_t far = u == m->left ? 0 : (uint64_t)m->position[maker_of] - start;
    uint64_t stays = back && m->lowest[u] < m->block;
    return add_word(m, (uint64_t)(u == m->left) | back << 1 | stays << 2 | (uint64_t)c->role[u] << 3 | part << 8 |
                           far << 24) &&
           add_word(m, m->g->size[u]);
}

static bool add_node(pbi_block_maker *m, pb_node v)
{
    const pb_graph *g = m->g;
    uint32_t parts = pbi_block_parts(g, v), inputs = g->in_start[v + 1] - g->in_start[v];
    uint32_t over = g->inplace_start ? g->inplace_start[v + 1] - g->inplace_start[v] : 0;
    bool fine = add_value(m, v) && add_word(m, g->cost[v]) && add_word(m, g->workspace[v]) &&
                add_word(m, g->flags[v]) && add_word(m, pbi_block_always_runs(m, v)) &&
                add_word(m, (uint64_t)parts << 42 | (uint64_t)inputs << 21 | over);
    for (uint32_t k = 0; k < inputs && fine; k++)
        fine = add_value(m, g->in[g->in_start[v] + k]);
    for (uint32_t k = 0; k < parts && fine; k++)
        fine = add_value(m, g->part[g->part_start[v] + k]);
    for (uint32_t k = 0; k < over && fine; k++)
        fine = add_value(m, g->inplace[g->inplace_start[v] + k]);
    return fine;
}

static bool describe(pbi_block_maker *m)
{
    const pbi_block_chain *c = m->c;
    uint32_t first = c->forward_start[m->block], end = c->forward_start[m->block + 1];
    uint32_t back = c->backward_start[m->block], back_end = c->backward_start[m->block + 1];
    m->word_count = 0;
    bool fine = add_word(m, end - first) && add_word(m, back_end - back) && add_word(m, m->block == c->count) &&
                add_word(m, m->left == PB_NO_NODE ? UINT64_MAX : m->g->size[m->left]) &&
                add_word(m, m->right == PB_NO_NODE) && (m->right == PB_NO_NODE || add_value(m, m->right));
    for (uint32_t p = first; p < end && fine; p++)
        fine = add_node(m, c->forward[p]);
    for (uint32_t p = back; p < back_end && fine; p++)
        fine = add_node(m, c->backward[p]);
    return fine;
}

/* The identical block, 0 for none; a new description is remembered. */
uint32_t pbi_block_find_alike(pbi_block_maker *m, pb_status *status)
{
    uint64_t hash = 0xcbf29ce484222325u;
    *status = describe(m) ? PB_OK : PB_ENOMEM;
    for (size_t i = 0; i < m->word_count; i++)
        hash = (hash ^ m->word[i]) * 0x100000001b3u;
    for (uint32_t i = 0; i < m->known_count && *status == PB_OK; i++) {
        const pbi_block_portrait *k = &m->known[i];
        if (k->hash == hash && k->count == m->word_count && !memcmp(k->word, m->word, k->count * sizeof *k->word))
            return k->block;
    }
    if (*status != PB_OK || m->known_count == PBI_BLOCKS_KNOWN)
        return 0;
    uint64_t *word = pb_arena_alloc(m->arena, m->word_count, sizeof *word);
    if (!word) {
        *status = PB_ENOMEM;
        return 0;
    }
    memcpy(word, m->word, m->word_count * sizeof *word);
    m->known[m->known_count++] = (pbi_block_portrait){word, m->word_count, hash, m->block};
    return 0;
}

/* The same computations in this block. */
static pb_status copy_list(pbi_block_maker *m, pbi_block_nodes from, uint32_t other, pbi_block_nodes *to)
{
    const pbi_block_chain *c = m->c;
    pb_status status = PB_OK;
    to->start = (uint32_t)m->event_count;
    to->count = from.count;
    for (uint32_t i = 0; i < from.count && status == PB_OK; i++) {
        pb_node v = m->event[from.start + i];
        uint32_t at = m->position[v];
        bool forward = at >= c->forward_start[other] && at < c->forward_start[other + 1] && c->forward[at] == v;
        status =
            pbi_block_add_event(m, forward ? c->forward[at - c->forward_start[other] + c->forward_start[m->block]]
                                           : c->backward[at - c->backward_start[other] + c->backward_start[m->block]]);
    }
    return status;
}

pb_status pbi_block_copy(pbi_block_maker *m, const pbi_block *from, uint32_t other, pbi_block *to)
{
    *to = *from;
    to->way = (uint32_t)m->way_count;
    pb_status status = copy_list(m, m->plain[other], other, &m->plain[m->block]);
    for (uint32_t n = 0; n < from->way_count && status == PB_OK; n++) {
        if (!pbi_block_grow(m))
            return PB_ENOMEM;
        pbi_block_way w = m->way[from->way + n];
        pbi_block_nodes forward, backward;
        /* the memory of other gradients at this place may differ */
        w.backward += m->gradient[m->block] - m->gradient[other];
        status = copy_list(m, m->forward[from->way + n], other, &forward);
        if (status == PB_OK)
            status = copy_list(m, m->backward[from->way + n], other, &backward);
        if (status != PB_OK)
            break;
        m->way[m->way_count] = w;
        m->forward[m->way_count] = forward;
        m->backward[m->way_count++] = backward;
    }
    return status;
}
