/* step_report.h -- pb_step_report as fields of a JSON document. */
#ifndef PBI_STEP_REPORT_H
#define PBI_STEP_REPORT_H

#include "base/out.h"
#include "pebble/summary.h"

void pbi_step_json(pbi_out *out, const pb_graph *g, const pb_step_report *r);

#endif
