/* graph_dot.c -- reads directed graphs in the DOT language of Graphviz.
 *
 * Subgraphs nest, so their state is a stack of frames; nothing recurses. The nodes mentioned in a statement are on
 * another stack: an operand of an edge is a range of it, one node or all nodes of a subgraph.
 */
#include "base/arena.h"
#include "base/context.h"
#include "io/dot_scan.h"
#include "io/formats.h"
#include "io/node_table.h"

enum { MAX_NESTED = 1000, EDGES_PER_POLL = 1 << 16 };

typedef struct range {
    size_t from, to;
} range;

typedef enum expect { EXPECT_STATEMENT, EXPECT_OPERAND } expect;

/* One open `{`. */
typedef struct frame {
    pbi_node_row defaults; /* defaults from `node [...]` */
    size_t first;          /* its nodes are those mentioned from here on */
    expect next;
    range last; /* left operand of the arrow, when one is open */
} frame;

typedef struct reader {
    pb_context *ctx;
    pb_arena *scratch;
    pbi_dot dot;
    pbi_node_table table;
    frame *frames;
    size_t depth, frame_room;
    pb_node *mentioned;
    size_t mentioned_count, mentioned_room;
    pb_buffer held; /* a name or key, while the next token is read */
    uint64_t edges;
} reader;

typedef enum attribute_of { OF_NODE, OF_GRAPH, OF_NOTHING } attribute_of;

static frame *top(reader *r) { return &r->frames[r->depth - 1]; }

static bool is_sign(const reader *r, char sign) { return r->dot.sign == sign; }

static bool begins_subgraph(const reader *r) { return is_sign(r, '{') || pbi_dot_is_keyword(&r->dot, "subgraph"); }

static pb_status hold(reader *r)
{
    r->held.length = 0;
    return pbi_bytes_add(&r->held, r->dot.token.bytes, r->dot.token.length + 1) ? PB_OK : PB_ENOMEM;
}

static pbi_slice held(const reader *r) { return (pbi_slice){r->held.bytes, r->held.length - 1}; }

static pb_status set(reader *r, attribute_of of, pbi_node_row *row, pbi_slice value, pbi_place place)
{
    bool known;
    if (of == OF_NODE)
        return pbi_node_table_set(&r->table, row, held(r), value, place, &known);
    if (of == OF_GRAPH && !(held(r).length == 4 && memcmp(held(r).bytes, "name", 4) == 0))
        return pbi_node_table_set_graph(&r->table, held(r), value, place, &known);
    return PB_OK;
}

/* [a=b, c; d=e] [...]: the token is the first '['; ends after the last ']'. A key alone means true. */
static pb_status read_attributes(reader *r, attribute_of of, pbi_node_row *row)
{
    pb_status status = PB_OK;
    while (status == PB_OK && is_sign(r, '[')) {
        status = pbi_dot_next(&r->dot);
        while (status == PB_OK && !is_sign(r, ']')) {
            if (!pbi_dot_is_name(&r->dot))
                return pbi_dot_unexpected(&r->dot, "an attribute or ']'");
            pbi_place place = r->dot.place;
            status = hold(r);
            if (status == PB_OK)
                status = pbi_dot_next(&r->dot);
            pbi_slice value = {"true", 4};
            bool valued = status == PB_OK && is_sign(r, '=');
            if (valued)
                status = pbi_dot_next(&r->dot);
            if (status == PB_OK && valued) {
                if (!pbi_dot_is_name(&r->dot) && r->dot.kind != PBI_DOT_HTML)
                    return pbi_dot_unexpected(&r->dot, "a value after '='");
                value = (pbi_slice){r->dot.token.bytes, r->dot.token.length};
                place = r->dot.place;
            }
            if (status == PB_OK)
                status = set(r, of, row, value, place);
            if (status == PB_OK && valued)
                status = pbi_dot_next(&r->dot);
            if (status == PB_OK && (is_sign(r, ',') || is_sign(r, ';')))
                status = pbi_dot_next(&r->dot);
        }
        if (status == PB_OK)
            status = pbi_dot_next(&r->dot);
    }
    return status;
}

static pb_status mention(reader *r, pb_node v)
{
    void *items = r->mentioned;
    if (!pbi_arena_reserve(r->scratch, &items, &r->mentioned_room, r->mentioned_count + 1, sizeof *r->mentioned))
        return PB_ENOMEM;
    r->mentioned = items;
    r->mentioned[r->mentioned_count++] = v;
    return PB_OK;
}

static pb_status connect(reader *r, range from, range to, pbi_place place)
{
    for (size_t i = from.from; i < from.to; i++)
        for (size_t k = to.from; k < to.to; k++) {
            pb_node u = r->mentioned[i], v = r->mentioned[k];
            if (u == v)
                return pbi_fail_at(r->ctx, PB_EGRAPH, place.line, place.column,
                                   "an edge leads from node \"%.80s\" to itself; remove it",
                                   r->table.text.bytes + r->table.start[u]);
            pb_status status = pb_builder_add_edge(r->table.builder, u, v);
            if (status == PB_OK && ++r->edges % EDGES_PER_POLL == 0)
                status = pbi_poll(r->ctx);
            if (status != PB_OK)
                return status;
        }
    return PB_OK;
}

/* After the token behind an operand: an arrow, attributes, or the end of the statement. */
static pb_status after_operand(reader *r, range operand, bool single, pbi_place place)
{
    frame *f = top(r);
    bool chained = f->next == EXPECT_OPERAND;
    pb_status status = chained ? connect(r, f->last, operand, place) : PB_OK;
    if (status != PB_OK)
        return status;
    f->next = EXPECT_STATEMENT;
    if (r->dot.kind == PBI_DOT_LINE)
        return pbi_text_fail(r->dot.text, r->dot.place, "'--' has no direction; write '->' in a digraph");
    if (r->dot.kind == PBI_DOT_ARROW) {
        f->last = operand;
        f->next = EXPECT_OPERAND;
        return pbi_dot_next(&r->dot);
    }
    if (is_sign(r, '[')) {
        if (!single && !chained)
            return pbi_dot_unexpected(&r->dot, "a statement: attributes do not follow a subgraph");
        /* The row may move while its texts are stored, so a copy is filled. */
        pb_node v = r->mentioned[operand.from];
        pbi_node_row row = r->table.row[v];
        status = read_attributes(r, chained ? OF_NOTHING : OF_NODE, &row);
        if (!chained)
            r->table.row[v] = row;
    }
    if (r->depth == 1) /* no subgraph needs them */
        r->mentioned_count = 0;
    return status;
}

/* Ports (a:n, a:p:se) only affect drawing; they are skipped. */
static pb_status skip_port(reader *r)
{
    pb_status status = PB_OK;
    for (int i = 0; i < 2 && status == PB_OK && is_sign(r, ':'); i++) {
        status = pbi_dot_next(&r->dot);
        if (status == PB_OK && !pbi_dot_is_name(&r->dot))
            return pbi_dot_unexpected(&r->dot, "a port after ':'");
        if (status == PB_OK)
            status = pbi_dot_next(&r->dot);
    }
    return status;
}

/* The held name is a node; the next token was taken. */
static pb_status node_operand(reader *r, pbi_place place)
{
    pb_node v;
    pb_status status = pbi_node_table_get(&r->table, held(r).bytes, held(r).length, &top(r)->defaults, place, &v);
    if (status == PB_OK)
        status = mention(r, v);
    if (status == PB_OK)
        status = skip_port(r);
    if (status != PB_OK)
        return status;
    return after_operand(r, (range){r->mentioned_count - 1, r->mentioned_count}, true, place);
}

/* A subgraph with a name is a group: `cluster_x` is group x. */
static pb_status name_group(reader *r, uint64_t *group)
{
    const char *name = r->dot.token.bytes;
    size_t length = r->dot.token.length;
    if (length > 7 && memcmp(name, "cluster", 7) == 0) {
        size_t prefix = name[7] == '_' && length > 8 ? 8 : 7;
        name += prefix;
        length -= prefix;
    }
    return pbi_node_table_keep(&r->table, name, length, group);
}

static pb_status push_frame(reader *r, const pbi_node_row *defaults)
{
    if (r->depth == MAX_NESTED)
        return pbi_text_fail(r->dot.text, r->dot.place, "subgraphs are nested more than %d deep; flatten them",
                             MAX_NESTED);
    void *items = r->frames;
    if (!pbi_arena_reserve(r->scratch, &items, &r->frame_room, r->depth + 1, sizeof *r->frames))
        return PB_ENOMEM;
    r->frames = items;
    r->frames[r->depth++] = (frame){.defaults = *defaults, .first = r->mentioned_count};
    return pbi_dot_next(&r->dot);
}

static pb_status open_subgraph(reader *r)
{
    pbi_node_row defaults = top(r)->defaults;
    pb_status status = PB_OK;
    if (!is_sign(r, '{')) {
        status = pbi_dot_next(&r->dot);
        if (status == PB_OK && pbi_dot_is_name(&r->dot)) {
            status = name_group(r, &defaults.group);
            if (status == PB_OK)
                status = pbi_dot_next(&r->dot);
        }
        if (status == PB_OK && !is_sign(r, '{'))
            return pbi_dot_unexpected(&r->dot, "'{' after subgraph");
    }
    return status == PB_OK ? push_frame(r, &defaults) : status;
}

/* The token is '}' of a subgraph: all its nodes are an operand of the outer frame. */
static pb_status close_subgraph(reader *r)
{
    range operand = {top(r)->first, r->mentioned_count};
    pbi_place place = r->dot.place;
    r->depth--;
    pb_status status = pbi_dot_next(&r->dot);
    return status == PB_OK ? after_operand(r, operand, false, place) : status;
}

/* graph [...], node [...] and edge [...] set defaults from here on. */
static pb_status read_defaults(reader *r)
{
    attribute_of of = pbi_dot_is_keyword(&r->dot, "node")                     ? OF_NODE
                      : pbi_dot_is_keyword(&r->dot, "graph") && r->depth == 1 ? OF_GRAPH
                                                                              : OF_NOTHING;
    pb_status status = pbi_dot_next(&r->dot);
    if (status == PB_OK && !is_sign(r, '['))
        return pbi_dot_unexpected(&r->dot, "'[' after node, edge or graph");
    pbi_node_row row = top(r)->defaults;
    if (status == PB_OK)
        status = read_attributes(r, of, &row);
    top(r)->defaults = row;
    return status;
}

/* The token is a name: `key = value` of the graph, or a node. */
static pb_status read_named(reader *r)
{
    pbi_place place = r->dot.place;
    pb_status status = hold(r);
    if (status == PB_OK)
        status = pbi_dot_next(&r->dot);
    if (status != PB_OK || !is_sign(r, '=') || top(r)->next == EXPECT_OPERAND)
        return status == PB_OK ? node_operand(r, place) : status;
    status = pbi_dot_next(&r->dot);
    if (status == PB_OK && !pbi_dot_is_name(&r->dot) && r->dot.kind != PBI_DOT_HTML)
        return pbi_dot_unexpected(&r->dot, "a value after '='");
    pbi_slice value = {r->dot.token.bytes, r->dot.token.length};
    if (status == PB_OK)
        status = set(r, r->depth == 1 ? OF_GRAPH : OF_NOTHING, NULL, value, r->dot.place);
    return status == PB_OK ? pbi_dot_next(&r->dot) : status;
}

/* One step of the body: a statement or operand, from its first token. */
static pb_status step(reader *r)
{
    bool operand = top(r)->next == EXPECT_OPERAND;
    if (begins_subgraph(r))
        return open_subgraph(r);
    bool reserved = pbi_dot_is_keyword(&r->dot, "node") || pbi_dot_is_keyword(&r->dot, "edge") ||
                    pbi_dot_is_keyword(&r->dot, "graph");
    if (operand && (!pbi_dot_is_name(&r->dot) || reserved))
        return pbi_dot_unexpected(&r->dot, "a node or subgraph after '->'");
    if (is_sign(r, ';'))
        return pbi_dot_next(&r->dot);
    if (is_sign(r, '}'))
        return close_subgraph(r);
    if (reserved)
        return read_defaults(r);
    if (pbi_dot_is_name(&r->dot) && !pbi_dot_is_keyword(&r->dot, "digraph") && !pbi_dot_is_keyword(&r->dot, "strict"))
        return read_named(r);
    return pbi_dot_unexpected(&r->dot, "a statement or '}'");
}

/* [strict] digraph [name] {; ends after the brace. */
static pb_status read_head(reader *r)
{
    pb_status status = pbi_dot_next(&r->dot);
    if (status == PB_OK && pbi_dot_is_keyword(&r->dot, "strict"))
        status = pbi_dot_next(&r->dot);
    if (status != PB_OK)
        return status;
    if (pbi_dot_is_keyword(&r->dot, "graph"))
        return pbi_text_fail(r->dot.text, r->dot.place,
                             "this graph is undirected; write digraph, with '->' from an input to its reader");
    if (!pbi_dot_is_keyword(&r->dot, "digraph"))
        return pbi_dot_unexpected(&r->dot, "digraph");
    status = pbi_dot_next(&r->dot);
    if (status == PB_OK && pbi_dot_is_name(&r->dot)) {
        status = pb_builder_set_texts(r->table.builder, r->dot.token.bytes, NULL, NULL);
        if (status == PB_OK)
            status = pbi_dot_next(&r->dot);
    }
    if (status == PB_OK && !is_sign(r, '{'))
        return pbi_dot_unexpected(&r->dot, "'{'");
    return status == PB_OK ? push_frame(r, &PBI_NODE_STANDARD) : status;
}

static pb_status read_document(reader *r)
{
    pb_status status = read_head(r);
    while (status == PB_OK && !(r->depth == 1 && top(r)->next == EXPECT_STATEMENT && is_sign(r, '}')))
        status = step(r);
    if (status == PB_OK)
        status = pbi_dot_next(&r->dot);
    if (status == PB_OK && r->dot.kind != PBI_DOT_END)
        return pbi_dot_unexpected(&r->dot, "nothing after the graph");
    return status;
}

pb_status pbi_graph_dot_read(pbi_text *text, pb_arena *scratch, pb_arena *result, const pb_graph **out)
{
    reader r = {.ctx = text->ctx, .scratch = scratch};
    pbi_dot_init(&r.dot, text, scratch);
    pb_buffer_init(&r.held, scratch);
    pb_status status = pbi_node_table_init(&r.table, text->ctx, scratch);
    if (status != PB_OK)
        return status;
    status = read_document(&r);
    if (status == PB_OK)
        status = pbi_node_table_freeze(&r.table, result, out);
    pbi_node_table_release(&r.table);
    return status;
}
