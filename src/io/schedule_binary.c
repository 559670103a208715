/* schedule_binary.c -- the compact binary form of pebble-schedule/1 (.pbs).
 *
 * Eight bytes of magic, a version byte, the document without its moves as length and JSON, the number of moves, the
 * moves, and the CRC-32 of everything before it. Numbers are varints: seven bits per byte, low bits first. A move
 * is one byte (operation, what follows, tier) and the zigzag difference to the node of the previous move; in the timed
 * game, the place and the time since the move before follow. Nothing is allocated for a count in the file: memory grows
 * only with bytes that were read.
 */
#include "base/arena.h"
#include "base/context.h"
#include "io/formats.h"

#include <inttypes.h>
#include <stdio.h>

enum { BINARY_VERSION = 1, OP_BITS = 7, OVER_BIT = 8, ALSO_BIT = 16, BORROW_BIT = 32, RECIPE_BIT = 64, TIER_SHIFT = 5 };

typedef struct crc {
    uint32_t table[256], value;
} crc;

static void crc_init(crc *c)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t rest = i;
        for (int bit = 0; bit < 8; bit++)
            rest = rest & 1 ? rest >> 1 ^ 0xedb88320u : rest >> 1;
        c->table[i] = rest;
    }
    c->value = UINT32_MAX;
}

static void crc_add(crc *c, const char *bytes, size_t length)
{
    uint32_t value = c->value;
    for (size_t i = 0; i < length; i++)
        value = c->table[(value ^ (unsigned char)bytes[i]) & 255] ^ value >> 8;
    c->value = value;
}

static bool has_tier(unsigned op) { return op == PB_STORE || op == PB_LOAD || op == PB_DROP; }

/* ---- writing ---- */

typedef struct summed_sink {
    crc sum;
    pb_sink sink;
} summed_sink;

static pb_status summed_write(void *state, const char *bytes, size_t length)
{
    summed_sink *summed = state;
    crc_add(&summed->sum, bytes, length);
    return summed->sink.write(summed->sink.state, bytes, length);
}

static void write_varint(pbi_out *out, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        pbi_out_char(out, (char)(value | 128));
    pbi_out_char(out, (char)value);
}

static void write_difference(pbi_out *out, uint32_t from, uint32_t to)
{
    uint64_t size = to >= from ? (uint64_t)to - from : (uint64_t)from - to;
    write_varint(out, to >= from ? size << 1 : (size << 1) - 1);
}

static void write_move(pbi_out *out, const pb_moves *moves, pb_step k, pb_node before)
{
    const pb_move *move = &moves->move[k];
    pb_node over = pb_moves_over(moves, k);
    uint32_t count;
    const pb_node *also = pb_moves_also(moves, k, &count);
    unsigned head = move->op;
    head |= over != PB_NO_NODE ? OVER_BIT : 0u;
    head |= count ? ALSO_BIT : 0u;
    head |= move->flags & PB_MOVE_BORROW ? BORROW_BIT : 0u; /* in the bits that other moves use for their tier */
    head |= move->by ? RECIPE_BIT : 0u;
    head |= has_tier(move->op) ? (unsigned)(move->tier - 1) << TIER_SHIFT : 0u;
    pbi_out_char(out, (char)head);
    write_difference(out, before, move->node);
    if (move->by)
        write_varint(out, move->by);
    if (over != PB_NO_NODE)
        write_difference(out, move->node, over);
    if (count)
        write_varint(out, count);
    for (uint32_t i = 0; i < count; i++)
        write_difference(out, move->node, also[i]);
    if (moves->when) {
        write_varint(out, moves->when[k].place);
        write_varint(out, moves->when[k].at - (k ? moves->when[k - 1].at : 0)); /* modulo 2^64 if they are not sorted */
    }
}

/* The document without moves, as text in `arena`. */
static pb_status make_header(pb_context *ctx, const pb_schedule *s, pb_buffer *header)
{
    pbi_out out;
    pbi_out_init(&out, ctx, pb_sink_buffer(header));
    pbi_schedule_json_members(&out, s, true);
    pbi_out_char(&out, '}');
    return pbi_out_finish(&out);
}

static pb_status write_all(pb_context *ctx, const pb_schedule *s, const pb_buffer *header, pb_sink sink)
{
    summed_sink summed = {.sink = sink};
    crc_init(&summed.sum);
    pbi_out out;
    pbi_out_init(&out, ctx, (pb_sink){summed_write, &summed});
    pbi_out_bytes(&out, PBI_BINARY_MAGIC, PBI_BINARY_MAGIC_BYTES);
    pbi_out_char(&out, BINARY_VERSION);
    write_varint(&out, header->length);
    pbi_out_bytes(&out, header->bytes, header->length);
    write_varint(&out, s->moves.count);
    pb_node before = 0;
    for (pb_step k = 0; k < s->moves.count; k++) {
        write_move(&out, &s->moves, k, before);
        before = s->moves.move[k].node;
    }
    pb_status status = pbi_out_finish(&out);
    uint32_t sum = ~summed.sum.value;
    char bytes[4] = {(char)sum, (char)(sum >> 8), (char)(sum >> 16), (char)(sum >> 24)};
    return status == PB_OK ? sink.write(sink.state, bytes, sizeof bytes) : status;
}

pb_status pbi_schedule_binary_write(pb_context *ctx, const pb_schedule *s, pb_sink sink)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_buffer header;
    pb_buffer_init(&header, &scratch);
    pb_status status = make_header(ctx, s, &header);
    if (status == PB_OK)
        status = write_all(ctx, s, &header, sink);
    pb_arena_release(&scratch);
    return status;
}

/* ---- reading ---- */

typedef struct reader {
    pb_context *ctx;
    pbi_text *text;
    crc sum;
    const char *summed; /* bytes before it are in the checksum */
    pb_arena *scratch;
    pb_moves *moves;
    uint32_t node_limit;
    pb_node *also;
    size_t also_room;
    bool timed;
    uint64_t at; /* of the move before */
    const pb_machine *machine;
} reader;

#define DAMAGED "; the file is damaged: write it again" /* the end of messages about impossible bytes */

static pb_status refuse(reader *r, const char *why)
{
    if (r->text->status != PB_OK)
        return r->text->status;
    return pbi_fail(r->ctx, PB_EFORMAT, "byte %" PRIu64 " of the binary schedule: %s", pbi_text_offset(r->text), why);
}

static pb_status more_bytes(reader *r)
{
    crc_add(&r->sum, r->summed, (size_t)(r->text->at - r->summed));
    bool more = pbi_text_more(r->text);
    r->summed = r->text->at;
    return more ? PB_OK : refuse(r, "the file ends too early" DAMAGED);
}

static pb_status read_byte(reader *r, unsigned *out)
{
    pb_status status = r->text->at < r->text->end ? PB_OK : more_bytes(r);
    if (status == PB_OK)
        *out = (unsigned char)*r->text->at++;
    return status;
}

static pb_status read_varint(reader *r, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned byte;
        pb_status status = read_byte(r, &byte);
        if (status != PB_OK)
            return status;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = value;
            return PB_OK;
        }
    }
    return refuse(r, "a number has more than 64 bits" DAMAGED);
}

/* A node as the difference to another. */
static pb_status read_node(reader *r, pb_node from, pb_node *out)
{
    uint64_t code;
    pb_status status = read_varint(r, &code);
    if (status != PB_OK)
        return status;
    uint64_t size = (code >> 1) + (code & 1);
    if (code & 1 ? size > from : size >= r->node_limit || from + size >= r->node_limit)
        return refuse(r, "a move names a node that the graph does not have; pass the graph of this schedule");
    *out = (pb_node)(code & 1 ? from - size : from + size);
    return PB_OK;
}

static pb_status read_also(reader *r, pb_node node, uint32_t *count)
{
    uint64_t expected;
    pb_status status = read_varint(r, &expected);
    if (status == PB_OK && (expected == 0 || expected > UINT32_MAX - 2))
        return refuse(r, "a move has too many by-products" DAMAGED);
    for (*count = 0; status == PB_OK && *count < expected; ++*count) {
        void *items = r->also;
        if (!pbi_arena_reserve(r->scratch, &items, &r->also_room, (size_t)*count + 1, sizeof *r->also))
            return PB_ENOMEM;
        r->also = items;
        status = read_node(r, node, &r->also[*count]);
    }
    return status;
}

static pb_status read_move(reader *r, pb_node *before)
{
    unsigned head;
    pb_status status = read_byte(r, &head);
    if (status != PB_OK)
        return status;
    unsigned op = head & OP_BITS, tier = head >> TIER_SHIFT;
    bool over_set = head & OVER_BIT, also_set = head & ALSO_BIT;
    bool borrowed = op == PB_COMPUTE && tier == 1 && !over_set && !also_set;
    bool recipe = op == PB_COMPUTE && tier == RECIPE_BIT >> TIER_SHIFT && !also_set;
    tier = borrowed || recipe ? 0 : tier;
    if (op >= PB_OP_COUNT || (op == PB_COPY && !r->timed) || ((over_set || also_set) && op != PB_COMPUTE) ||
        tier >= (has_tier(op) ? PB_MAX_TIERS : 1u))
        return refuse(r, "there is no such move" DAMAGED);
    pb_node node, over = PB_NO_NODE;
    uint32_t count = 0;
    uint64_t by = 0;
    status = read_node(r, *before, &node);
    if (status == PB_OK && recipe)
        status = read_varint(r, &by);
    if (status == PB_OK && recipe && (by < 1 || by > PB_MAX_RECIPES))
        return refuse(r, "a move has a recipe out of range" DAMAGED);
    if (status == PB_OK && over_set)
        status = read_node(r, node, &over);
    if (status == PB_OK && also_set)
        status = read_also(r, node, &count);
    if (status != PB_OK)
        return status;
    *before = node;
    if (recipe)
        return pb_moves_add_recipe(r->moves, node, (uint32_t)by, over);
    if (borrowed)
        return pb_moves_add_borrowed(r->moves, node);
    if (op == PB_COMPUTE)
        return pb_moves_add_compute(r->moves, node, over, r->also, count);
    return pb_moves_add(r->moves, (pb_op)op, node, has_tier(op) ? (uint8_t)(tier + 1) : 0);
}

/* Where and when the move that was just read happens. */
static pb_status read_when(reader *r)
{
    uint64_t place, step;
    pb_op op = (pb_op)r->moves->move[r->moves->count - 1].op;
    const pb_machine *m = r->machine;
    uint64_t parts = op == PB_COMPUTE ? m->processor_count : op == PB_COPY ? m->link_count : m->memory_count;
    pb_status status = read_varint(r, &place);
    if (status == PB_OK)
        status = read_varint(r, &step);
    if (status != PB_OK)
        return status;
    if (place >= parts || (op != PB_COMPUTE && op != PB_COPY && op != PB_FREE))
        return refuse(r, "a move is not on the schedule's machine" DAMAGED);
    r->at += step;
    return pb_moves_set_when(r->moves, (uint32_t)place, r->at);
}

static pb_status read_header(reader *r, const pb_graph *g, pb_arena *result, pb_schedule *out)
{
    uint64_t length;
    pb_status status = read_varint(r, &length);
    pb_buffer header;
    pb_buffer_init(&header, r->scratch);
    while (status == PB_OK && header.length < length) {
        size_t have = (size_t)(r->text->end - r->text->at);
        if (have > length - header.length)
            have = (size_t)(length - header.length);
        if (!pbi_bytes_add(&header, r->text->at, have))
            return PB_ENOMEM;
        r->text->at += have;
        if (header.length < length)
            status = more_bytes(r);
    }
    pbi_text text;
    pb_memory memory = {header.bytes, header.length, 0};
    if (status == PB_OK)
        status = pbi_text_init(&text, r->ctx, pb_source_memory(&memory), r->scratch);
    if (status == PB_OK)
        status = pbi_schedule_json_read(&text, r->scratch, g, false, result, out);
    if (status == PB_EFORMAT) {
        char why[sizeof r->ctx->error.message];
        snprintf(why, sizeof why, "%s", r->ctx->error.message);
        status = pbi_fail(r->ctx, PB_EFORMAT, "the header of the binary schedule: %.460s", why);
    }
    return status;
}

static pb_status read_checksum(reader *r)
{
    crc_add(&r->sum, r->summed, (size_t)(r->text->at - r->summed));
    pbi_text_ensure(r->text, 5);
    const unsigned char *c = (const unsigned char *)r->text->at;
    if (r->text->end - r->text->at < 4)
        return refuse(r, "the file ends too early" DAMAGED);
    if (r->text->end - r->text->at > 4)
        return refuse(r, "there are bytes after the end of the schedule" DAMAGED);
    uint32_t stated = c[0] | (uint32_t)c[1] << 8 | (uint32_t)c[2] << 16 | (uint32_t)c[3] << 24;
    return stated == (uint32_t)~r->sum.value ? PB_OK : refuse(r, "the checksum does not match" DAMAGED);
}

static pb_status read_all(reader *r, const pb_graph *g, pb_arena *result, pb_schedule *out)
{
    pbi_text *text = r->text;
    pbi_text_ensure(text, PBI_BINARY_MAGIC_BYTES + 1);
    if (text->end - text->at <= PBI_BINARY_MAGIC_BYTES ||
        memcmp(text->at, PBI_BINARY_MAGIC, PBI_BINARY_MAGIC_BYTES) != 0)
        return refuse(r, "the file does not begin as one does; check the path");
    text->at += PBI_BINARY_MAGIC_BYTES;
    if (*text->at++ != BINARY_VERSION)
        return refuse(r, "its version is unknown; use a newer pebble");
    pb_schedule s;
    pb_status status = read_header(r, g, result, &s);
    uint64_t count = 0;
    if (status == PB_OK)
        status = read_varint(r, &count);
    r->moves = &s.moves;
    pb_node before = 0;
    r->timed = status == PB_OK && s.game == PB_GAME_TIMED;
    r->machine = r->timed ? s.machine : NULL;
    for (uint64_t k = 0; status == PB_OK && k < count; k++) {
        status = read_move(r, &before);
        if (status == PB_OK && r->timed)
            status = read_when(r);
    }
    if (status == PB_OK)
        status = read_checksum(r);
    if (status == PB_OK)
        *out = s;
    return status;
}

pb_status pbi_schedule_binary_read(pbi_text *text, pb_arena *scratch, const pb_graph *g, pb_arena *result,
                                   pb_schedule *out)
{
    reader r = {.ctx = text->ctx, .text = text, .summed = text->at, .scratch = scratch};
    r.node_limit = g ? g->node_count : PB_MAX_NODES;
    crc_init(&r.sum);
    pbi_mark mark = pbi_arena_mark(result);
    pb_status status = read_all(&r, g, result, out);
    if (status != PB_OK)
        pbi_arena_rewind(result, mark);
    return status;
}
