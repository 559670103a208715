/* page.c -- the files of the page: from the table inside the command, or from a folder during development. */
#define _XOPEN_SOURCE 700
#include "page_files.h"
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".svg", "image/svg+xml"},
                                           {".png", "image/png"},
                                           {".ico", "image/x-icon"},
                                           {".json", "application/json"},
                                           {".map", "application/json"},
                                           {".woff2", "font/woff2"},
                                           {".webmanifest", "application/manifest+json"}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i][0]) == 0)
            return types[i][1];
    return "application/octet-stream";
}

/* Letters, digits and - _ . in parts that do not begin with a dot: the path cannot leave the folder. */
static bool is_plain(const char *path)
{
    for (const char *c = path; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-' ||
                     *c == '_' || *c == '.' || *c == '/';
        if (!plain || (*c == '/' && (c[1] == '.' || c[1] == '/')))
            return false;
    }
    return path[0] == '/' && path[1];
}

static void from_folder(request *r, const char *path)
{
    char full[2048];
    struct stat info;
    FILE *file = NULL;
    char *bytes = NULL;
    if (snprintf(full, sizeof full, "%s%s", r->s->options.page_folder, path) < (int)sizeof full)
        file = stat(full, &info) == 0 && S_ISREG(info.st_mode) ? fopen(full, "rb") : NULL;
    if (file)
        bytes = malloc((size_t)info.st_size + 1);
    if (bytes && fread(bytes, 1, (size_t)info.st_size, file) == (size_t)info.st_size) {
        respond_bytes(r, type_of(path), bytes, (size_t)info.st_size);
    } else {
        free(bytes);
        respond_refused(r, MHD_HTTP_NOT_FOUND, REFUSED_PATH, "there is no such file; the page is at /");
    }
    if (file)
        fclose(file);
}

static void without_page(request *r)
{
    static const char text[] =
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Pebble-Bridge</title>"
        "<p>The page is " PB_NOT_BUILT_IN(PB_PACKAGE_PAGE) ". "
                                                           "The interface below <code>/api/</code> works.</p></html>\n";
    r->response = (http_response){.status = MHD_HTTP_OK, .type = "text/html; charset=utf-8", .fixed = true};
    r->response.bytes = (char *)(uintptr_t)text;
    r->response.length = sizeof text - 1;
}

void page_respond(request *r)
{
    const char *path = strcmp(r->path, "/") == 0 ? "/index.html" : r->path;
    if (!is_plain(path)) {
        respond_refused(r, MHD_HTTP_NOT_FOUND, REFUSED_PATH, "there is no such file; the page is at /");
        return;
    }
    if (r->s->options.page_folder) {
        from_folder(r, path);
        return;
    }
    for (size_t i = 0; i < page_file_count; i++)
        if (strcmp(page_files[i].path, path) == 0) {
            r->response = (http_response){.status = MHD_HTTP_OK, .type = type_of(path), .fixed = true};
            r->response.bytes = (char *)(uintptr_t)page_files[i].bytes;
            r->response.length = page_files[i].length;
            return;
        }
    if (page_file_count == 0 && strcmp(r->path, "/") == 0)
        without_page(r);
    else
        respond_refused(r, MHD_HTTP_NOT_FOUND, REFUSED_PATH, "there is no such file; the page is at /");
}
