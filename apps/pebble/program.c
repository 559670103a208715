/* program.c -- see program.h. */
#define _XOPEN_SOURCE 700
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A text of up to 64 KiB fits into the pipe, so that nobody waits for the other. */
static int feed(const char *input)
{
    int pair[2];
    if (pipe(pair) != 0)
        return -1;
    ssize_t done = write(pair[1], input, strlen(input));
    close(pair[1]);
    if (done == (ssize_t)strlen(input))
        return pair[0];
    close(pair[0]);
    errno = EIO;
    return -1;
}

static void read_answer(int file, char *answer, size_t room)
{
    size_t used = 0;
    char rest[512];
    for (ssize_t count = 1; count != 0;) {
        bool full = used + 1 >= room;
        count = read(file, full ? rest : answer + used, full ? sizeof rest : room - 1 - used);
        if (count < 0 && errno != EINTR)
            break;
        if (count > 0 && !full)
            used += (size_t)count;
    }
    answer[used] = '\0';
}

static int run(const char *const words[], int input, bool quiet, char *answer, size_t room)
{
    int pair[2], state;
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (pipe(pair) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addclose(&actions, pair[0]);
    posix_spawn_file_actions_adddup2(&actions, pair[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, pair[1]);
    if (input >= 0)
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (quiet)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(&child, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    if (error == 0)
        read_answer(pair[0], answer, room);
    close(pair[0]);
    if (error != 0) {
        errno = error;
        return -1;
    }
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

int program_run(const char *const words[], char *answer, size_t room) { return run(words, -1, false, answer, room); }

int program_quiet(const char *const words[], char *answer, size_t room) { return run(words, -1, true, answer, room); }

int program_feed(const char *const words[], const char *input, char *answer, size_t room)
{
    int file = feed(input);
    if (file < 0)
        return -1;
    int code = run(words, file, false, answer, room);
    int error = errno;
    close(file);
    errno = error;
    return code;
}
