/* cmd_verify.c -- pebble verify: checks that a schedule is legal, and that its figures are correct. */
#include "certify.h"
#include "commands.h"
#include "common/output.h"
#include "plain_print.h"

#include <stdio.h>

static void print_legal(const certified *c)
{
    const pb_graph *g = c->graph;
    char peak[64], cap[64], work[128];
    pb_quantity_text(c->judged.metrics.peak, g->size_unit, peak, sizeof peak);
    pb_quantity_text(c->judged.game.cap, g->size_unit, cap, sizeof cap);
    pb_amount_text(c->judged.metrics.work, g->cost_unit, work, sizeof work);
    printf("legal: %llu moves in the %s game, peak %s", (unsigned long long)c->judged.metrics.moves,
           pb_game_kind_name(c->judged.game.kind), peak);
    if (c->judged.game.cap != PB_UNLIMITED)
        printf(" of %s", cap);
    fputs(", work ", stdout);
    print_plain(stdout, work);
    if (c->judged.game.kind == PB_GAME_TIMED) {
        pb_amount_text(c->judged.metrics.makespan, g->cost_unit, work, sizeof work);
        fputs(", makespan ", stdout);
        print_plain(stdout, work);
    }
    if (c->schedule.addresses.align) {
        pb_quantity_text(c->schedule.addresses.size, g->size_unit, peak, sizeof peak);
        printf(", addresses %s", peak);
    }
    puts(c->schedule.has_metrics ? "; the figures in the file are correct" : "; the file has no figures");
}

exit_code cmd_verify(app *a)
{
    certified c;
    if (a->opts.positional_count != 2)
        return app_usage(a, "expected a graph and a schedule, as in pebble verify g.json plan.json");
    exit_code code = certify(a, a->opts.positional[0], a->opts.positional[1], &c);
    if (!c.has_verdict)
        return code;
    pb_status status = PB_OK;
    if (app_option(a, OPT_JSON))
        status = pb_judgement_json_write(&a->ctx, &c.judged, stream_sink(stdout));
    else if (code == EXIT_DONE)
        print_legal(&c);
    else
        print_line(stdout, "%s", c.judged.message);
    if (status != PB_OK && status != PB_EIO)
        return app_status(a, status);
    if (code == EXIT_ILLEGAL && !c.judged.verdict.certificate && !c.judged.same_graph)
        app_note(a, "note: the schedule was made for another graph; check the file names");
    return code;
}
