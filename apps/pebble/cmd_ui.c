/* cmd_ui.c -- pebble ui: the interactive page, served on this machine. */
#define _XOPEN_SOURCE 700
#include "commands.h"
#include "files.h"

#include <stdio.h>
#include <string.h>

#ifndef PEBBLE_WITH_SERVER

exit_code cmd_ui(app *a)
{
    return app_fail(a, EXIT_FAILED, "the server of pebble ui is " PB_NOT_BUILT_IN(PB_PACKAGE_SERVER));
}

#else

#include "common/output.h"
#include "server/page_files.h"
#include "server/server.h"
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_BODY (UINT64_C(256) << 20)
#define DEFAULT_MEMORY (UINT64_C(2) << 30)
#define MAX_BYTES ((uint64_t)SIZE_MAX / 8)

static bool take_bytes(app *a, option_id id, uint64_t *bytes)
{
    const char *text = app_option(a, id);
    char why[256];
    if (text && !pb_size_parse(text, "byte", 0, bytes, why, sizeof why)) {
        app_usage(a, "--%s: %s", option_specs[id].name, why);
        return false;
    }
    if (text && *bytes != PB_UNLIMITED && *bytes > MAX_BYTES) {
        app_usage(a, "--%s: `%.60s` is too large; use none for no limit", option_specs[id].name, text);
        return false;
    }
    if (*bytes > MAX_BYTES)
        *bytes = MAX_BYTES;
    return true;
}

static bool take_options(app *a, server_options *o)
{
    uint64_t port, threads;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (!app_number(a, OPT_PORT, 0, &port) ||
        !app_number(a, OPT_WORKERS, processors > 0 ? (uint64_t)processors : 1, &threads))
        return false;
    *o = (server_options){.host = "127.0.0.1", .port = (uint16_t)port, .max_body = DEFAULT_BODY};
    o->max_kept = DEFAULT_MEMORY;
    if (port > 65535 || threads < 1 || threads > 64) {
        app_usage(a, port > 65535 ? "--port: expected at most 65535" : "--threads: expected a number from 1 to 64");
        return false;
    }
    o->threads = (unsigned)threads;
    if (app_option(a, OPT_HOST))
        o->host = app_option(a, OPT_HOST);
    o->page_folder = app_option(a, OPT_PAGE);
    return read_options(a, &o->reading) && take_bytes(a, OPT_MAX_BODY, &o->max_body) &&
           take_bytes(a, OPT_MEMORY, &o->max_kept);
}

/* --machine: the default of every graph. */
static exit_code take_machine(app *a, server_options *o)
{
    const char *name = app_option(a, OPT_MACHINE);
    pb_settings s = {.wrong = PB_SET_machine};
    o->machine_text = name;
    if (!name || strcmp(name, "none") == 0)
        return EXIT_DONE;
    pb_buffer text; /* jobs do not read files */
    pb_buffer_init(&text, &a->arena);
    pb_status status = pb_machine_find(&a->ctx, name, false, &a->arena, &o->machine);
    if (status == PB_OK)
        status = pb_machine_write(&a->ctx, o->machine, pb_sink_buffer(&text));
    o->machine_text = text.bytes;
    return setting_code(a, &s, status);
}

/* ---- signals ---- */

static sem_t end_requested;

/* Runs in any thread: libraries may have started threads of their own before main. */
static void request_end(int signal)
{
    int kept = errno;
    (void)signal;
    sem_post(&end_requested);
    errno = kept;
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDS = sizeof ends / sizeof *ends };

/* ThreadSanitizer's runtime prepares a thread for signals at its first wait, and may lose a signal that arrives
 * then. So the first wait is over before the address is printed. */
static void wait_once(void)
{
    sem_post(&end_requested);
    while (sem_wait(&end_requested) != 0 && errno == EINTR)
        ;
}

/* Under nohup a lost terminal does not stop the server. */
static void take_signals(struct sigaction before[ENDS])
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = request_end;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sem_init(&end_requested, 0, 0);
    wait_once();
    for (int i = 0; i < ENDS; i++) {
        sigaction(ends[i], NULL, &before[i]);
        if (ends[i] != SIGHUP || before[i].sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    }
}

static void wait_for_the_end(const struct sigaction before[ENDS])
{
    while (sem_wait(&end_requested) != 0 && errno == EINTR)
        ;
    for (int i = 0; i < ENDS; i++) /* a second signal ends the process at once */
        sigaction(ends[i], &before[i], NULL);
}

/* Threads started while signals are blocked do not receive them. */
static void block_signals(bool block)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < ENDS; i++)
        sigaddset(&set, ends[i]);
    pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* ---- the browser ---- */

/* The browser outlives this process: it gets default signal handling, and no file of ours but standard input. */
static void become_browser(const char *tool, const char *address)
{
    sigset_t none;
    int nothing = open("/dev/null", O_WRONLY);
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    for (int i = 0; i < ENDS; i++)
        if (signal(ends[i], SIG_DFL) == SIG_IGN)
            signal(ends[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (nothing >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 && dup2(nothing, STDERR_FILENO) >= 0)
        execlp(tool, tool, address, (char *)NULL);
}

/* In a grandchild, so that nobody has to wait for it. If it fails, there is still the printed address. */
static void open_browser(const char *address)
{
#ifdef __APPLE__
    static const char tool[] = "open";
#else
    static const char tool[] = "xdg-open";
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
        return;
#endif
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0)
            become_browser(tool, address);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static exit_code serve(app *a, server *s)
{
    char why[900];
    struct sigaction before[ENDS];
    for (int i = 0; i < a->opts.positional_count; i++)
        if (!server_add_file(s, a->opts.positional[i], why, sizeof why))
            return app_fail(a, EXIT_INPUT, "%s", why);
    take_signals(before);
    block_signals(true);
    bool begun = server_start(s, why, sizeof why);
    block_signals(false);
    if (!begun)
        return app_fail(a, EXIT_FAILED, "%s", why);
    printf("Pebble-Bridge is at %s\n", server_address(s));
    exit_code written = app_finish_output(a, EXIT_DONE);
    if (written != EXIT_DONE)
        return written;
    if (page_file_count == 0 && !app_option(a, OPT_PAGE))
        app_note(a, "the page is " PB_NOT_BUILT_IN(PB_PACKAGE_PAGE) "; only the addresses under /api/ work");
    if (!server_is_local(s))
        app_note(a,
                 "other machines can reach this address: the token protects it, but the connection is not encrypted");
    if (!app_option(a, OPT_NO_OPEN))
        open_browser(server_ticket_address(s));
    wait_for_the_end(before);
    if (server_is_busy(s))
        app_note(a, "stopping the running plans; press Ctrl-C again to exit at once");
    return EXIT_DONE;
}

exit_code cmd_ui(app *a)
{
    server_options o;
    if (!take_options(a, &o))
        return EXIT_USAGE;
    exit_code code = take_machine(a, &o);
    if (code != EXIT_DONE)
        return code;
    server *s = server_new(&o);
    if (!s)
        return app_fail(a, EXIT_FAILED,
                        "cannot create the token: out of memory, or /dev/urandom cannot be read; check both");
    code = serve(a, s);
    server_free(s);
    return code;
}

#endif
