/* machine_parts.h -- machines for readers and writers: their parts by kind, and their text. */
#ifndef PBI_MACHINE_PARTS_H
#define PBI_MACHINE_PARTS_H

#include "base/out.h"
#include "pebble/machine.h"

typedef enum pbi_part_kind { PBI_MEMORY, PBI_PROCESSOR, PBI_LINK, PBI_PART_KINDS } pbi_part_kind;

/* The part of a machine that a message is about. */
typedef struct pbi_part {
    pbi_part_kind kind; /* PBI_PART_KINDS: the machine as a whole */
    uint32_t index;
} pbi_part;

/* pb_machine_check that also returns which part is wrong. */
pb_status pbi_machine_check(pb_context *ctx, const pb_machine *m, pbi_part *bad);

/* The machine as a JSON object without a newline at the end; fields that have their default are omitted.
 *   in  file  for people: one part per line, with unknown members; false: the canonical text, one line with known
 *             fields only */
void pbi_machine_write(pbi_out *out, const pb_machine *m, bool file);

#endif
