/* cmd_verify.c -- pebble verify: is a schedule legal, and are its figures right? */
#include "certify.h"
#include "commands.h"
#include "json_print.h"

#include <stdio.h>

static void node_field(const certified *c, const char *key, pb_node v)
{
    printf(",\"%s\":", key);
    json_text(stdout, v < c->graph->node_count ? pb_graph_name(c->graph, v) : NULL);
}

static void print_json(const certified *c)
{
    bool legal = c->verdict.certificate != NULL;
    bool placed = !legal && c->verdict.rule != PB_RULE_NONE;
    printf("{\"legal\":%s,\"rule\":", legal ? "true" : "false");
    json_text(stdout, placed ? pb_rule_name(c->verdict.rule) : NULL);
    if (placed)
        printf(",\"rule_number\":%d,\"move\":%llu", (int)c->verdict.rule, (unsigned long long)c->verdict.step);
    else
        fputs(",\"rule_number\":null,\"move\":null", stdout);
    node_field(c, "node", placed ? c->verdict.node : PB_NO_NODE);
    node_field(c, "other", placed ? c->verdict.other : PB_NO_NODE);
    fputs(",\"message\":", stdout);
    json_text(stdout, c->message[0] ? c->message : NULL);
    fputs(",\"metrics\":", stdout);
    if (legal)
        json_metrics(stdout, &c->metrics, &c->game.weights);
    else
        fputs("null", stdout);
    printf(",\"same_graph\":%s}\n", c->same_graph ? "true" : "false");
}

static void print_legal(const certified *c)
{
    const pb_graph *g = c->graph;
    char peak[64], cap[64], work[64];
    pb_quantity_text(c->metrics.peak, g->size_unit, peak, sizeof peak);
    pb_quantity_text(c->game.cap, g->size_unit, cap, sizeof cap);
    pb_quantity_text(c->metrics.work, g->cost_unit, work, sizeof work);
    printf("legal: %llu moves in the %s game, peak %s", (unsigned long long)c->metrics.moves,
           pb_game_kind_name(c->game.kind), peak);
    if (c->game.cap != PB_UNLIMITED)
        printf(" of %s", cap);
    printf(", work %s %s", work, g->cost_unit);
    if (c->schedule.addresses.align) {
        pb_quantity_text(c->schedule.addresses.size, g->size_unit, peak, sizeof peak);
        printf(", addresses %s", peak);
    }
    puts(c->schedule.has_metrics ? "; the file's figures are right" : "; the file states no figures");
}

exit_code cmd_verify(app *a)
{
    certified c;
    if (a->opts.positional_count != 2)
        return app_usage(a, "verify takes a graph and a schedule");
    exit_code code = certify(a, a->opts.positional[0], a->opts.positional[1], &c);
    if (code != EXIT_DONE && code != EXIT_ILLEGAL)
        return code;
    if (app_option(a, OPT_JSON))
        print_json(&c);
    else if (code == EXIT_DONE)
        print_legal(&c);
    else
        printf("%s\n", c.message);
    if (code == EXIT_ILLEGAL && !c.verdict.certificate && !c.same_graph)
        app_note(a, "note: the schedule was made for another graph");
    return code;
}
