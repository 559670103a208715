/* phases.h -- pb_phases as a field of a JSON document. */
#ifndef PBI_PHASES_H
#define PBI_PHASES_H

#include "base/out.h"
#include "pebble/report.h"

/* ,"phases":{"forward":{"time":100,"moves":100},...} */
void pbi_phases_json(pbi_out *out, const pb_phases *p);

#endif
