/* explain_text.c -- explanations as text. */
#include "pebble/report.h"

#include "base/context.h"
#include "base/out.h"
#include "report/explain.h"
#include "report/timed_walk.h"

#include <stdio.h>
#include <string.h>

enum {
    SHOWN_LIVES = 12,
    SHOWN_GAPS = 8,
    SHOWN_SHARES = 10,
    SHOWN_MOMENTS = 5,
    NAME_WIDTH = 24,
    AMOUNT_ROOM = 112,
    PHASE_WIDTH = 20
};

static void amount(pbi_out *out, uint64_t value, const char *unit)
{
    char text[AMOUNT_ROOM];
    pb_amount_text(value, unit, text, sizeof text);
    pbi_out_plain(out, text);
}

/* The width for printf, which counts bytes: µ has two. */
static int width_of(const char *text, int characters)
{
    for (; *text; text++)
        characters += ((unsigned char)*text & 0xc0) == 0x80;
    return characters;
}

/* What the costs are. */
static const char *effort(const pb_graph *g) { return pb_unit_is_time(g->cost_unit) ? "time" : "work"; }

/* "move 12 (compute b)" */
static void write_move(pbi_out *out, const pb_graph *g, const pb_moves *moves, pb_step k)
{
    pbi_out_text(out, "move ");
    pbi_out_u64(out, k);
    pbi_out_format(out, " (%s ", pb_op_name((pb_op)moves->move[k].op));
    pbi_out_plain(out, pb_graph_name(g, moves->move[k].node));
    pbi_out_char(out, ')');
}

static void write_saving(pbi_out *out, const pbi_rework_cost *cost, const char *unit)
{
    if (!cost->possible) {
        pbi_out_text(out, "it cannot be recomputed");
        return;
    }
    pbi_out_text(out, cost->complete ? "recomputing it would cost " : "recomputing it would cost at least ");
    amount(out, cost->work, unit);
}

/* 12.34 GiB·s, or without such units 12,345,678 up to eleven digits, 9.43e19 beyond. */
static void held_text(const pb_graph *g, pb_u128 held, char text[AMOUNT_ROOM])
{
    if (pb_flux_text(held, g->size_unit, g->cost_unit, text, AMOUNT_ROOM))
        return;
    if (pb_u128_text(held, text) <= 11) {
        pb_quantity_text(held.low, NULL, text, PB_U128_TEXT);
        return;
    }
    snprintf(text, PB_U128_TEXT, "%.2e", pb_u128_double(held));
    char *plus = strchr(text, '+');
    if (plus)
        memmove(plus, plus + 1, strlen(plus));
}

static void write_gap(pbi_out *out, const pbi_story *s, const pbi_gap *gap)
{
    const pb_graph *g = s->game->graph;
    pbi_out_text(out, "       kept from ");
    if (gap->from == PBI_NO_STEP)
        pbi_out_text(out, "the start");
    else
        pbi_out_format(out, "move %llu", (unsigned long long)gap->from);
    if (gap->to_end) {
        pbi_out_text(out, " to the end");
    } else {
        pbi_out_format(out, " to %llu (%s ", (unsigned long long)gap->to,
                       pb_op_name((pb_op)s->moves->move[gap->to].op));
        pbi_out_plain(out, pb_graph_name(g, s->moves->move[gap->to].node));
        pbi_out_char(out, ')');
    }
    pbi_out_text(out, ": ");
    amount(out, g->size[s->node], g->size_unit);
    pbi_out_text(out, "; ");
    write_saving(out, &gap->saves, g->cost_unit);
    pbi_out_char(out, '\n');
}

static void write_making(pbi_out *out, const pbi_story *s, size_t i)
{
    const pbi_life *life = &s->lives[i];
    const pb_graph *g = s->game->graph;
    if (life->made == PBI_NO_STEP) {
        pbi_out_text(out, "in memory from the start");
    } else {
        const pb_move *m = &s->moves->move[life->made];
        bool load = m->op == PB_LOAD;
        pbi_out_format(out, "%s at move %llu",
                       load ? "loaded"
                       : i  ? "recomputed"
                            : "computed",
                       (unsigned long long)life->made);
        pbi_recipe_text(out, g, m);
        if (!load && m->node != s->node) {
            pbi_out_text(out, " with ");
            pbi_out_plain(out, pb_graph_name(g, m->node));
        }
        if (m->flags & PB_MOVE_BORROW)
            pbi_out_text(out, " in borrowed memory");
    }
    if (life->first_use != PBI_NO_STEP) {
        pbi_out_text(out, i ? " because " : ", first read by ");
        write_move(out, g, s->moves, life->first_use);
        if (i)
            pbi_out_text(out, " needs it");
        if (life->uses > 1)
            pbi_out_format(out, ", read %llu times", (unsigned long long)life->uses);
    }
    pbi_out_char(out, '\n');
}

/* What keeping a value instead would need. */
static void write_need(pbi_out *out, const pb_game *game, uint64_t need, uint64_t saves)
{
    const pb_graph *g = game->graph;
    if (need > game->cap) {
        pbi_out_text(out, "would need a cap of ");
        amount(out, need, g->size_unit);
        pbi_out_text(out, ", ");
        amount(out, need - game->cap, g->size_unit);
        pbi_out_text(out, " more");
    } else {
        pbi_out_text(out, "would fit: it needs ");
        amount(out, need, g->size_unit);
    }
    pbi_out_text(out, ", and save ");
    amount(out, saves, g->cost_unit);
}

/* The values that used the memory while it was absent. */
static void write_others(pbi_out *out, const pbi_story *s, const pbi_life *life)
{
    const pb_graph *g = s->game->graph;
    if (life->full_step == PBI_NO_STEP)
        return;
    pbi_out_text(out, "       while it was not in memory, the peak was ");
    amount(out, life->full, g->size_unit);
    pbi_out_text(out, " at ");
    write_move(out, g, s->moves, life->full_step);
    for (size_t i = 0; i < life->other_count; i++) {
        pb_node v = s->others[life->first_other + i];
        char size[AMOUNT_ROOM];
        pb_quantity_text(g->size[v], g->size_unit, size, sizeof size);
        pbi_out_text(out, i ? ", " : ";\n       the largest values in memory then: ");
        pbi_out_plain(out, pb_graph_name(g, v));
        pbi_out_format(out, " (%s)", size);
    }
    if (life->others_left)
        pbi_out_format(out, ", and %zu more", life->others_left);
    pbi_out_text(out, "\n       keeping it ");
    pbi_out_text(out, life->together > 1 ? "and what is computed with it instead " : "instead ");
    if (s->game->borrow)
        pbi_out_text(out, "outside of borrowed memory ");
    write_need(out, s->game, life->need, life->saves);
    pbi_out_char(out, '\n');
}

static void write_removal(pbi_out *out, const pbi_story *s, const pbi_life *life)
{
    const pb_graph *g = s->game->graph;
    pbi_out_text(out, "       ");
    if (life->removed == PBI_NO_STEP) {
        uint16_t must = g->flags[s->node] & (PB_NODE_KEEP | PB_NODE_TARGET);
        pbi_out_text(out, must & PB_NODE_KEEP ? "kept to the end, because of `keep`\n"
                          : must              ? "kept to the end, because it is a target\n"
                                              : "kept to the end, because its memory was not needed\n");
        return;
    }
    const pb_move *m = &s->moves->move[life->removed];
    if (m->op == PB_COMPUTE) {
        pbi_out_text(out, "overwritten in place by ");
        pbi_out_plain(out, pb_graph_name(g, m->node));
    } else {
        pbi_out_text(out, m->op == PB_UNCOMPUTE ? "uncomputed" : "freed");
    }
    pbi_out_format(out, " at move %llu", (unsigned long long)life->removed);
    if (life->again != PBI_NO_STEP) {
        const pb_move *back = &s->moves->move[life->again];
        pbi_out_format(out, "; %s at move %llu", back->op == PB_LOAD ? "loaded" : "recomputed",
                       (unsigned long long)life->again);
        pbi_recipe_text(out, g, back);
        pbi_out_char(out, '\n');
    } else
        pbi_out_text(out, life->last_use == PBI_NO_STEP ? ", never read\n" : ", after its last use\n");
}

static void write_head(pbi_out *out, const pbi_story *s)
{
    const pb_graph *g = s->game->graph;
    uint32_t readers = g->out_start[s->node + 1] - g->out_start[s->node];
    pbi_out_plain(out, pb_graph_name(g, s->node));
    pbi_out_text(out, ": cost ");
    amount(out, g->cost[s->node], g->cost_unit);
    pbi_out_text(out, ", size ");
    amount(out, g->size[s->node], g->size_unit);
    pbi_out_format(out, ", read by %u node%s\n", (unsigned)readers, readers == 1 ? "" : "s");
    if (s->computed > 1) {
        pbi_out_format(out, "It is computed %llu times; the recomputations cost ", (unsigned long long)s->computed);
        amount(out, s->spent_again, g->cost_unit);
        pbi_out_text(out, ".\n");
    } else if (s->computed == 1) {
        pbi_out_text(out, "It is computed once.\n");
    } else if (s->life_count == 0) {
        pbi_out_text(out, "The plan does not compute it: no target needs it.\n");
    }
    if (s->loaded)
        pbi_out_format(out, "It is loaded from slow memory %llu time%s.\n", (unsigned long long)s->loaded,
                       s->loaded == 1 ? "" : "s");
}

static void write_story(pbi_out *out, const pbi_story *s)
{
    write_head(out, s);
    for (size_t i = 0; i < s->life_count && i < SHOWN_LIVES; i++) {
        const pbi_life *life = &s->lives[i];
        pbi_out_format(out, "%5zu. ", i + 1);
        write_making(out, s, i);
        write_others(out, s, life);
        for (size_t k = 0; k < life->gap_count && k < SHOWN_GAPS; k++)
            write_gap(out, s, &s->gaps[life->first_gap + k]);
        if (life->gap_count > SHOWN_GAPS)
            pbi_out_format(out, "       and kept %zu more times\n", life->gap_count - SHOWN_GAPS);
        write_removal(out, s, life);
    }
    if (s->life_count > SHOWN_LIVES)
        pbi_out_format(out, "  and %zu more times (--json shows all)\n", s->life_count - SHOWN_LIVES);
}

/* A name in a column: cut with dots if it is too long. */
static void column_name(pbi_out *out, const char *name)
{
    char shown[PB_PLAIN_CHAR], plain[8 * NAME_WIDTH];
    size_t used, bytes = 0, cut = 0, width = 0;
    while ((used = pb_plain_char(name, shown)) > 0 && width <= NAME_WIDTH) {
        size_t length = strlen(shown), wide = used > 1 && length == used ? 1 : length; /* escapes are ASCII */
        if (width + wide <= NAME_WIDTH - 2)
            cut = bytes + length;
        memcpy(plain + bytes, shown, length);
        bytes += length;
        width += wide;
        name += used;
    }
    if (width <= NAME_WIDTH) {
        pbi_out_bytes(out, plain, bytes);
    } else {
        pbi_out_bytes(out, plain, cut);
        pbi_out_text(out, "..");
        for (width = 2, bytes = 0; bytes < cut; bytes++)
            width += ((unsigned char)plain[bytes] & 0xc0) != 0x80;
    }
    for (; width < NAME_WIDTH; width++)
        pbi_out_char(out, ' ');
}

static void write_again(pbi_out *out, const pbi_overview *o)
{
    const pb_graph *g = o->game->graph;
    char work[AMOUNT_ROOM];
    if (o->again_length == 0) {
        pbi_out_text(out, "\nNo value is recomputed.\n");
        return;
    }
    pbi_out_format(out, "\n%llu value%s recomputed%s%s:\n", (unsigned long long)o->again_values,
                   o->again_values == 1 ? " is" : "s are",
                   o->again_values > o->again_length ? ". Those with the most extra " : "",
                   o->again_values > o->again_length ? effort(g) : "");
    pbi_out_format(out, "  %-*s %10s %15s %s\n", NAME_WIDTH, "value", "computed", "extra", effort(g));
    for (size_t i = 0; i < o->again_length; i++) {
        const pbi_share *share = &o->again[i];
        pbi_out_text(out, "  ");
        column_name(out, pb_graph_name(g, share->node));
        pb_quantity_text(share->work, g->cost_unit, work, sizeof work);
        pbi_out_format(out, " %10llu %*s\n", (unsigned long long)share->times, width_of(work, 20), work);
    }
}

static void write_absences(pbi_out *out, const pbi_overview *o)
{
    const pb_graph *g = o->game->graph;
    const pbi_pressure *p = &o->pressure;
    char work[AMOUNT_ROOM], cap[AMOUNT_ROOM], over[AMOUNT_ROOM + 4];
    pbi_out_text(out, "\nThe most expensive recomputations, each with the cap that would keep the value instead:\n");
    pbi_out_format(out, "  %-*s %10s %20s %13s %12s %12s\n", NAME_WIDTH, "value", "at move", effort(g), "fullest move",
                   "cap to keep", "over cap");
    for (size_t i = 0; i < p->absence_count; i++) {
        const pbi_absence *x = &p->absences[i];
        pbi_out_text(out, "  ");
        column_name(out, pb_graph_name(g, x->node));
        pb_quantity_text(x->saves, g->cost_unit, work, sizeof work);
        pb_quantity_text(x->need, g->size_unit, cap, sizeof cap);
        over[0] = '+';
        if (x->need > o->game->cap)
            pb_quantity_text(x->need - o->game->cap, g->size_unit, over + 1, sizeof over - 1);
        else
            strcpy(over, "fits");
        pbi_out_format(out, " %10llu %*s", (unsigned long long)x->made, width_of(work, 20), work);
        if (x->full_step == PBI_NO_STEP)
            pbi_out_format(out, " %13s", "-");
        else
            pbi_out_format(out, " %13llu", (unsigned long long)x->full_step);
        pbi_out_format(out, " %12s %12s\n", cap, over);
    }
}

static void write_moments(pbi_out *out, const pbi_overview *o)
{
    const pb_graph *g = o->game->graph;
    const pbi_pressure *p = &o->pressure;
    if (!p->moment_count)
        return;
    pbi_out_text(out, "\nThe moves with the most memory in use while these values were not in memory:\n");
    for (size_t i = 0; i < p->moment_count && i < SHOWN_MOMENTS; i++) {
        const pbi_moment *m = &p->moments[i];
        pbi_out_text(out, "  ");
        write_move(out, g, o->list, m->step);
        pbi_out_text(out, ": ");
        amount(out, m->memory, g->size_unit);
        pbi_out_format(out, ", %llu recomputation%s for ", (unsigned long long)m->absences,
                       m->absences == 1 ? "" : "s");
        amount(out, m->work, g->cost_unit);
        pbi_out_char(out, '\n');
    }
}

/* What the plan pays for the cap, absence by absence. */
static void write_pressure(pbi_out *out, const pbi_overview *o)
{
    const pb_graph *g = o->game->graph;
    const pbi_pressure *p = &o->pressure;
    if (!p->absence_count)
        return;
    write_absences(out, o);
    write_moments(out, o);
    if (p->raised) {
        pbi_out_text(out, "\nThe smallest cap that makes one of them unnecessary in this plan is ");
        amount(out, p->raise.need, g->size_unit);
        pbi_out_text(out, ", ");
        amount(out, p->raise.need - o->game->cap, g->size_unit);
        pbi_out_text(out, " more:\n  ");
        write_move(out, g, o->list, p->raise.made);
        pbi_out_text(out, " and its ");
        amount(out, p->raise.saves, g->cost_unit);
        pbi_out_text(out, " would be saved.\n");
    }
    if (p->spare)
        pbi_out_format(out, "\n%llu of these recomputations %s unnecessary: the value would have fit.\n",
                       (unsigned long long)p->spare, p->spare == 1 ? "is" : "are");
}

static void write_kept(pbi_out *out, const pbi_overview *o)
{
    const pb_graph *g = o->game->graph;
    char held[AMOUNT_ROOM], share_text[16], saves[AMOUNT_ROOM], size[AMOUNT_ROOM];
    double flux = pb_u128_double(o->totals->flux);
    if (o->kept_length == 0) {
        pbi_out_text(out, "\nNo value is kept in memory for a later use.\n");
        return;
    }
    pbi_out_format(out, "\n%llu value%s kept in memory for a later use%s:\n", (unsigned long long)o->kept_values,
                   o->kept_values == 1 ? " is" : "s are",
                   o->kept_values > o->kept_length ? ". Those with the most memory x time" : "");
    pbi_out_format(out, "  %-*s %10s %14s %10s %12s saved\n", NAME_WIDTH, "value", "size", "memory x time", "% of flux",
                   effort(g));
    for (size_t i = 0; i < o->kept_length; i++) {
        const pbi_share *share = &o->kept[i];
        pbi_out_text(out, "  ");
        column_name(out, pb_graph_name(g, share->node));
        pb_quantity_text(g->size[share->node], g->size_unit, size, sizeof size);
        pb_quantity_text(share->saves, g->cost_unit, saves + 3, sizeof saves - 3);
        memcpy(saves, ">= ", 3);
        held_text(g, share->held, held);
        snprintf(share_text, sizeof share_text, "%.1f %%", flux > 0 ? 100 * pb_u128_double(share->held) / flux : 0.0);
        const char *saved = !share->possible ? "not recomputable" : share->complete ? saves + 3 : saves;
        pbi_out_format(out, " %10s %*s %10s %*s\n", size, width_of(held, 14), held, share_text, width_of(saved, 18),
                       saved);
    }
}

static void write_phase(pbi_out *out, const pb_graph *g, const char *name, uint64_t time)
{
    char text[AMOUNT_ROOM];
    pb_amount_text(time, g->cost_unit, text, sizeof text);
    pbi_out_format(out, "  %-14s ", name);
    for (int blanks = width_of(text, PHASE_WIDTH) - (int)strlen(text); blanks > 0; blanks--)
        pbi_out_char(out, ' ');
    pbi_out_plain(out, text);
}

/* A row for each phase of the plan. */
static void write_phases(pbi_out *out, const pbi_overview *o)
{
    const pb_graph *g = o->game->graph;
    const pb_phases *p = &o->phases;
    bool tiered = o->game->kind == PB_GAME_TIERED;
    pbi_out_format(out, "\nThe %s by phase:\n", tiered ? "time" : effort(g));
    for (int i = 0; i < PB_PHASE_COUNT; i++) {
        bool transfer = i == PB_PHASE_STORES || i == PB_PHASE_LOADS;
        if (!p->moves[i] && !(transfer && tiered) && i != PB_PHASE_FORWARD && i != PB_PHASE_RECOMPUTE)
            continue;
        write_phase(out, g, i == PB_PHASE_FORWARD && !p->backward ? "once" : pb_phase_name((pb_phase)i), p->time[i]);
        pbi_out_format(out, " %5.1f %%  %llu move%s\n", p->total ? 100.0 * (double)p->time[i] / (double)p->total : 0.0,
                       (unsigned long long)p->moves[i], p->moves[i] == 1 ? "" : "s");
    }
    write_phase(out, g, "total", p->total);
    pbi_out_char(out, '\n');
}

static void write_overview(pbi_out *out, const pbi_overview *o)
{
    const pb_graph *g = o->game->graph;
    pbi_out_plain(out, g->name[0] ? g->name : "the graph");
    pbi_out_format(out, ": %llu moves in the %s game", (unsigned long long)o->moves, pb_game_kind_name(o->game->kind));
    pbi_out_text(out, ", peak ");
    amount(out, o->totals->peak, g->size_unit);
    if (o->game->cap != PB_UNLIMITED) {
        pbi_out_text(out, " under a cap of ");
        amount(out, o->game->cap, g->size_unit);
    }
    pbi_out_char(out, '\n');
    write_phases(out, o);
    write_again(out, o);
    write_pressure(out, o);
    write_kept(out, o);
}

pb_status pb_explain_text(pb_context *ctx, const pb_certificate *c, pb_node node, pb_sink sink)
{
    if (pb_certificate_game(c)->kind == PB_GAME_TIMED && node == PB_NO_NODE)
        return pbi_timed_explain(ctx, c, sink);
    static const pbi_explain_writer writer = {SHOWN_SHARES, write_overview, write_story};
    return pbi_explain(ctx, c, node, &writer, sink);
}
