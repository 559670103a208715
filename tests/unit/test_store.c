/* test_store.c -- cells in a folder: each is planned once, whatever happens to its workers. The command's own tests
 * (tests/tools/test_store.sh) kill real processes. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "api/campaign/campaign.h"
#include "pebble/full.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fixture {
    pb_context ctx;
    pb_arena arena;
    char path[64];
    pb_store *store;
    const pb_graph *graph;
    pb_settings settings;
    atomic_uint_fast64_t clock;       /* a fake one */
    uint64_t step;                    /* that it advances each time it is read */
    atomic_uint_fast64_t polls_left;  /* the stop comes after so many; 0: never */
    atomic_uint_fast64_t allocations; /* that succeed before one fails; 0: all */
} fixture;

static uint64_t tick(void *state)
{
    fixture *f = state;
    return atomic_fetch_add(&f->clock, f->step) + f->step;
}

/* Counts down to 1; true when it is there, false for ever if it began at 0. */
static bool count_down(atomic_uint_fast64_t *left)
{
    uint_fast64_t seen = atomic_load(left);
    while (seen > 1 && !atomic_compare_exchange_weak(left, &seen, seen - 1))
        continue;
    return seen == 1;
}

static pb_stop stop(void *state)
{
    fixture *f = state;
    return count_down(&f->polls_left) ? PB_STOP_INTERRUPT : PB_GO_ON;
}

static void *resize(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
    fixture *f = state;
    (void)old_bytes;
    if (!new_bytes) {
        free(block);
        return NULL;
    }
    return count_down(&f->allocations) ? NULL : realloc(block, new_bytes);
}

static void begin(fixture *f)
{
    memset(f, 0, sizeof *f);
    f->step = 1000;
    f->settings.wrong = PB_SETTING_COUNT;
    pb_context_init(&f->ctx);
    f->ctx.clock_ns = tick;
    f->ctx.stop = stop;
    f->ctx.resize = resize;
    f->ctx.allocator_state = f;
    f->ctx.callback_state = f;
    pb_arena_init(&f->arena, &f->ctx);
    bool memory = access("/dev/shm", W_OK) == 0; /* every row is synced: a disk would take most of the time */
    snprintf(f->path, sizeof f->path, "%s/pebble-store-XXXXXX", memory ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(f->path));
    assert_int_equal(pb_store_open(&f->ctx, f->path, true, &f->arena, &f->store), PB_OK);
    pb_option options[] = {{"nodes", "24"}, {"seed", "3"}};
    assert_int_equal(pb_generate(&f->ctx, "layered", options, 2, &f->arena, &f->graph), PB_OK);
    f->settings.text[PB_SET_caps] = "100%..70%";
    f->settings.text[PB_SET_points] = "4";
    f->settings.text[PB_SET_ticks] = "3000";
    f->settings.text[PB_SET_strategy] = "last-use,search,exact";
}

static void end(fixture *f)
{
    char command[128];
    pb_store_close(f->store);
    pb_arena_release(&f->arena);
    snprintf(command, sizeof command, "rm -r %s", f->path);
    assert_int_equal(system(command), 0);
}

static pb_store_sweep add(fixture *f)
{
    pb_store_sweep s;
    pb_status status = pb_store_add(&f->ctx, f->store, f->graph, &f->settings, &s);
    if (status != PB_OK)
        fail_msg("%s", f->ctx.error.message);
    return s;
}

static pb_work_report work(fixture *f, uint32_t threads)
{
    pb_work_report r;
    pb_status status = pb_store_work(&f->ctx, f->store, &(pb_work_options){.threads = threads}, &r);
    if (status != PB_OK)
        fail_msg("%s", f->ctx.error.message);
    return r;
}

static pb_store_state look(fixture *f)
{
    pb_store_state s;
    assert_int_equal(pb_store_look(&f->ctx, f->store, &s), PB_OK);
    return s;
}

/* The results as CSV. */
static char *collect(fixture *f, const char *id, uint64_t *missing)
{
    pb_sweep sweep;
    pb_buffer text;
    pb_buffer_init(&text, &f->arena);
    if (pb_store_collect(&f->ctx, f->store, id, &f->arena, &sweep, missing) != PB_OK)
        fail_msg("%s", f->ctx.error.message);
    assert_int_equal(pb_sweep_csv_write(&f->ctx, &sweep, true, pb_sink_buffer(&text)), PB_OK);
    f->ctx.stopped = PB_GO_ON;
    return text.bytes;
}

/* The first cell in this state, or any if `state` is PBI_CELL_OTHER. */
static pbi_cell find_cell(fixture *f, pbi_cell_state state)
{
    for (uint32_t shard = 0; shard < PBI_SHARDS; shard++) {
        pbi_cell *list = NULL;
        uint32_t count = 0;
        assert_int_equal(pbi_cells_list(&f->ctx, &f->store->folder, shard, &f->arena, &list, &count), PB_OK);
        for (uint32_t i = 0; i < count; i++)
            if (list[i].state == state)
                return list[i];
    }
    fail_msg("no cell is in state %d", (int)state);
    return (pbi_cell){.state = PBI_CELL_OTHER};
}

static void names_are_read_back_and_others_are_refused(void **state)
{
    (void)state;
    const char *good[] = {
        "0123456789abcdef0123456789abcdef.row.found", "0123456789abcdef0123456789abcdef.row.gave_up-12ab",
        "0123456789abcdef0123456789abcdef.todo.00000000000000000000000000000000.7.0",
        "0123456789abcdef0123456789abcdef.lease.00000000000000000000000000000000.7.2.89abcdef01234567",
        "0123456789abcdef0123456789abcdef.fail.00000000000000000000000000000000.4294967295.21"};
    const char *bad[] = {"",
                         ".",
                         "store",
                         "0123456789abcdef0123456789abcdef",
                         "0123456789abcdef0123456789abcdef.row",
                         "0123456789abcdef0123456789abcdef.row.found.",
                         "0123456789abcdef0123456789abcdef.row.found.x",
                         "0123456789abcdef0123456789abcde.row.found",
                         "0123456789ABCDEF0123456789abcdef.row.found",
                         "0123456789abcdef0123456789abcdef.new.89abcdef01234567",
                         "0123456789abcdef0123456789abcdef.todo.00000000000000000000000000000000.4294967296.0",
                         "0123456789abcdef0123456789abcdef.todo.00000000000000000000000000000000.-1.0",
                         "0123456789abcdef0123456789abcdef.todo.00000000000000000000000000000000.7",
                         "0123456789abcdef0123456789abcdef.lease.00000000000000000000000000000000.7.2"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        pbi_cell cell;
        char name[PBI_PATH_ROOM];
        assert_true(pbi_cell_parse(good[i], &cell));
        pbi_cell_name(&cell, name);
        assert_string_equal(name + strlen("cells/01/"), good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pbi_cell cell;
        assert_false(pbi_cell_parse(bad[i], &cell));
    }
}

static void a_truncated_or_changed_file_is_noticed(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    const pbi_folder *folder = &f.store->folder;
    pbi_bytes back, content = {"some bytes\nand more", 19};
    assert_int_equal(pbi_folder_write(&f.ctx, folder, "jobs/x", "jobs/x.new", content), PB_OK);
    assert_int_equal(pbi_folder_read(&f.ctx, folder, "jobs/x", &f.arena, &back), PB_OK);
    assert_int_equal(back.length, content.length);
    assert_memory_equal(back.bytes, content.bytes, content.length);
    assert_false(pbi_folder_has(folder, "jobs/x.new"));
    char path[128];
    snprintf(path, sizeof path, "%s/jobs/x", f.path);
    for (off_t length = 0; length < 110; length += 9) {
        assert_int_equal(pbi_folder_write(&f.ctx, folder, "jobs/x", "jobs/x.new", content), PB_OK);
        assert_int_equal(truncate(path, length), 0);
        assert_int_equal(pbi_folder_read(&f.ctx, folder, "jobs/x", &f.arena, &back), PB_EFORMAT);
    }
    assert_int_equal(pbi_folder_write(&f.ctx, folder, "jobs/x", "jobs/x.new", content), PB_OK);
    int file = open(path, O_RDWR);
    assert_int_equal(pwrite(file, "S", 1, 110 - 19), 1);
    close(file);
    assert_int_equal(pbi_folder_read(&f.ctx, folder, "jobs/x", &f.arena, &back), PB_EFORMAT);
    end(&f);
}

static void a_sweep_is_added_once_and_equal_cells_of_two_sweeps_are_one(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    pb_store_sweep first = add(&f), again = add(&f);
    assert_int_equal(first.cells, 12);
    assert_int_equal(first.added, 12);
    assert_int_equal(again.added, 0);
    assert_string_equal(first.id, again.id);
    f.settings.text[PB_SET_strategy] = "search,cut"; /* half of them are there */
    pb_store_sweep other = add(&f);
    assert_int_equal(other.cells, 8);
    assert_int_equal(other.added, 4);
    f.settings.text[PB_SET_seed] = "2";
    assert_int_equal(add(&f).added, 8);
    assert_int_equal(look(&f).cells, 24);
    assert_int_equal(look(&f).todo, 24);
    end(&f);
}

static void what_cannot_be_repeated_is_refused(void **state)
{
    (void)state;
    fixture f;
    pb_store_sweep s;
    begin(&f);
    f.settings.text[PB_SET_time] = "5s";
    assert_int_equal(pb_store_add(&f.ctx, f.store, f.graph, &f.settings, &s), PB_EINVAL);
    assert_int_equal(f.settings.wrong, PB_SET_time);
    f.settings.text[PB_SET_time] = NULL;
    f.settings.text[PB_SET_strategy] = "nothing-like-it";
    assert_int_equal(pb_store_add(&f.ctx, f.store, f.graph, &f.settings, &s), PB_EUNKNOWN);
    assert_int_equal(look(&f).cells, 0);
    end(&f);
}

static void any_number_of_threads_makes_the_same_rows(void **state)
{
    (void)state;
    fixture f, g;
    uint64_t missing;
    begin(&f);
    begin(&g);
    pb_store_sweep a = add(&f), b = add(&g);
    pb_work_report one = work(&f, 1), three = work(&g, 3);
    assert_int_equal(one.done, 12);
    assert_int_equal(three.done, 12);
    assert_int_equal(one.end, PB_WORK_NONE_LEFT);
    assert_string_equal(collect(&f, a.id, &missing), collect(&g, b.id, &missing));
    assert_int_equal(missing, 0);
    pb_store_repair r;
    assert_int_equal(pb_store_merge(&f.ctx, f.store, g.store, &r), PB_OK); /* compares every row */
    assert_int_equal(r.rows, 0);
    assert_int_equal(work(&f, 2).done, 0);
    end(&f);
    end(&g);
}

static void a_stop_puts_cells_back(void **state)
{
    (void)state;
    fixture f;
    uint64_t missing, rows = 0;
    begin(&f);
    pb_store_sweep s = add(&f);
    for (uint64_t polls = 1; look(&f).todo; polls += 1 + polls / 2) {
        f.polls_left = polls;
        pb_work_report r = work(&f, 2);
        assert_true(r.end == PB_WORK_INTERRUPT || look(&f).todo == 0);
        rows += r.done;
        assert_int_equal(look(&f).leased, 0);
        assert_int_equal(look(&f).todo + look(&f).done, 12);
        assert_int_equal(look(&f).done, rows);
    }
    f.polls_left = 0;
    collect(&f, s.id, &missing);
    assert_int_equal(missing, 0);
    end(&f);
}

static void a_cell_that_the_system_has_no_memory_for_is_put_back(void **state)
{
    (void)state;
    fixture f;
    pb_work_report r;
    pb_status status = PB_ENOMEM;
    begin(&f);
    add(&f);
    for (uint64_t allocations = 2; status == PB_ENOMEM; allocations += 1 + allocations / 3) {
        f.allocations = allocations;
        status = pb_store_work(&f.ctx, f.store, &(pb_work_options){.threads = 1}, &r);
        assert_true(status == PB_OK || status == PB_ENOMEM);
        f.allocations = 0;
        pb_store_state s = look(&f);
        assert_int_equal(s.leased, 0);
        assert_int_equal(s.todo + s.done, 12);
        assert_int_equal(s.workers, 0);
    }
    assert_int_equal(look(&f).done, 12);
    fixture g; /* with plenty of memory */
    pb_store_repair repair;
    begin(&g);
    add(&g);
    work(&g, 1);
    assert_int_equal(pb_store_merge(&f.ctx, f.store, g.store, &repair), PB_OK); /* compares every row */
    assert_int_equal(repair.rows, 0);
    end(&f);
    end(&g);
}

static void a_worker_needs_no_more_memory_than_its_limit(void **state)
{
    (void)state;
    fixture f;
    pb_work_report r;
    begin(&f);
    add(&f); /* cells without a limit */
    assert_int_equal(pb_store_work(&f.ctx, f.store, &(pb_work_options){.memory = 1 << 20}, &r), PB_EINVAL);
    assert_int_equal(work(&f, 1).done, 12);
    end(&f);
    begin(&f);
    f.settings.text[PB_SET_memory] = "60000"; /* too little for some: a result, and the same everywhere */
    add(&f);
    assert_int_equal(pb_store_work(&f.ctx, f.store, &(pb_work_options){.memory = 50000}, &r), PB_EINVAL);
    pb_work_options two = {.threads = 8, .memory = 130000};
    assert_int_equal(pb_store_work(&f.ctx, f.store, &two, &r), PB_OK);
    assert_int_equal(look(&f).done, 12);
    end(&f);
}

/* Gives a cell to a worker that is not there. */
static void lease_to(fixture *f, const char *worker, uint32_t tries)
{
    pbi_cell cell = find_cell(f, PBI_CELL_TODO), lease = cell;
    lease.state = PBI_CELL_LEASE;
    lease.tries = tries;
    snprintf(lease.worker, sizeof lease.worker, "%s", worker);
    assert_true(pbi_cell_move(&f->store->folder, &cell, &lease));
}

static void a_silent_worker_loses_its_cell_after_the_timeout(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    add(&f);
    lease_to(&f, "00000000000000ab", 0);
    f.step = UINT64_C(50000000); /* 50 ms a look: the minute passes quickly */
    pb_work_report r = work(&f, 1);
    assert_int_equal(r.taken_over, 1);
    assert_int_equal(r.done, 12);
    assert_true(f.clock > UINT64_C(60000000000));
    end(&f);
}

static void a_clock_that_stands_takes_no_cell_from_anybody(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    add(&f);
    lease_to(&f, "00000000000000ab", 0);
    f.step = 0;
    f.polls_left = 1500; /* enough to plan the others */
    pb_work_report r = work(&f, 1);
    assert_int_equal(r.taken_over, 0);
    assert_int_equal(r.done, 11);
    assert_int_equal(look(&f).leased, 1);
    end(&f);
}

static void a_cell_that_kills_its_workers_is_given_up_and_gc_puts_it_back(void **state)
{
    (void)state;
    fixture f;
    pb_store_repair r;
    begin(&f);
    add(&f);
    lease_to(&f, "00000000000000ab", PBI_MAX_TRIES);
    f.step = UINT64_C(50000000);
    assert_int_equal(work(&f, 1).given_up, 1);
    assert_int_equal(look(&f).given_up, 1);
    assert_int_equal(look(&f).done, 11);
    assert_int_equal(pb_store_clean(&f.ctx, f.store, 1, &r), PB_OK);
    assert_int_equal(r.returned, 1);
    assert_int_equal(work(&f, 1).done, 1);
    end(&f);
}

static void a_damaged_row_is_planned_again(void **state)
{
    (void)state;
    fixture f;
    uint64_t missing;
    pb_store_repair r;
    char name[PBI_PATH_ROOM], path[400];
    begin(&f);
    pb_store_sweep s = add(&f);
    work(&f, 1);
    char *all = collect(&f, s.id, &missing);
    pbi_cell row = find_cell(&f, PBI_CELL_ROW);
    pbi_cell_name(&row, name);
    snprintf(path, sizeof path, "%s/%s", f.path, name);
    assert_int_equal(truncate(path, 200), 0);
    collect(&f, s.id, &missing);
    assert_int_equal(missing, 1);
    assert_int_equal(work(&f, 1).done, 1);
    assert_string_equal(collect(&f, s.id, &missing), all);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(pb_store_clean(&f.ctx, f.store, 1, &r), PB_OK);
    assert_int_equal(r.damaged, 1);
    assert_int_equal(r.cells, 1);
    assert_int_equal(work(&f, 1).done, 1);
    assert_string_equal(collect(&f, s.id, &missing), all);
    end(&f);
}

static void halves_are_merged_into_a_whole(void **state)
{
    (void)state;
    fixture f, g;
    uint64_t missing;
    pb_store_repair r;
    pb_work_report w;
    begin(&f);
    begin(&g);
    pb_store_sweep s = add(&f);
    add(&g);
    pb_work_options some = {.cells = 7};
    assert_int_equal(pb_store_work(&f.ctx, f.store, &some, &w), PB_OK);
    assert_int_equal(w.end, PB_WORK_CELLS);
    assert_int_equal(w.done, 7);
    work(&g, 1);
    char *all = collect(&g, s.id, &missing);
    assert_int_equal(pb_store_merge(&f.ctx, f.store, g.store, &r), PB_OK);
    assert_int_equal(r.rows, 5);
    assert_int_equal(r.cells, 0);
    assert_int_equal(look(&f).todo, 0);
    assert_string_equal(collect(&f, s.id, &missing), all);
    end(&f);
    end(&g);
}

static void the_last_pass_is_never_worse_than_a_cell_alone(void **state)
{
    (void)state;
    fixture f;
    pb_sweep sweep;
    uint64_t missing;
    begin(&f);
    f.settings.text[PB_SET_strategy] = "auto,search";
    pb_store_sweep s = add(&f);
    work(&f, 1);
    assert_int_equal(pb_store_collect(&f.ctx, f.store, s.id, &f.arena, &sweep, &missing), PB_OK);
    for (uint32_t i = 0; i < sweep.cell_count; i++) {
        uint32_t k = pb_sweep_cap_of(&sweep, i);
        const pb_sweep_cell *here = &sweep.cells[i], *above = k ? &sweep.cells[i - 1] : NULL;
        assert_true(here->planned);
        if (above && here->certificate) { /* more memory never costs more */
            assert_non_null(above->certificate);
            assert_true(pb_u128_compare(above->schedule.metrics.cost, here->schedule.metrics.cost) <= 0);
        }
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_back_and_others_are_refused),
        cmocka_unit_test(a_truncated_or_changed_file_is_noticed),
        cmocka_unit_test(a_sweep_is_added_once_and_equal_cells_of_two_sweeps_are_one),
        cmocka_unit_test(what_cannot_be_repeated_is_refused),
        cmocka_unit_test(any_number_of_threads_makes_the_same_rows),
        cmocka_unit_test(a_stop_puts_cells_back),
        cmocka_unit_test(a_cell_that_the_system_has_no_memory_for_is_put_back),
        cmocka_unit_test(a_worker_needs_no_more_memory_than_its_limit),
        cmocka_unit_test(a_silent_worker_loses_its_cell_after_the_timeout),
        cmocka_unit_test(a_clock_that_stands_takes_no_cell_from_anybody),
        cmocka_unit_test(a_cell_that_kills_its_workers_is_given_up_and_gc_puts_it_back),
        cmocka_unit_test(a_damaged_row_is_planned_again),
        cmocka_unit_test(halves_are_merged_into_a_whole),
        cmocka_unit_test(the_last_pass_is_never_worse_than_a_cell_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
