/* cmd_ui.c -- pebble ui: the interactive page, served on this machine. */
#define _XOPEN_SOURCE 700
#include "commands.h"
#include "files.h"
#include "sizes.h"

#include <stdio.h>
#include <string.h>

#ifndef PEBBLE_WITH_SERVER

exit_code cmd_ui(app *a)
{
    return app_fail(
        a, EXIT_FAILED,
        "this pebble was made without its server: libmicrohttpd and jansson were not there when it was built; "
        "install libmicrohttpd-dev and libjansson-dev and build it again");
}

#else

#include "page_files.h"
#include "server.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STANDARD_BODY (UINT64_C(256) << 20)
#define STANDARD_MEMORY (UINT64_C(2) << 30)

static bool take_bytes(app *a, option_id id, uint64_t *bytes)
{
    const char *text = app_option(a, id);
    char why[256];
    if (text && !size_parse(text, "byte", 0, bytes, why, sizeof why)) {
        app_usage(a, "--%s: %s", option_specs[id].name, why);
        return false;
    }
    if (*bytes > SIZE_MAX / 8)
        *bytes = SIZE_MAX / 8;
    return true;
}

static bool take_options(app *a, server_options *o)
{
    uint64_t port, threads;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (!app_number(a, OPT_PORT, 0, &port) ||
        !app_number(a, OPT_WORKERS, processors > 0 ? (uint64_t)processors : 1, &threads))
        return false;
    *o = (server_options){.host = "127.0.0.1", .port = (uint16_t)port, .most_body = STANDARD_BODY};
    o->most_kept = STANDARD_MEMORY;
    if (port > 65535 || threads < 1 || threads > 64) {
        app_usage(a, port > 65535 ? "--port: at most 65535" : "--threads: from 1 to 64");
        return false;
    }
    o->threads = (unsigned)threads;
    if (app_option(a, OPT_HOST))
        o->host = app_option(a, OPT_HOST);
    o->page_folder = app_option(a, OPT_PAGE);
    return inputs_option(a, &o->inputs) && take_bytes(a, OPT_MAX_BODY, &o->most_body) &&
           take_bytes(a, OPT_MEMORY, &o->most_kept);
}

/* The browser outlives this process: it gets usual signals, and none of our files but standard input. */
static void become_browser(const char *tool, const char *address)
{
    sigset_t none;
    int nothing = open("/dev/null", O_WRONLY);
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (nothing >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 && dup2(nothing, STDERR_FILENO) >= 0)
        execlp(tool, tool, address, (char *)NULL);
}

/* In a child of a child, so that nobody has to wait for it. Where it fails, the printed address is left. */
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

/* What ends the server. Under nohup a lost terminal does not. */
static void choose_signals(sigset_t *set)
{
    struct sigaction old;
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &old) != 0 || old.sa_handler != SIG_IGN)
        sigaddset(set, SIGHUP);
}

static exit_code serve(app *a, server *s)
{
    char why[900];
    sigset_t set;
    int signal;
    for (int i = 0; i < a->opts.positional_count; i++)
        if (!server_add_file(s, a->opts.positional[i], why, sizeof why))
            return app_fail(a, EXIT_INPUT, "%s", why);
    /* Blocked before any thread begins, so that none but this one takes them. */
    choose_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (!server_start(s, why, sizeof why))
        return app_fail(a, EXIT_FAILED, "%s", why);
    printf("Pebble-Bridge is at %s\n", server_address(s));
    fflush(stdout);
    if (page_file_count == 0 && !app_option(a, OPT_PAGE))
        app_note(a, "made without the page: npm was not there when it was built; only the interface below /api/ works");
    if (!server_is_local(s))
        app_note(a, "other machines may reach it: the token keeps others out, but what is sent is not encrypted");
    if (!app_option(a, OPT_NO_OPEN))
        open_browser(server_ticket_address(s));
    sigwait(&set, &signal);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* whoever does not want to wait for the end asks again */
    return EXIT_DONE;
}

exit_code cmd_ui(app *a)
{
    server_options wanted;
    if (!take_options(a, &wanted))
        return EXIT_USAGE;
    server *s = server_new(&wanted);
    if (!s)
        return app_fail(a, EXIT_FAILED, "no memory, or no random bytes for the token from /dev/urandom");
    exit_code code = serve(a, s);
    server_free(s);
    return code;
}

#endif
