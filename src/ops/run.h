/*
 * A call under way: what every forward takes besides its own arguments.
 *
 * A forward is run twice. The first time it is measured: its arena measures, operations compute nothing, and what the tape
 * keeps is allocated. The second time it computes, and nothing can fail any more: caches, traces and random numbers change
 * only then. A call like the last one is not measured again.
 */
#ifndef HW_OPS_RUN_H
#define HW_OPS_RUN_H

#include "core/context.h"
#include "core/tile.h"

/* What attention leaves behind, an entry for each layer in the order in which they run. */
typedef struct hw_tape {
  hw_trace **entries;
  size_t count; /* that have been pushed, or found again by the run that computes */
} hw_tape;

typedef struct hw_run {
  hw_context *context;
  hw_arena *arena;
  hw_tape *tape;                     /* NULL: nothing is kept */
  const hw_forward_options *options; /* of the whole call */
  size_t layer;                      /* how many layers of attention have run */
  hw_status status;                  /* of a run that is measured: what could not be kept */
} hw_run;

typedef void (*hw_forward)(hw_run *run, const void *call);

/* Measures the forward, makes room and runs it. options may be NULL. key: NULL, or what tells a call without options that
 * needs no measuring after one like it. HW_ERROR_VALUE: no context. HW_ERROR_MEMORY: no scratch, or no memory for what the
 * tape keeps; then all entries of options->trace that were made are NULL again. */
hw_status hw_run_forward(hw_context *context, const hw_forward_options *options, const hw_scratch_key *key,
                         hw_forward forward, const void *call);

static inline bool hw_run_measures(const hw_run *run) { return run->arena->measures; }

/* Room for a matrix of floats, until the arena's `used` is set back; NULL while the run is measured. */
static inline float *hw_run_take_floats(const hw_run *run, size_t rows, size_t columns) {
  return hw_arena_take_floats(run->arena, hw_size_multiply(rows, columns));
}

/* The threads for a job of so many multiply-adds: the caller's alone where waking the others takes longer. */
static inline hw_team *hw_run_team(const hw_run *run, double work) {
#ifdef HW_THREADS
  return work >= (double)HW_PARALLEL_WORK ? run->context->team : NULL;
#else
  (void)run;
  (void)work;
  return NULL;
#endif
}

#endif
