/* machine_models.h -- the fields of pebble-machine/1 that `pebble machine measure` and `fit` write. */
#ifndef PBI_MACHINE_MODELS_H
#define PBI_MACHINE_MODELS_H

#include "io/json_read.h"
#include "pebble/machine.h"

/* `models` of a processor: [{"op":"conv","dtype":"float32","by":"flops","curves":[[[flops,bytes,time],...],...]}] */
pb_status pbi_models_read(pbi_json *json, pbi_field field, pb_arena *scratch, pb_arena *result,
                          pb_machine_processor *p);
/* `reference` of a machine: {"what":"train:model=mlp","time":12345}. */
pb_status pbi_reference_read(pbi_json *json, pbi_field field, pb_arena *result, pb_machine_reference *out);

#endif
