#include <pebble/pebble.h>
#include <stdio.h>

int main(void)
{
    pb_session *s = pb_session_new();
    const pb_graph *g;
    const pb_plan_result *p;
    pb_session_set(s, "cap", "50%");
    if (pb_load_graph(s, "graph.json", &g) || pb_make_plan(s, g, &p) || pb_save_plan(s, p, "plan.json"))
        fprintf(stderr, "%s\n", pb_session_message(s));
    pb_session_free(s);
    return 0;
}
