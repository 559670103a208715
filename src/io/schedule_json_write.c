/* schedule_json_write.c -- writes pebble-schedule/1, and its summary without the moves. */
#include "base/checked.h"
#include "game/price.h"
#include "io/formats.h"
#include "io/schedule_reader.h"
#include "machine/machine_parts.h"

enum { MOVES_PER_LINE = 8, NUMBER_DIGITS = 15 };

const pbi_slice pbi_metric_names[PBI_METRICS] = {
    PBI_NAME("peak"),      PBI_NAME("work"),      PBI_NAME("io"),
    PBI_NAME("makespan"),  PBI_NAME("recompute"), PBI_NAME("recompute_count"),
    PBI_NAME("uncompute"), PBI_NAME("flux"),      PBI_NAME("moves"),
    PBI_NAME("depth"),     PBI_NAME("cost"),      PBI_NAME("overhead"),
    PBI_NAME("gap"),       PBI_NAME("borrowed"),  PBI_NAME("span"),
    PBI_NAME("peaks"),
};

/* A text, or null. */
static void write_text(pbi_out *out, const char *key, const char *text)
{
    pbi_out_text(out, key);
    if (text)
        pbi_out_json_text(out, text);
    else
        pbi_out_text(out, "null");
}

static void write_cap(pbi_out *out, const char *key, uint64_t cap)
{
    pbi_out_text(out, key);
    if (cap == PB_UNLIMITED)
        pbi_out_text(out, "null");
    else
        pbi_out_json_u64(out, cap);
}

/* Whole numbers as integers, others as decimals. */
static void write_price(pbi_out *out, const pb_tier *tier, pb_price which)
{
    char text[32];
    pb_tier_price_text(tier, which, text);
    if (!tier->digits)
        pbi_out_json_u64(out, pbi_tier_price(tier, which));
    else if (strlen(text) <= NUMBER_DIGITS)
        pbi_out_text(out, text);
    else
        pbi_out_json_text(out, text);
}

/* The links of a machine's tier; else its prices, and with `linked` the links that cost the same. */
static void write_tier(pbi_out *out, const pb_tier *tier, bool linked, uint32_t number)
{
    char before = '{';
    for (int which = 0; which < PB_PRICE_COUNT && !tier->store_link; which++, before = ',') {
        pbi_out_format(out, "%c\"%s\":", before, pb_price_name((pb_price)which));
        write_price(out, tier, (pb_price)which);
    }
    if (tier->store_link) {
        write_text(out, "{\"store\":", tier->store_link);
        write_text(out, ",\"load\":", tier->load_link);
    } else if (linked) {
        pbi_out_format(out, ",\"store\":\"store%u\",\"load\":\"load%u\"", number, number);
    }
    write_cap(out, ",\"cap\":", tier->cap);
    pbi_out_char(out, '}');
}

static void write_tiers(pbi_out *out, const pb_schedule *s)
{
    pbi_out_text(out, ",\"tiers\":[");
    for (uint32_t i = 0; i < s->tier_count; i++) {
        if (i)
            pbi_out_char(out, ',');
        write_tier(out, &s->tiers[i], s->linked, i + 1);
    }
    pbi_out_char(out, ']');
    if (s->machine) {
        pbi_out_text(out, ",\n\"machine\":");
        pbi_machine_write(out, s->machine, false);
    } else if (s->linked) {
        pbi_schedule_write_machine(out, s);
    }
}

/* Numbers that every reader represents exactly, and booleans, are written without quotes; the reader accepts both. */
static void write_option_value(pbi_out *out, const char *value)
{
    bool bare = strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ||
                (strlen(value) <= NUMBER_DIGITS && pbi_json_is_number(value));
    if (bare)
        pbi_out_text(out, value);
    else
        pbi_out_json_text(out, value);
}

static void write_options(pbi_out *out, const pb_schedule *s)
{
    pbi_out_text(out, ",\"options\":{\"seed\":");
    pbi_out_json_u64(out, s->seed);
    pbi_out_text(out, ",\"ticks\":");
    pbi_out_json_u64(out, s->ticks);
    pbi_out_text(out, ",\"threads\":");
    pbi_out_u64(out, s->threads);
    for (uint32_t i = 0; i < s->option_count; i++) {
        pbi_out_char(out, ',');
        pbi_out_json_text(out, s->options[i].key);
        pbi_out_char(out, ':');
        write_option_value(out, s->options[i].value);
    }
    pbi_out_char(out, '}');
}

/* A number if a double is exact enough to read it back, else a string. */
static void write_cost(pbi_out *out, pb_u128 cost, const pb_weights *weights)
{
    char text[PB_COST_TEXT];
    pb_cost_text(cost, weights, text);
    size_t digits = 0;
    bool point = false;
    for (const char *c = text; *c; c++) {
        point = point || *c == '.';
        digits += *c != '.' && (digits || *c != '0');
    }
    uint32_t rest;
    for (uint32_t i = 0; i < weights->digits && !point; i++)
        cost = pbi_u128_divide(cost, 10, &rest);
    if (!point)
        pbi_out_json_u128(out, cost);
    else if (digits <= NUMBER_DIGITS)
        pbi_out_text(out, text);
    else
        pbi_out_json_text(out, text);
}

static void write_metric(pbi_out *out, const pb_schedule *s, uint32_t which)
{
    const pb_metrics *m = &s->metrics;
    const uint64_t whole[] = {m->peak,      m->work, m->io,    m->makespan, m->recompute, m->recompute_count,
                              m->uncompute, 0,       m->moves, m->depth};
    switch (1 << which) {
    case PB_STATED_FLUX: pbi_out_json_u128(out, m->flux); break;
    case PB_STATED_COST: write_cost(out, m->cost, &s->weights); break;
    case PB_STATED_OVERHEAD:
        if (m->overhead < 0)
            pbi_out_text(out, "null");
        else
            pbi_out_json_real(out, m->overhead);
        break;
    case PB_STATED_GAP:
        if (m->gap < 0)
            pbi_out_text(out, "null");
        else
            pbi_out_json_real(out, m->gap);
        break;
    case PB_STATED_BORROWED: pbi_out_json_u64(out, m->borrowed); break;
    case PB_STATED_SPAN: pbi_out_json_u64(out, m->span); break;
    case PB_STATED_PEAKS: pbi_schedule_write_peaks(out, s); break;
    default: pbi_out_json_u64(out, whole[which]);
    }
}

/* The metrics of the schedule's game. */
static uint32_t all_metrics(const pb_schedule *s)
{
    const uint32_t timed = PB_STATED_SPAN | PB_STATED_PEAKS, untimed = PB_STATED_UNCOMPUTE | PB_STATED_DEPTH;
    return s->game == PB_GAME_TIMED ? ~(untimed | PB_STATED_BORROWED)
           : s->borrow              ? ~timed
                                    : ~(timed | PB_STATED_BORROWED);
}

/* The stated ones; gap always, if only as null. */
static void write_metrics(pbi_out *out, const pb_schedule *s)
{
    pbi_out_text(out, ",\n\"metrics\":");
    if (!s->has_metrics) {
        pbi_out_text(out, "null");
        return;
    }
    char before = '{';
    uint32_t stated = (s->metrics_stated ? s->metrics_stated : all_metrics(s)) | PB_STATED_GAP;
    for (uint32_t which = 0; which < PBI_METRICS; which++) {
        if (!(stated >> which & 1))
            continue;
        pbi_out_char(out, before);
        pbi_out_json_text(out, pbi_metric_names[which].bytes);
        pbi_out_char(out, ':');
        write_metric(out, s, which);
        before = ',';
    }
    pbi_out_char(out, '}');
}

static void write_outcome(pbi_out *out, const pb_schedule *s)
{
    write_text(out, ",\n\"outcome\":", pb_outcome_name(s->outcome));
    if (s->reason)
        write_text(out, ",\"reason\":", s->reason);
    if (s->note)
        write_text(out, ",\"note\":", s->note);
    pbi_out_text(out, ",\"lower_bound\":");
    if (s->bound_kind == PB_BOUND_NONE)
        pbi_out_text(out, "null");
    else
        pbi_out_json_u64(out, s->lower_bound);
    write_text(out, ",\"bound_kind\":", pb_bound_kind_name(s->bound_kind));
    if (s->has_cost_bound) {
        pbi_out_text(out, ",\"cost_bound\":");
        write_cost(out, s->cost_bound, &s->weights);
    }
    if (s->has_least) {
        write_cap(out, ",\"least_proved_cap\":", s->least_proved);
        write_cap(out, ",\"least_known_cap\":", s->least_known);
    }
}

void pbi_schedule_json_members(pbi_out *out, const pb_schedule *s, bool offsets)
{
    pbi_out_text(out, "{\"format\":\"pebble-schedule/1\"");
    write_text(out, ",\"graph\":", s->graph_name);
    write_text(out, ",\"graph_hash\":", s->graph_hash);
    if (s->read_with)
        write_text(out, ",\"read_with\":", s->read_with);
    write_text(out, ",\"game\":", pb_game_kind_name(s->game));
    write_cap(out, ",\"cap\":", s->cap);
    if (s->borrow) {
        pbi_out_text(out, ",\"borrow\":");
        pbi_out_json_u64(out, s->borrow);
    }
    write_tiers(out, s);
    write_text(out, ",\n\"strategy\":", s->strategy);
    write_options(out, s);
    write_text(out, ",\"policy\":", s->policy);
    if (s->priorities) {
        pbi_out_text(out, ",\"priorities\":");
        pbi_out_json_u64(out, s->priorities);
    }
    if (s->policy_asked && !s->policy)
        write_text(out, ",\"policy_asked\":", s->policy_asked);
    for (int i = 0; i < 3; i++) {
        char text[32];
        pb_weight_text(&s->weights, i, text);
        pbi_out_text(out, i ? "," : ",\"weights\":[");
        pbi_out_text(out, text);
    }
    pbi_out_char(out, ']');
    if (s->game == PB_GAME_TIMED)
        write_text(out, ",\"objective\":", pb_objective_name(s->objective));
    write_text(out, ",\"version\":", s->version);
    write_outcome(out, s);
    write_metrics(out, s);
    if (s->addresses.align)
        pbi_schedule_write_addresses(out, &s->addresses, offsets);
}

/* The object of a computation, or of any move of the timed game. */
static void write_words(pbi_out *out, const pb_schedule *s, pb_step k)
{
    const pb_moves *moves = &s->moves;
    pb_node over = pb_moves_over(moves, k);
    uint32_t count;
    const pb_node *also = pb_moves_also(moves, k, &count);
    char before = '{';
    pbi_out_char(out, ',');
    if (moves->when) {
        pbi_out_char(out, '{');
        pbi_schedule_write_when(out, s, k);
        before = ',';
    }
    if (over != PB_NO_NODE) {
        pbi_out_char(out, before);
        pbi_out_text(out, "\"over\":");
        pbi_out_u64(out, over);
        before = ',';
    }
    if (moves->move[k].by) {
        pbi_out_char(out, before);
        pbi_out_text(out, "\"by\":");
        pbi_out_u64(out, moves->move[k].by);
        before = ',';
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0) {
            pbi_out_char(out, before);
            pbi_out_text(out, "\"also\":");
        }
        pbi_out_char(out, i ? ',' : '[');
        pbi_out_u64(out, also[i]);
    }
    pbi_out_text(out, count ? "]}" : "}");
}

static void write_move(pbi_out *out, const pb_schedule *s, pb_step k)
{
    const pb_move *move = &s->moves.move[k];
    pbi_out_text(out, "[\"");
    pbi_out_text(out, pb_op_name((pb_op)move->op));
    pbi_out_text(out, "\",");
    pbi_out_u64(out, move->node);
    if (move->flags & PB_MOVE_BORROW)
        pbi_out_text(out, ",{\"in\":\"borrow\"}");
    else if (move->flags || move->by || s->moves.when)
        write_words(out, s, k);
    if (move->op == PB_STORE || move->op == PB_LOAD || move->op == PB_DROP) {
        pbi_out_char(out, ',');
        pbi_out_u64(out, move->tier);
    }
    pbi_out_char(out, ']');
}

pb_status pbi_schedule_json_write(pb_context *ctx, const pb_schedule *s, pb_sink sink)
{
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    pbi_schedule_json_members(&out, s, true);
    pbi_out_text(&out, ",\n\"moves\":[");
    for (pb_step k = 0; k < s->moves.count; k++) {
        if (k)
            pbi_out_char(&out, ',');
        if (k % MOVES_PER_LINE == 0)
            pbi_out_char(&out, '\n');
        write_move(&out, s, k);
    }
    pbi_out_text(&out, "]}\n");
    return pbi_out_finish(&out);
}

pb_status pb_schedule_write_summary(pb_context *ctx, const pb_schedule *s, double seconds, pb_sink sink)
{
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    pbi_schedule_json_members(&out, s, false);
    if (seconds >= 0) {
        pbi_out_text(&out, ",\"seconds\":");
        pbi_out_json_real(&out, seconds);
    }
    pbi_out_text(&out, "}\n");
    return pbi_out_finish(&out);
}
