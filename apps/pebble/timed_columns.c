/* timed_columns.c -- see timed_columns.h. */
#include "timed_columns.h"

bool timed_shows(const pb_machine *m, timed_column column)
{
    return column != TIMED_WAIT_PROCESSOR || m->processor_count > 1;
}

const char *timed_title(timed_column column)
{
    switch (column) {
    case TIMED_PEAK: return "peak";
    case TIMED_MAKESPAN: return "makespan";
    case TIMED_EXTRA: return "extra time";
    case TIMED_WAIT_COPY: return "wait: copies";
    case TIMED_WAIT_PROCESSOR: return "wait: processors";
    case TIMED_WAIT_MEMORY: return "wait: memory";
    default: return "copies";
    }
}

void timed_texts(const pb_certificate *c, const pb_metrics *m, char text[TIMED_COLUMNS][FIGURE_ROOM])
{
    const pb_graph *g = pb_certificate_game(c)->graph;
    uint64_t stall[PB_STALL_COUNT];
    pb_metrics_stalls(c, stall);
    pb_quantity_text(pb_metrics_capped(m), g->size_unit, text[TIMED_PEAK], FIGURE_ROOM);
    cost_text(m->makespan, g->cost_unit, text[TIMED_MAKESPAN]);
    text[TIMED_EXTRA][0] = '\0';
    if (m->overhead >= 0) /* with several processors nothing compares with it */
        percent_text(m->overhead, text[TIMED_EXTRA]);
    cost_text(stall[PB_STALL_COPY], g->cost_unit, text[TIMED_WAIT_COPY]);
    cost_text(stall[PB_STALL_PROCESSOR], g->cost_unit, text[TIMED_WAIT_PROCESSOR]);
    cost_text(stall[PB_STALL_MEMORY], g->cost_unit, text[TIMED_WAIT_MEMORY]);
    cost_text(m->io, g->cost_unit, text[TIMED_COPIES]);
}

const char *timed_note(void)
{
    return "wait: how long a processor is idle until a copy arrives, until another processor has finished, or until "
           "there is room (docs/games.md); copies: the time of all copies, which overlap computation";
}
