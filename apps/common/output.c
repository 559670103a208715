/* output.c -- see output.h.
 *
 * printf loses the reason of a failed write unless each call is checked. So standard output has a buffer that is larger
 * than nearly all text: writes happen only when it is flushed, or in a sink, and both keep errno. If the text is
 * larger, the stream's error flag is still set at the end, but the reason is lost.
 */
#define _XOPEN_SOURCE 700
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char room[1 << 18];
static int first_error; /* errno of the first write to standard output that failed */

/* The next file that is opened would get the number of a closed standard stream, and printed text would go into
 * that file. So /dev/null takes the number, opened in the wrong direction, so that using it still fails. */
static void occupy(int stream)
{
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF)
        return;
    int stand_in = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (stand_in >= 0 && stand_in != stream) {
        dup2(stand_in, stream);
        close(stand_in);
    }
}

void output_begin(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        occupy(stream);
    /* A closed pipe and a file at its largest size are failed writes, not deaths. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, room, _IOFBF, sizeof room);
}

static void note_error(int error)
{
    if (!first_error)
        first_error = error ? error : EIO;
}

static pb_status write_stream(void *state, const char *bytes, size_t length)
{
    errno = 0;
    if (fwrite(bytes, 1, length, state) == length)
        return PB_OK;
    if (state == stdout)
        note_error(errno);
    return PB_EIO;
}

pb_sink stream_sink(FILE *stream) { return (pb_sink){write_stream, stream}; }

void output_flush(void)
{
    errno = 0;
    if (fflush(stdout) != 0)
        note_error(errno);
}

/* Some file systems report a write that failed when the file is closed. Closing a copy shows that, too. */
static void try_close(void)
{
    int copy = dup(STDOUT_FILENO);
    errno = 0;
    if (copy >= 0 && close(copy) != 0 && errno != EINTR)
        note_error(errno);
}

/* Of a stream that failed where nobody kept errno. */
static bool reader_is_gone(void)
{
    struct pollfd end = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&end, 1, 0) == 1 && (end.revents & (POLLERR | POLLHUP));
}

const char *output_failure(void)
{
    output_flush();
    if (!first_error)
        try_close();
    if (!first_error && !ferror(stdout))
        return NULL;
    if (first_error == EPIPE || (!first_error && reader_is_gone()))
        return NULL;
    return first_error ? strerror(first_error) : "a write failed";
}
