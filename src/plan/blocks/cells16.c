/* cells16.c -- the table with cells of 16 bits. */
#define CELL uint16_t
#define FILL pbi_block_table_fill16
#include "plan/blocks/cells.h"
