/* bare_page.c -- the command without the page, as a build without npm has it. */
#include "server/page_files.h"

const page_file page_files[] = {{0}};
const size_t page_file_count = 0;
