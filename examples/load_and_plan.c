/* load_and_plan.c -- plans the graph of a file in half of the memory that it needs in program order, and saves the plan. */
#include <pebble/pebble.h>
#include <stdio.h>

int main(int count, char **words)
{
    pb_session *s = pb_session_new();
    const pb_graph *g;
    const pb_plan_result *p;
    pb_session_set(s, "cap", "50%");
    pb_status status = pb_load_graph(s, count > 1 ? words[1] : "graph.json", &g);
    if (status || (status = pb_make_plan(s, g, &p)) ||
        (status = pb_save_plan(s, p, count > 2 ? words[2] : "plan.json")))
        fprintf(stderr, "%s\n", pb_session_message(s));
    pb_session_free(s);
    return status ? 1 : 0;
}
