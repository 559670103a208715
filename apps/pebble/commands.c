/* commands.c -- see commands.h. */
#include "commands.h"

#include <string.h>

const command commands[] = {
    {"gen", ON_GEN, "make a graph of a known family", "pebble gen FAMILY [NUMBER...] [--PARAMETER VALUE...] [-o FILE]",
     "pebble gen chain 100 -o chain.json\ta path of 100 values\n"
     "pebble gen adjoint-chain 50 --grad-size 0\ta chain and its gradients\n"
     "pebble gen tree --height 6 --format dot\ta binary tree, as DOT\n"
     "pebble gen tree --help\tthe parameters of a family\n",
     NULL, "", cmd_gen},
    {"info", ON_INFO, "show a graph's shape and sizes, and how little memory may do", "pebble info GRAPH [options]",
     "pebble info g.json\twhat is in it, and the least caps\n"
     "pebble info g.json --game reversible --json\tone game, for a program\n"
     "pebble gen tree 8 | pebble info -\tfrom standard input\n",
     "The proved least cap is a limit that no schedule beats; the least cap that works comes with a plan that shows "
     "it.",
     "5", cmd_info},
    {"plan", ON_PLAN, "make one schedule under a memory cap, verified", "pebble plan GRAPH --cap SIZE [options]",
     "pebble plan g.json --cap 80%\tfit into 80 % of what it needs as written\n"
     "pebble plan g.json --cap 8GiB -o plan.json\tkeep the schedule\n"
     "pebble plan g.json --cap 50% --strategy every-k:k=8\tsay how\n"
     "pebble plan g.json --cap 20 --load-cost 5\twith a slow memory beside\n"
     "pebble plan g.json --like plan.json -o again.json\tthe same once more\n",
     "Every schedule is replayed by an independent verifier before it is shown. Ctrl-C stops the search and keeps the "
     "best plan so far, if there is one.",
     "3456I", cmd_plan},
    {"compare", ON_COMPARE, "show every strategy side by side, and the winner",
     "pebble compare GRAPH --cap SIZE [options]",
     "pebble compare g.json --cap 60%\tall strategies in their games\n"
     "pebble compare g.json --cap 60% --game remat\tone game only\n"
     "pebble compare g.json --cap 60% --strategy every-k:k=10,chain\tthese two\n"
     "pebble compare g.json --cap 60% --strategy all,every-k:k=10\tall, and one more\n"
     "pebble compare g.json --cap 60% --weights 1,0,5\tmemory and work both count\n",
     "Without --game the remat and the reversible game are played, and the tiered one when a slow memory is priced. "
     "The "
     "best come first; the gap tells how far a plan is above the least that is proved for its game.",
     "345I", cmd_compare},
    {"sweep", ON_SWEEP, "plan under many caps: the trade of memory for work, and where the winner flips",
     "pebble sweep GRAPH... [options]",
     "pebble sweep g.json\tfrom what it needs as written down to the least that works\n"
     "pebble sweep g.json --caps 100%..30% --points 50 --threads 4\tthese caps, four at a time\n"
     "pebble sweep g.json --strategy auto,every-k:k=10,sqrt\tone line each\n"
     "pebble sweep g.json --weights 0,0,1 --weights 1,0,5\ttwo ways to count\n"
     "pebble sweep g.json --svg sweep.svg --csv sweep.csv\ta plot and a table\n",
     "A plan found under a small cap is a plan under every larger one, so the cost never rises with the cap. --time is "
     "for the whole sweep, in equal shares; --ticks is for each cell. Ctrl-C stops it and shows what was found.",
     "3456I", cmd_sweep},
    {"verify", ON_VERIFY, "replay a schedule and name the first broken rule", "pebble verify GRAPH SCHEDULE [options]",
     "pebble verify g.json plan.json\tis it legal, are its figures right?\n"
     "pebble verify g.json plan.json --cap 16\twould it be under this cap?\n",
     NULL, "56", cmd_verify},
    {"explain", ON_EXPLAIN, "say why values are kept or computed again",
     "pebble explain GRAPH SCHEDULE [NODE] [options]",
     "pebble explain g.json plan.json\tthe whole plan\n"
     "pebble explain g.json plan.json conv3\tthe life of one value\n",
     NULL, "56", cmd_explain},
    {"export", ON_EXPORT, "write a plan, or a graph, in another form",
     "pebble export GRAPH SCHEDULE --as FORM [-o FILE]\npebble export GRAPH --format json|dot|csv [-o FILE]",
     "pebble export g.json plan.json --as decisions\twhat to free, and when\n"
     "pebble export g.json plan.json --as actions\tfor adjoint codes: Forward, Reverse, Copy, Move\n"
     "pebble export g.json plan.json --as trace -o t.json\tfor Perfetto or chrome://tracing\n"
     "pebble export g.json plan.json --as dot | dot -Tsvg\ta drawing\n"
     "pebble export g.json plan.json --as csv\tone row a move\n"
     "pebble export g.dot -o g.json\tconvert a graph\n",
     NULL, "56", cmd_export},
    {"merkle", ON_MERKLE, "traverse a hash tree: all authentication paths in little memory",
     "pebble merkle --height H [--cap N] [options]",
     "pebble merkle --height 16\tevery algorithm: what it stores, what an output costs\n"
     "pebble merkle --height 16 --cap 60 --leaf-cost 1000\tthe cheapest that stores at most 60 hashes\n"
     "pebble merkle --height 16 --cap 40 --by average\tthe least work in all, for batches\n"
     "pebble merkle --height 10 --algorithm bds:k=4 -o plan.json\tits moves, for `pebble gen merkle-traversal 10`\n",
     "Figures are counted, not estimated: each algorithm runs through all outputs without hashing, and every path is "
     "checked; published figures stand beside them. Without a cap, rows end where as much as eight paths would be "
     "kept.",
     "34I", cmd_merkle},
    {"catalytic", ON_CATALYTIC, "evaluate a formula in memory that holds other data, which comes back bit for bit",
     "pebble catalytic FORMULA [options]",
     "pebble catalytic '(a + b)*(c - d)*(a + d)'\trandom inputs and random data in what is borrowed\n"
     "pebble catalytic 'x*(y + z)' --lanes 1000000\ta million evaluations side by side\n"
     "pebble catalytic 'a*b + a*c + b*c' --ring bits\tthe majority of three bits\n",
     "A register program of Ben-Or and Cleve: its registers may hold anything, and hold the same again at the end. "
     "Nothing of "
     "what they held is copied. Ctrl-C runs it backwards to where it began.",
     "456I", cmd_catalytic},
    {"profile", ON_PROFILE, "measure what a workload costs on this machine, node by node",
     "pebble profile WORKLOAD[:KEY=VALUE,...] [options]",
     "pebble profile synthetic\tthe dearest nodes\n"
     "pebble profile synthetic:batch=64 -o p.json\ta graph in nanoseconds and bytes, for any other command\n"
     "pebble plan p.json --cap 50%\ta plan with the costs of this machine\n",
     "The program as written runs several times; a node's cost is its median time with its part of what the engine "
     "takes, "
     "and the spread stands beside it in the file. Ctrl-C keeps the runs that were measured by then.",
     "45I", cmd_profile},
    {"run", ON_RUN, "run a workload in exactly as much memory as its plan says",
     "pebble run WORKLOAD[:KEY=VALUE,...] --cap SIZE [options]",
     "pebble run synthetic --cap 40%\tprofile, plan, run, and compare with the prediction\n"
     "pebble run synthetic:batch=64 --cap 2MiB --steps 10\tten steps in 2 MiB of addresses\n"
     "pebble run synthetic --cap 20% --slow /var/tmp\twith a file as slow memory\n"
     "pebble run synthetic --cap 40% --profile p.json -o plan.json\tcosts from before; keep the schedule\n"
     "pebble run synthetic --cap 40% --profile p.json --plan plan.json\trun it again\n",
     "All values, workspace and parameters live in one block that is no larger than the cap. The results are compared "
     "bit for "
     "bit with a run that keeps everything. Planning takes at most 3 s unless --time or --ticks say otherwise. A "
     "measured peak that is not the plan's, or other results, are an error.",
     "3456I", cmd_run},
    {"fit", ON_FIT, "find the largest batch of a workload that fits a cap, with and without planning",
     "pebble fit WORKLOAD[:KEY=VALUE,...] --cap SIZE [options]",
     "pebble fit synthetic --cap 2MiB\tat most 10 % more time for recomputation\n"
     "pebble fit synthetic --cap 2MiB --max-overhead forward\tat most one more forward pass\n"
     "pebble fit synthetic --cap 2MiB --option bytes\tanother option of the workload\n",
     "Every answer is run for one step: its block is within the cap, and its time is measured. Each plan gets 20,000 "
     "ticks, "
     "unless --ticks says otherwise; --time ends the whole search.",
     "34I", cmd_fit},
    {"ui", ON_UI, "open the interactive page: watch plans play, turn the knobs", "pebble ui [GRAPH...] [options]",
     "pebble ui\tbegin with the gallery\n"
     "pebble ui g.json\tbegin with a graph of yours\n"
     "pebble ui --no-open --port 8080\tprint the address only\n",
     "The page is served on this machine alone, at an address with a token that only you see. Ctrl-C ends it.", "5",
     cmd_ui},
    {"help", ON_HELP, "show help", "pebble help [COMMAND] [--as text|man|bash|zsh|fish]",
     "pebble help plan\thelp of one command\n"
     "pebble help --as man | man -l -\tthe manual page\n"
     "source <(pebble help --as bash)\tcompletions for this shell\n",
     NULL, "", cmd_help},
};
const int command_count = sizeof commands / sizeof *commands;

const exit_text exit_texts[] = {
    {EXIT_DONE, "done"},
    {EXIT_FAILED, "something failed (memory, writing)"},
    {EXIT_USAGE, "wrong usage"},
    {EXIT_INFEASIBLE, "proved infeasible: no schedule fits the cap"},
    {EXIT_NOTHING, "nothing found: does not fit, does not apply, or a limit was hit"},
    {EXIT_INPUT, "a file cannot be read; the message has the place and the reason"},
    {EXIT_ILLEGAL, "a schedule is not legal, or its figures are wrong; from a planner this is a fault of pebble"},
    {EXIT_INTERRUPTED, "interrupted; what was found by then is still written, if anything was"},
};
const int exit_text_count = sizeof exit_texts / sizeof *exit_texts;

const command *command_find(const char *name)
{
    for (int i = 0; i < command_count; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}
