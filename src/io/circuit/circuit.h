/* circuit.h -- a netlist of named signals, and its graph: shared by the readers of circuits.
 *
 *     pbi_circuit_signal(c, "n5", 2, place, &lhs);
 *     pbi_circuit_signal(c, "a", 1, place, &s);
 *     pbi_circuit_operand(c, s);                           ... for each
 *     pbi_circuit_define(c, lhs, PBI_SIGNAL_GATE, place);  takes these operands
 *
 * Signals may be used before they are defined. Every gate becomes a node of cost and size 1. Wires (buffers and
 * inverters) and constants are free: readers of a wire read its source. docs/formats.md has the details.
 */
#ifndef PBI_IO_CIRCUIT_CIRCUIT_H
#define PBI_IO_CIRCUIT_CIRCUIT_H

#include "base/name_index.h"
#include "io/text_source.h"
#include "pebble/io.h"

typedef enum pbi_signal_kind {
    PBI_SIGNAL_UNKNOWN, /* mentioned only */
    PBI_SIGNAL_INPUT,
    PBI_SIGNAL_GATE,
    PBI_SIGNAL_WIRE, /* one operand, and the same value or its negation */
    PBI_SIGNAL_CONSTANT
} pbi_signal_kind;

typedef struct pbi_signal {
    uint64_t line, column;  /* of the first mention */
    uint64_t defined;       /* the line of its definition */
    uint64_t first;         /* index of its first operand */
    uint64_t label;         /* another name, as an offset into the text; 0: none */
    uint32_t operand_count; /* from `first` on */
    uint32_t node;
    uint8_t kind;
    bool read; /* an input that some gate or output needs */
} pbi_signal;

typedef struct pbi_circuit_output {
    uint32_t signal;
    uint64_t label; /* as in pbi_signal */
} pbi_circuit_output;

typedef struct pbi_circuit {
    pb_context *ctx;
    pb_arena *arena;
    pb_inputs inputs;
    bool open_inputs; /* the format names no inputs: undefined signals are inputs */
    pb_buffer text;
    uint64_t *start; /* of the signals' names in text */
    size_t start_room;
    pbi_name_index index;
    pbi_signal *signal;
    size_t signal_room;
    uint32_t count;
    uint32_t *operand;
    size_t operand_count, operand_room, taken; /* taken: those before it belong to definitions */
    uint32_t *order;                           /* signals in the order of their definitions */
    size_t order_count, order_room;
    pbi_circuit_output *output;
    size_t output_count, output_room;
    uint64_t latches;
} pbi_circuit;

/* Memory comes from `arena`, which must outlive the circuit. */
pb_status pbi_circuit_init(pbi_circuit *c, pb_context *ctx, pb_arena *arena, pb_inputs inputs);

/* The signal of this name; a new one if there is none. */
pb_status pbi_circuit_signal(pbi_circuit *c, const char *name, size_t length, pbi_place place, uint32_t *out);
pb_status pbi_circuit_operand(pbi_circuit *c, uint32_t signal);
/* A gate or wire takes the operands since the last one; inputs and constants leave them. PB_EGRAPH at `place` if the
 * signal is already defined. */
pb_status pbi_circuit_define(pbi_circuit *c, uint32_t signal, pbi_signal_kind kind, pbi_place place);
/* The kind of a signal that is computed from this number of operands. */
pbi_signal_kind pbi_circuit_kind(size_t operands);
pb_status pbi_circuit_output_add(pbi_circuit *c, uint32_t signal);
/* A register is a cut: its state is an input, its next state an output. */
pb_status pbi_circuit_latch(pbi_circuit *c, uint32_t holds, uint32_t next, pbi_place place);
/* Keeps a text for the `label` of a signal or output. */
pb_status pbi_circuit_label(pbi_circuit *c, const char *text, size_t length, uint64_t *out);

/* Everything was read. `name` is the graph's. Errors: undefined signals, rings of wires, cycles. */
pb_status pbi_circuit_freeze(pbi_circuit *c, const char *name, pb_arena *result, const pb_graph **out);

#endif
