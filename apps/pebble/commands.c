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
    {"info", ON_INFO, "show a graph's shape and sizes, and how little memory it can be computed in",
     "pebble info GRAPH [options]",
     "pebble info g.json\twhat is in it, and the smallest caps\n"
     "pebble info g.json --game reversible --json\tone game, as JSON\n"
     "pebble info g.json --machine a100-40\tdoes it fit, what is in memory at the peak, where does the time go?\n"
     "pebble gen tree 8 | pebble info -\tfrom standard input\n",
     "The lower bound is proved: no plan fits a smaller cap. It is limited by a working set (what one computation "
     "needs "
     "in memory) or a lasting set (which also has values that cannot be recomputed later). The smallest known plan is "
     "the smallest cap for which a plan was found.",
     "5", cmd_info},
    {"plan", ON_PLAN, "make a verified schedule under a memory cap", "pebble plan GRAPH --cap SIZE [options]",
     "pebble plan g.json --cap 80%\tfit into 80 % of the peak in program order\n"
     "pebble plan g.json --cap 8GiB -o plan.json\twrite the schedule to a file\n"
     "pebble plan g.json --cap 50% --strategy every-k:k=8\tchoose the strategy\n"
     "pebble plan g.json --cap 20 --load-cost 5\twith a slow memory to offload to\n"
     "pebble plan g.json --game timed --machine a100-40 --cap 50%\tcopies to the host overlap computation\n"
     "pebble plan g.json --cap 50% --start mine.json\tsearch for something better than your own plan\n"
     "pebble plan g.json --cap 60% --solution g.sol -o plan.json\ta solver's solution of pebble export --as mps\n"
     "pebble plan g.json --like plan.json -o again.json\tthe same settings again\n",
     "Every schedule is replayed by an independent verifier before it is shown. Ctrl-C stops the search and keeps the "
     "best plan so far, if there is one.",
     "3456I", cmd_plan},
    {"compare", ON_COMPARE, "compare strategies, and show the best plan", "pebble compare GRAPH --cap SIZE [options]",
     "pebble compare g.json --cap 60%\tthe rows that decide, and the best plan of all strategies\n"
     "pebble compare g.json --cap 60% --all\tevery strategy\n"
     "pebble compare g.json --cap 60% --group partial\tone family\n"
     "pebble compare g.json --cap 60% --strategy baseline,partial,reversible\tthese three\n"
     "pebble compare g.json --cap 60% --game remat\tone game only\n"
     "pebble compare g.json --cap 60% --strategy every-k:k=10,chain\tthese two\n"
     "pebble compare g.json --cap 60% --strategy all,every-k:k=10\tall, and one with its own options\n"
     "pebble compare g.json --cap 60% --strategy all,keep:file=mine.txt\tyour own checkpoints\n"
     "pebble compare g.json --cap 60% --schedule mine.json\tyour own plan\n"
     "pebble compare g.json --cap 60% --weights 1,0,5\tmemory and work both have a price\n"
     "pebble compare g.json --cap 60% --svg c.svg --html c.html\ta picture, and a page that plays the plans\n",
     "Without --game, compare plays the remat and the reversible game, and the tiered game if a slow memory has a "
     "price. baseline keeps everything (cache-all), program-order frees each value after its last use (last-use), "
     "partial "
     "is the best of fixed intervals and depths, reversible is Bennett's recursion (bennett); these names work "
     "wherever a "
     "strategy is named. Identical plans share a row. The gap is how far a plan is above the proved lower bound of its "
     "game. Groups for --group: paper (the default rows), baseline, partial, checkpoint, reversible, usual, exact, "
     "search "
     "and solver.",
     "345I", cmd_compare},
    {"sweep", ON_SWEEP, "plan under many caps: how much work each cap costs, and which strategy wins there",
     "pebble sweep GRAPH... [options]",
     "pebble sweep g.json\tfrom the peak in program order down to the smallest known plan\n"
     "pebble sweep g.json --caps 100%..30% --points 50 --threads 4\t50 caps, four at a time\n"
     "pebble sweep g.json --strategy auto,every-k:k=10,sqrt\tthree strategies\n"
     "pebble sweep g.json --weights 0,0,1 --weights 1,0,5\ttwo cost functions\n"
     "pebble sweep g.json --svg sweep.svg --csv sweep.csv\ta plot and a table\n"
     "pebble sweep g.json --html front.html\ta page that plays the plans of the Pareto front\n"
     "pebble sweep *.json --ticks 1000000 --store campaign --threads 8\ta campaign that can be killed and resumed\n"
     "pebble sweep *.json --ticks 1000000 --store campaign --on slurm --wait\tby an array of Slurm jobs\n",
     "A plan found under a small cap is also a plan under every larger one, so the cost never rises with the cap. "
     "--time limits the whole sweep, in equal shares; --ticks limits each plan. Ctrl-C stops it and shows the results "
     "so far.",
     "3456I", cmd_sweep},
    {"work", ON_WORK, "plan cells of a store, next to any number of other workers", "pebble work DIR [options]",
     "pebble work campaign --threads 8\tuntil no cell is left\n"
     "pebble work campaign --time 55m\tuntil an hour of a scheduler is nearly over\n"
     "srun pebble work campaign\ta worker in every task of a job\n",
     "The cells are those of `pebble sweep --store`. A worker leases a cell, plans it, and writes its row when it is "
     "on the "
     "disk; on Ctrl-C, SIGTERM or at the end of --time it puts unfinished cells back. Cells of workers that died are "
     "planned by others. With several tasks per computer, start one worker with --threads instead if you can.",
     "5I", cmd_work},
    {"store", ON_STORE, "show how far a store of sweeps is, export its results, merge and clean stores",
     "pebble store status|export|gc DIR [options]\npebble store merge DIR OTHER...",
     "pebble store status campaign\tprogress, rate, time left, failures by reason\n"
     "pebble store export campaign --csv all.csv --svg all.svg\tresults so far, as of `pebble sweep`\n"
     "pebble store merge campaign other1 other2\tcopy the sweeps and rows of other stores\n"
     "pebble store gc campaign\tcheck every row, and clean up after workers that died\n",
     "status reads names of files only. export shares plans and bounds between the cells of each sweep, so that its "
     "figures do not depend on which worker planned what. docs/clusters.md describes the store.",
     "45", cmd_store},
    {"verify", ON_VERIFY, "replay a schedule and report the first broken rule",
     "pebble verify GRAPH SCHEDULE [options]",
     "pebble verify g.json plan.json\tis it legal, are its figures right?\n"
     "pebble verify g.json plan.json --cap 16\tis it legal under this cap?\n",
     NULL, "56", cmd_verify},
    {"explain", ON_EXPLAIN, "explain why values are kept or recomputed",
     "pebble explain GRAPH SCHEDULE [NODE] [options]",
     "pebble explain g.json plan.json\tthe whole plan\n"
     "pebble explain g.json plan.json conv3\tone value: when it is computed, kept, freed and recomputed\n",
     NULL, "56", cmd_explain},
    {"export", ON_EXPORT, "write a plan or a graph in another format",
     "pebble export GRAPH SCHEDULE --as FORM [-o FILE]\npebble export GRAPH --format json|dot|csv [-o FILE]\n"
     "pebble export GRAPH --as mps|lp --cap SIZE [-o FILE]",
     "pebble export g.json plan.json --as decisions\twhat to free, and when\n"
     "pebble export g.json plan.json --as actions\tfor adjoint codes: Forward, Reverse, Copy, Move\n"
     "pebble export g.json plan.json --as trace -o t.json\tfor Perfetto or chrome://tracing\n"
     "pebble export g.json plan.json --as svg -o plan.svg\ta picture of memory over time, by group\n"
     "pebble export g.json plan.json --as html -o plan.html\ta page that plays the plan, for any browser\n"
     "pebble export g.json plan.json --as dot | dot -Tsvg\ta drawing of the graph\n"
     "pebble export g.json plan.json --as csv\tone row per move\n"
     "pebble export g.dot -o g.json\tconvert a graph\n"
     "pebble export g.json --as mps --cap 60% -o g.mps\tthe integer program, for another solver\n",
     NULL, "456", cmd_export},
    {"merkle", ON_MERKLE, "compare traversals of a hash tree: all authentication paths in little memory",
     "pebble merkle --height H [--cap N] [options]",
     "pebble merkle --height 16\tevery algorithm: its storage, and the cost of an output\n"
     "pebble merkle --height 16 --cap 60 --leaf-cost 1000\tthe cheapest that stores at most 60 hashes\n"
     "pebble merkle --height 16 --cap 40 --by average\tthe least total work\n"
     "pebble merkle --height 20 --proofs 100 --cap 100000\twhich layers to keep for proofs of 100 leaves\n"
     "pebble merkle --height 10 --algorithm bds:k=4 -o plan.json\tits moves, for `pebble gen merkle-traversal 10`\n",
     "The figures are exact: each algorithm is simulated for all outputs, without hashing, and every path is checked. "
     "Published figures are shown next to them. Without --cap, the table ends at a storage of eight paths.",
     "34I", cmd_merkle},
    {"catalytic", ON_CATALYTIC, "evaluate a formula in memory that holds other data, and restore that data bit for bit",
     "pebble catalytic FORMULA [options]",
     "pebble catalytic '(a + b)*(c - d)*(a + d)'\trandom inputs, and random data in the borrowed memory\n"
     "pebble catalytic 'x*(y + z)' --lanes 1000000\ta million evaluations at the same time\n"
     "pebble catalytic 'a*b + a*c + b*c' --ring bits\tthe majority of three bits\n",
     "It runs a register program of Ben-Or and Cleve: the registers may hold any data, and hold the same data at the "
     "end. No copy of that data is made. Ctrl-C undoes the program back to its start.",
     "456I", cmd_catalytic},
    {"profile", ON_PROFILE, "measure what a workload costs on this machine, node by node",
     "pebble profile WORKLOAD[:KEY=VALUE,...] [options]",
     "pebble profile synthetic\tthe most expensive nodes\n"
     "pebble profile synthetic:batch=64 -o p.json\twrite a graph with costs in nanoseconds, sizes in bytes\n"
     "pebble plan p.json --cap 50%\tplan with the measured costs\n",
     "The program runs several times in program order. The cost of a node is its median time plus its share of the "
     "engine's overhead; the file also has the spread. Ctrl-C keeps the runs that were measured so far.",
     "45I", cmd_profile},
    {"run", ON_RUN, "run a workload in exactly the memory of its plan",
     "pebble run WORKLOAD[:KEY=VALUE,...] --cap SIZE [options]",
     "pebble run synthetic --cap 40%\tprofile, plan, run, and compare with the prediction\n"
     "pebble run synthetic:batch=64 --cap 2MiB --steps 10\tten steps in 2 MiB of memory\n"
     "pebble run synthetic --cap 20% --slow /var/tmp\twith a file as slow memory\n"
     "pebble run synthetic --cap 40% --compare --weights 0.1s/GiB,0,1\tseveral strategies in one table\n"
     "pebble run synthetic --cap 40% --check\tare the kernels deterministic?\n"
     "pebble run synthetic --cap 40% --profile p.json -o plan.json\tuse measured costs; write the schedule\n"
     "pebble run synthetic --cap 40% --profile p.json --plan plan.json\trun it again\n",
     "All values, workspace and parameters are in one block that is not larger than the cap. The results are compared "
     "bit for bit with a run that keeps everything. Planning takes at most 3 s unless --time or --ticks is given. It "
     "is "
     "an error if the measured peak is not the plan's, or if the results differ.",
     "3456I", cmd_run},
    {"fit", ON_FIT, "find the largest batch that fits a memory, with and without planning",
     "pebble fit FAMILY [--PARAMETER VALUE...] --machine NAME|FILE [options]\n"
     "pebble fit MODEL.onnx [--train] --machine NAME|FILE [options]\n"
     "pebble fit WORKLOAD[:KEY=VALUE,...] --cap SIZE [options]",
     "pebble fit resnet --depth 50 --machine a100-40\tthe largest batch, with at most 10 % extra time\n"
     "pebble fit transformer --batch 4 --vary sequence --machine v100-16\tthe longest sequence\n"
     "pebble fit model.onnx --train --optimizer adam --machine l4\ta training step of a model\n"
     "pebble fit unet --cap 12GB --max-overhead forward\tat most the work of one forward pass\n"
     "pebble fit synthetic --cap 2MiB\ta workload: every result is run\n",
     "Networks and models are not run: times are those of the machine. The second table compares each plan with "
     "several "
     "smaller batches, whose gradients are accumulated. For a workload every result is run for one step, to check that "
     "it fits the cap and to measure its time. Each plan gets 20,000 ticks, unless --ticks is given; --time limits the "
     "whole search.",
     "345I", cmd_fit},
    {"price", ON_PRICE, "write the times that a graph's nodes take on a machine into the graph",
     "pebble price GRAPH [--machine NAME|FILE] [-o FILE]",
     "pebble price g.json --machine here.json -o timed.json\ttimes by the models of a measured machine\n"
     "pebble plan timed.json --machine here.json\tplan with them\n"
     "pebble price g.json --machine a100-40\tonly show the time of each operation\n",
     "A machine that was measured has models: times by operation, type, size and flops per byte. --machine alone plans "
     "with the simpler rates and bandwidths of the file. Without --machine it is the graph's own. Times that the graph "
     "already has are kept. The output says which computations are outside the range that was measured.",
     "5", cmd_price},
    {"machine", ON_MACHINE, "list machines, show what is in one, and measure this computer",
     "pebble machine list [--json]\npebble machine show NAME|FILE [--json] [-o FILE]\n"
     "pebble machine measure -o FILE [--quick]\npebble machine rescale FILE -o FILE\n"
     "pebble machine fit PROFILE|CSV... -o FILE",
     "pebble machine list\twhat --machine can name\n"
     "pebble machine show a100-40\tits memories, rates and links\n"
     "pebble machine show 'a100-40*4'\tfour of them\n"
     "pebble machine show rtx4090 -o mine.json\ta file to edit, for --machine mine.json\n"
     "pebble plan g.json --machine rtx4090\tplan for it: times, in its memory\n"
     "pebble machine measure -o here.json\tmeasure this computer, in about half a minute\n"
     "pebble machine rescale here.json -o now.json\tits speed under today's load\n"
     "pebble machine fit p8.json p32.json -o mine.json\tfrom profiles of two sizes, to price others\n",
     "A machine turns the flops and bytes of a node into its time: a fixed overhead, and the longer of computing at "
     "the "
     "rate of its operation and type and of reading and writing memory. docs/machines.md names the source of every "
     "number.",
     "5I", cmd_machine},
    {"coarsen", ON_COARSEN, "merge computations into larger steps, to plan layers or blocks instead of operations",
     "pebble coarsen GRAPH [--by LEVEL] [--nodes N] [-o FILE]\npebble coarsen GRAPH [...] --expand SCHEDULE [-o FILE]",
     "pebble coarsen g.json --by block -o blocks.json\tone step for each block, forward and backward\n"
     "pebble coarsen g.json --nodes 100 -o small.json\t100 steps, divided where little memory is in use\n"
     "pebble plan blocks.json --cap 8GiB -o rough.json\tplan them\n"
     "pebble coarsen g.json --by block --expand rough.json -o plan.json\tthe same plan, operation by operation\n"
     "pebble plan g.json --cap 50% --grain block\tall of this at once, and a search from there\n"
     "pebble compare g.json --cap 50% --grain all\twhat each level loses\n",
     "Costs of a step are added up; what other steps read are its value and its by-products; its workspace is the "
     "memory "
     "that it needs inside. A plan of the coarse graph needs no more memory when it is expanded.",
     "56", cmd_coarsen},
    {"tree", ON_TREE, "turn a graph into a tree, and show what planning the tree costs",
     "pebble tree GRAPH [--by duplicate|spanning] [-o FILE]\npebble tree GRAPH [--by HOW] --cost [-o FILE]",
     "pebble tree g.json -o tree.json\ta copy of a value for each of its readers\n"
     "pebble tree g.json --by spanning -o tree.json\tone reader for each value\n"
     "pebble tree g.json --by spanning --cost\tplan the tree, carry the plan to the graph, and plan the graph itself\n"
     "pebble plan tree.json --cap 100% --strategy tree\tthe least memory, proved for the tree\n",
     "The least memory of a tree is known exactly. But the tree is another problem: copies repeat work, up to "
     "exponentially much, and a spanning tree leaves reads out. docs/trees.md says when it is useful.",
     "45", cmd_tree},
    {"ui", ON_UI, "open the interactive page in a browser", "pebble ui [GRAPH...] [options]",
     "pebble ui\tstart with the gallery of graphs\n"
     "pebble ui g.json\tstart with a graph of your own\n"
     "pebble ui g.json --machine a100-40\tin times on that machine\n"
     "pebble ui --no-open --port 8080\tprint the address only\n",
     "Only this machine can reach the page, at an address with a secret token. Ctrl-C stops the server.", "5", cmd_ui},
    {"help", ON_HELP, "show help", "pebble help [COMMAND] [--as text|man|bash|zsh|fish]",
     "pebble help plan\thelp of one command\n"
     "pebble help --as man | man -l -\tthe manual page\n"
     "source <(pebble help --as bash)\tcompletions for this shell\n",
     NULL, "", cmd_help},
};
const int command_count = sizeof commands / sizeof *commands;

const exit_text exit_texts[] = {
    {EXIT_DONE, "done"},
    {EXIT_FAILED, "failed: out of memory, or a file cannot be written"},
    {EXIT_USAGE, "wrong usage"},
    {EXIT_INFEASIBLE, "infeasible: it is proved that no plan fits the cap"},
    {EXIT_NOTHING, "no plan found: it does not fit, the strategy does not apply, or a limit was reached"},
    {EXIT_INPUT, "a file cannot be read; the message says where and why"},
    {EXIT_ILLEGAL,
     "a schedule is not legal, or its figures are wrong; if pebble made it, that is a bug: please report it"},
    {EXIT_INTERRUPTED, "interrupted; the results so far, if any, are still written"},
};
const int exit_text_count = sizeof exit_texts / sizeof *exit_texts;

const command *command_find(const char *name)
{
    for (int i = 0; i < command_count; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

exit_code unknown_command(app *a, const char *name)
{
    const char *names[sizeof commands / sizeof *commands];
    for (int i = 0; i < command_count; i++)
        names[i] = commands[i].name;
    const char *near = nearest_name(name, names, (size_t)command_count);
    if (near)
        return app_usage(a, "there is no command `%s`; did you mean %s?", name, near);
    return app_usage(a, "there is no command `%s`; `pebble help` lists them", name);
}
