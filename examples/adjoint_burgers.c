/* adjoint_burgers.c -- the gradient of a time-stepping solver in little memory: 1-D viscous Burgers' equation.
 *
 * u_t + (u^2/2)_x = nu u_xx on a ring of POINTS points, STEPS explicit steps. The objective is J = dx/2 sum u(T)^2; its
 * gradient with respect to the initial state comes from the hand-written adjoint of one step, carried from the last
 * step to the first. The adjoint of a step needs the state before it: a stream of actions says which states to keep in
 * memory, which in a file, and what to run again. Every schedule must give the gradient of "keep everything" to the
 * last bit, and that must agree with finite differences to 1e-6.
 */
#include <math.h>
#include <pebble/adjoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 200, STEPS = 4000, RAM_SLOTS = 10 };
static const double dx = 1.0 / POINTS, dt = 2e-4, viscosity = 0.01;

typedef double field[POINTS];

static void step(field u)
{
    field next;
    for (int i = 0; i < POINTS; i++) {
        double left = u[(i + POINTS - 1) % POINTS], right = u[(i + 1) % POINTS];
        next[i] = u[i] - dt / (4 * dx) * (right * right - left * left) +
                  viscosity * dt / (dx * dx) * (right - 2 * u[i] + left);
    }
    memcpy(u, next, sizeof next);
}

/* The transpose of the step's derivative at u, applied to the adjoint field. */
static void reverse_step(const field u, field adjoint)
{
    field before;
    for (int i = 0; i < POINTS; i++) {
        double left = adjoint[(i + POINTS - 1) % POINTS], right = adjoint[(i + 1) % POINTS];
        before[i] = adjoint[i] + dt / (2 * dx) * u[i] * (right - left) +
                    viscosity * dt / (dx * dx) * (right - 2 * adjoint[i] + left);
    }
    memcpy(adjoint, before, sizeof before);
}

static void initial_state(field u, double bump)
{
    for (int i = 0; i < POINTS; i++) {
        double x = i * dx;
        u[i] = 0.5 + sin(6.283185307179586 * x) + bump * cos(12.566370614359172 * x + 0.3);
    }
}

static double objective(const field u)
{
    double sum = 0;
    for (int i = 0; i < POINTS; i++)
        sum += 0.5 * dx * u[i] * u[i];
    return sum;
}

/* A solver that runs the actions of a schedule. */
typedef struct solver {
    field work, tape, adjoint;
    field ram[RAM_SLOTS];
    FILE *disk;
    unsigned long steps, disk_writes, disk_reads;
} solver;

static void disk_seek(solver *s, uint32_t slot)
{
    if (fseek(s->disk, (long)(slot * sizeof(field)), SEEK_SET) != 0) {
        perror("the checkpoint file");
        exit(1);
    }
}

static void save(solver *s, const pb_action *a)
{
    if (a->to == PB_STORAGE_RAM) {
        memcpy(s->ram[a->slot], s->work, sizeof(field));
        return;
    }
    disk_seek(s, a->slot);
    if (fwrite(s->work, sizeof(field), 1, s->disk) != 1) {
        perror("writing a checkpoint");
        exit(1);
    }
    s->disk_writes++;
}

static void load(solver *s, const pb_action *a)
{
    if (a->from == PB_STORAGE_RAM) {
        memcpy(s->work, s->ram[a->slot], sizeof(field));
        return;
    }
    disk_seek(s, a->slot);
    if (fread(s->work, sizeof(field), 1, s->disk) != 1) {
        perror("reading a checkpoint");
        exit(1);
    }
    s->disk_reads++;
}

static void carry_out(solver *s, const pb_action *a)
{
    switch (a->kind) {
    case PB_ACTION_FORWARD:
        if (a->flags & PB_WRITE_RESTART)
            save(s, a);
        if (a->flags & PB_WRITE_REVERSE)
            memcpy(s->tape, s->work, sizeof(field)); /* all that the adjoint of a step needs */
        for (uint64_t n = a->n0; n < a->n1; n++)
            step(s->work);
        s->steps += (unsigned long)(a->n1 - a->n0);
        break;
    case PB_ACTION_REVERSE: reverse_step(s->tape, s->adjoint); break;
    case PB_ACTION_COPY:
    case PB_ACTION_MOVE: load(s, a); break;
    case PB_ACTION_END_FORWARD: /* the derivative of the objective at the final state */
        for (int i = 0; i < POINTS; i++)
            s->adjoint[i] = dx * s->work[i];
        break;
    default: break;
    }
}

static void begin(solver *s)
{
    s->steps = s->disk_writes = s->disk_reads = 0;
    initial_state(s->work, 0);
}

static bool report(const char *name, const char *slots, const solver *s, const field expected)
{
    bool same = memcmp(s->adjoint, expected, sizeof(field)) == 0;
    printf("%-22s %-16s %9lu %7lu %7lu   %s\n", name, slots, s->steps, s->disk_writes, s->disk_reads,
           same ? "yes" : "NO");
    return same;
}

static void must(const pb_context *ctx, pb_status status)
{
    if (status == PB_OK)
        return;
    fprintf(stderr, "%s\n", ctx->error.message);
    exit(1);
}

/* Relative difference between the gradient's derivative along a bump and a central difference. */
static double finite_difference_error(const field gradient)
{
    field plus, minus, zero;
    const double h = 1e-5;
    double along = 0;
    initial_state(plus, h);
    initial_state(minus, -h);
    initial_state(zero, 0);
    for (int i = 0; i < POINTS; i++)
        along += gradient[i] * (plus[i] - zero[i]) / h;
    for (int n = 0; n < STEPS; n++) {
        step(plus);
        step(minus);
    }
    return fabs((objective(plus) - objective(minus)) / (2 * h) - along) / fabs(along);
}

/* Without any library: keeps the state before every step. */
static void keep_everything(solver *s, field *states)
{
    begin(s);
    for (int n = 0; n < STEPS; n++) {
        memcpy(states[n], s->work, sizeof(field));
        step(s->work);
    }
    s->steps = STEPS;
    for (int i = 0; i < POINTS; i++)
        s->adjoint[i] = dx * s->work[i];
    for (int n = STEPS; n-- > 0;)
        reverse_step(states[n], s->adjoint);
}

static bool with_ram(pb_context *ctx, pb_arena *arena, solver *s, const field expected)
{
    pb_revolve stream;
    pb_action a;
    must(ctx, pb_revolve_init(ctx, STEPS, RAM_SLOTS, arena, &stream));
    for (begin(s); pb_revolve_next(&stream, &a);)
        carry_out(s, &a);
    return report("binomial", "10 RAM", s, expected);
}

static bool with_disk(pb_context *ctx, pb_arena *arena, solver *s, const field expected)
{
    pb_multilevel_spec spec = {.steps = STEPS, .forward_cost = 1, .reverse_cost = 1, .level_count = 2};
    pb_multilevel stream;
    pb_action a;
    spec.level[0] = (pb_level){.slots = 3};
    spec.level[1] = (pb_level){.slots = 12, .write_cost = 5, .read_cost = 5};
    must(ctx, pb_multilevel_init(ctx, &spec, arena, &stream));
    for (begin(s); pb_multilevel_next(&stream, &a);)
        carry_out(s, &a);
    return report("RAM and disk", "3 RAM, 12 disk", s, expected);
}

/* As if the solver only found out on the way that it is done. */
static bool with_unknown_end(pb_context *ctx, pb_arena *arena, solver *s, const field expected)
{
    pb_online stream;
    pb_action a;
    must(ctx, pb_online_init(ctx, RAM_SLOTS, arena, &stream));
    for (begin(s); s->steps < STEPS && pb_online_step(&stream, &a);)
        carry_out(s, &a);
    for (pb_online_end(&stream); pb_online_next(&stream, &a);)
        carry_out(s, &a);
    return report("end not known before", "10 RAM", s, expected);
}

int main(void)
{
    pb_context ctx;
    pb_arena arena;
    field expected, *states = calloc(STEPS, sizeof *states);
    solver *s = calloc(1, sizeof *s);
    if (!s || !states || !(s->disk = tmpfile())) {
        perror("adjoint_burgers");
        return 1;
    }
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    printf("%d points, %d steps\n", POINTS, STEPS);
    printf("%-22s %-16s %9s %7s %7s   same gradient\n", "schedule", "states kept", "steps", "writes", "reads");
    keep_everything(s, states);
    memcpy(expected, s->adjoint, sizeof expected);
    bool good = report("keep everything", "all", s, expected);
    good = with_ram(&ctx, &arena, s, expected) && good;
    good = with_disk(&ctx, &arena, s, expected) && good;
    good = with_unknown_end(&ctx, &arena, s, expected) && good;

    double error = finite_difference_error(expected);
    printf("finite differences     relative error %.1e (at most 1e-6)\n", error);
    fclose(s->disk);
    free(s);
    free(states);
    pb_arena_release(&arena);
    return good && error <= 1e-6 ? 0 : 1;
}
