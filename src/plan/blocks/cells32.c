/* cells32.c -- the table with cells of 32 bits. */
#define CELL uint32_t
#define FILL pbi_block_table_fill32
#include "plan/blocks/cells.h"
