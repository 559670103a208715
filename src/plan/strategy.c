/* strategy.c -- the table of strategies, their options, and how they give up. */
#include "plan/strategy.h"

#include "base/checked.h"
#include "base/context.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const pb_strategy rows[] = {
#define STRATEGY(id, name, games, strength, traits, policy, summary, options) \
    {name, games, strength, summary, options, policy, traits},
#define PORTFOLIO(name, games, strength, traits, policy, summary, options) \
    STRATEGY(, name, games, strength, traits, policy, summary, options)
#include "plan/strategies.def"
#undef PORTFOLIO
#undef STRATEGY
};

static const pbi_plan_function functions[] = {
#define STRATEGY(id, name, games, strength, traits, policy, summary, options) pbi_plan_##id,
#define PORTFOLIO(name, games, strength, traits, policy, summary, options) NULL,
#include "plan/strategies.def"
#undef PORTFOLIO
#undef STRATEGY
};

const pb_strategy *pb_strategies(uint32_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}

/* Other names of rows, as the literature on pebbling has them. */
static const struct {
    const char *title, *name;
} titles[] = {{"baseline", "cache-all"}, {"program-order", "last-use"}, {"reversible", "bennett"}};
enum { TITLES = sizeof titles / sizeof *titles };

const pb_strategy *pb_strategy_find(const char *name)
{
    for (size_t i = 0; i < TITLES; i++)
        if (strcmp(titles[i].title, name) == 0)
            name = titles[i].name;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

const char *pb_strategy_title(const pb_strategy *row)
{
    for (size_t i = 0; i < TITLES; i++)
        if (strcmp(titles[i].name, row->name) == 0)
            return titles[i].title;
    return NULL;
}

/* A group has the rows with one of its properties. */
static const pb_group groups[] = {
    {"paper", "what a comparison shows first"},
    {"baseline", "keeps everything"},
    {"partial", "keeps values at fixed intervals or depths"},
    {"checkpoint", "keeps checkpoints of the forward pass"},
    {"reversible", "plays the reversible game only"},
    {"usual", "the usual choices of each field"},
    {"exact", "proves its plans optimal: graphs of one shape, or small ones"},
    {"search", "improves its plan until time or ticks run out"},
    {"solver", "uses Cbc or CaDiCaL"},
};
static const struct {
    unsigned traits; /* any of them, or 0 */
    unsigned games;  /* plays only these, or 0 */
    int strength;    /* or -1 */
} members[] = {
    {PB_TRAIT_COMPARED | PB_TRAIT_INTERVALS, 0, PB_BASELINE},
    {0, 0, PB_BASELINE},
    {PB_TRAIT_INTERVALS, 0, -1},
    {PB_TRAIT_CHECKPOINTS, 0, -1},
    {0, PB_GAME_REVERSIBLE, -1},
    {PB_TRAIT_USUAL, 0, -1},
    {0, 0, PB_EXACT},
    {0, 0, PB_ANYTIME},
    {PB_TRAIT_SOLVER, 0, -1},
};
enum { GROUPS = sizeof groups / sizeof *groups };
_Static_assert(GROUPS == sizeof members / sizeof *members, "each group has its members");

const pb_group *pb_groups(uint32_t *count)
{
    *count = GROUPS;
    return groups;
}

bool pb_group_has(const char *group, const pb_strategy *row)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (strcmp(groups[i].name, group) == 0)
            return row->strength != PB_PORTFOLIO &&
                   ((row->traits & members[i].traits) || (members[i].games && row->games == members[i].games) ||
                    (int)row->strength == members[i].strength);
    return false;
}

const pb_strategy *pbi_strategy_with(unsigned games, pb_strength strength, unsigned traits, unsigned without)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((rows[i].games & games) == games && rows[i].strength == strength && (rows[i].traits & traits) == traits &&
            !(rows[i].traits & without))
            return &rows[i];
    return NULL;
}

pbi_plan_function pbi_strategy_function(const pb_strategy *row) { return functions[row - rows]; }

static const char unlimited[] = "unlimited";

const char *pbi_option_find(const pbi_plan_options *options, const char *key)
{
    const char *value = NULL;
    for (uint32_t i = 0; i < options->option_count; i++)
        if (strcmp(options->options[i].key, key) == 0)
            value = options->options[i].value;
    return value;
}

pb_status pbi_option_number(pb_context *ctx, const pbi_plan_options *options, const char *key, uint64_t min,
                            uint64_t max, uint64_t *number)
{
    const char *text = pbi_option_find(options, key);
    uint64_t value = *number;
    bool open = max >= UINT64_MAX - 1; /* the word "unlimited" replaces the largest number in messages */
    if (text && open && strcmp(text, unlimited) == 0) {
        *number = max;
        return PB_OK;
    }
    if (text && strcmp(text, "auto") != 0 &&
        (!pbi_u64_parse(text, strlen(text), &value) || value < min || value > max)) {
        char range[64];
        if (open)
            snprintf(range, sizeof range, "of at least %" PRIu64 ", or %s", min, unlimited);
        else
            snprintf(range, sizeof range, "from %" PRIu64 " to %" PRIu64, min, max);
        return pbi_fail(ctx, PB_EINVAL, "%s must be a whole number %s, not \"%.40s\"", key, range, text);
    }
    *number = value;
    return PB_OK;
}

pb_status pbi_option_limit(pb_context *ctx, const pbi_plan_options *options, const pb_graph *g, uint64_t *out)
{
    uint64_t many = 100 * (uint64_t)g->node_count + 100000, limit = many < 20000000 ? many : 20000000;
    pb_status status = pbi_option_number(ctx, options, "limit", 1, UINT32_MAX, &limit);
    if (status == PB_OK)
        *out = limit;
    return status;
}

pb_status pbi_option_computations(pb_context *ctx, const pbi_plan_options *options, const pb_graph *g, uint64_t *out)
{
    uint64_t n = g->node_count, few = 100 * n + 100000, many = 8 * n + 2000000;
    uint64_t limit = few < many ? few : many;
    pb_status status = pbi_option_number(ctx, options, "limit", 1, UINT32_MAX, &limit);
    if (status == PB_OK)
        *out = limit;
    return status;
}

pb_status pbi_plan_record(pbi_plan *plan, const char *key, const char *value)
{
    char *copy = pb_arena_text(plan->arena, value, strlen(value));
    if (!copy || plan->option_count == PBI_MAX_OPTIONS)
        return PB_ENOMEM;
    plan->options[plan->option_count++] = (pb_option){key, copy};
    return PB_OK;
}

pb_status pbi_plan_record_number(pbi_plan *plan, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return pbi_plan_record(plan, key, value >= UINT64_MAX - 1 ? unlimited : text);
}

static const char *format_text(pb_arena *arena, const char *format, va_list args)
{
    char text[400];
    vsnprintf(text, sizeof text, format, args);
    return pb_arena_text(arena, text, strlen(text));
}

pb_status pbi_plan_note(pbi_plan *plan, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    plan->note = format_text(plan->arena, format, args);
    va_end(args);
    return plan->note ? PB_OK : PB_ENOMEM;
}

pb_status pbi_plan_give_up(pbi_plan *plan, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    plan->reason = format_text(plan->arena, format, args);
    va_end(args);
    plan->outcome = PB_GAVE_UP;
    return plan->reason ? PB_OK : PB_ENOMEM;
}

pb_status pbi_plan_over_cap(pbi_plan *plan, const pb_game *game, pb_step step, const char *word, pb_node v,
                            uint64_t need)
{
    plan->failed_step = step;
    plan->failed_node = v;
    plan->failed_need = need;
    char total[100], over[40], cap[100];
    pb_amount_text(need, game->graph->size_unit, total, sizeof total);
    pb_quantity_text(need - game->cap, game->graph->size_unit, over, sizeof over);
    pb_amount_text(game->cap, game->graph->size_unit, cap, sizeof cap);
    return pbi_plan_give_up(plan, "does not fit: move %" PRIu64 " (%s %.60s) needs %s, %s over the cap of %s", step,
                            word, pb_graph_name(game->graph, v), total, over, cap);
}

void pbi_plan_reset(pbi_plan *plan, pb_arena *arena)
{
    memset(plan, 0, sizeof *plan);
    plan->arena = arena;
    pb_moves_init(&plan->moves, arena);
    plan->failed_step = UINT64_MAX;
    plan->failed_node = PB_NO_NODE;
}
