/* replay_corpus.c -- main for fuzz targets in ordinary builds: runs each file of the directories it is given through
 * the target once. A directory that does not exist is passed over; finding no input at all is a failure. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    if (!file || fstat(fileno(file), &status) != 0) {
        perror(path);
        exit(1);
    }
    /* Exactly as many bytes as the file has, so that a sanitizer sees one byte too far. */
    size_t length = (size_t)status.st_size;
    uint8_t *bytes = malloc(length);
    if ((!bytes && length) || fread(bytes, 1, length, file) != length) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, length);
    free(bytes);
}

static int replay_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory)
        return 0;
    int count = 0;
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        char name[4096];
        struct stat status;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (stat(name, &status) == 0 && S_ISREG(status.st_mode)) {
            replay_file(name);
            count++;
        }
    }
    closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++)
        count += replay_directory(argv[i]);
    printf("%d inputs\n", count);
    return count == 0;
}
