/*
 * The state of a call. Every forward takes it besides its own arguments.
 *
 * A forward runs twice. The first run measures: the arena measures, operations compute nothing, and the memory of the
 * tape is allocated. The second run computes and cannot fail. Caches, traces and the random number generator change
 * only in the second run. A call like the last one is not measured again.
 *
 * A recorded forward pushes the data for its backward onto its tape; each module chooses that data. The backward pops
 * it in reverse order, and is measured and run like a forward. The data exists in both runs and is not changed.
 */
#ifndef HW_OPS_RUN_H
#define HW_OPS_RUN_H

#include "core/context.h"
#include "core/tile.h"

/* Results of a run besides its output. */
typedef struct hw_tape {
  hw_trace **traces;       /* NULL, or one trace for each layer of attention, in the order of the layers */
  size_t count;            /* of traces that have been made, or found again by the run that computes */
  hw_arena *kept;          /* NULL, or what a backward needs */
  size_t recomputed_bytes; /* forward: the largest tape of a checkpointed block, which the backward makes again */
  size_t recomputed_start; /* backward: where that tape begins, after all that the forward kept */
} hw_tape;

/* A token of which a run keeps what its parts add up, of a model. */
typedef struct hw_watch {
  const struct hw_watch *next; /* of another token; NULL: none */
  size_t row;                  /* of all tokens */
  float *heads;                /* [layers, heads · head_dim]: heads' outputs before the projection */
  float *branches;             /* [layers, 2, d_model]: what attention and feed-forward add to the residual stream */
} hw_watch;

/* Which of a wrapper's heads a module is. */
typedef struct hw_head_place {
  const hw_module *wrapper;
  size_t head;
  size_t others;
} hw_head_place;

typedef struct hw_run {
  hw_context *context;
  hw_arena *arena;
  hw_tape tape;
  const hw_forward_options *options; /* of the whole call */
  const struct hw_angles *angles;    /* of a model's positions, by the number of its rotary (ops/rotary.h) */
  const hw_watch *watch;             /* NULL, or what to keep of some tokens */
  hw_head_place place;               /* of the module that runs; zeros: it is no head of a wrapper */
  hw_option_gradients gradients;     /* of a backward: what it adds besides */
  size_t layer;                      /* layers of attention that have run; in a backward, layers that are left */
  bool is_read;                      /* of a model: its values are looked at or go on into a cache, so dropout is off */
  bool only_asked;                   /* the layer under way gives the rows of tokens whose logits are asked for alone */
  hw_status status;                  /* of a run that is measured: what could not be kept */
} hw_run;

typedef void (*hw_forward)(hw_run *run, const void *call);

/* Measures the forward, makes room and runs it. options may be NULL. key: NULL, or what tells a call without options
 * that needs no measuring after one like it. HW_ERROR_VALUE: no context. HW_ERROR_MEMORY: no scratch, or no memory for
 * what the tape keeps; then all entries of options->trace that were made are NULL again. */
hw_status hw_run_forward(hw_context *context, const hw_forward_options *options, const hw_scratch_key *key,
                         hw_forward forward, const void *call);

/* Forward: `kept`, an empty arena, gets what the backward needs, and belongs to the caller; after an error it is empty.
 * Backward: `kept` is that arena again. */
hw_status hw_run_recorded(hw_context *context, const hw_forward_options *options, hw_arena *kept, hw_forward forward,
                          const void *call);
hw_status hw_run_backward(hw_context *context, const hw_forward_options *options, hw_arena *kept, hw_forward backward,
                          const void *call);

static inline bool hw_run_measures(const hw_run *run) { return run->arena->measures; }

/* Room for a matrix of floats, until the arena's `used` is set back; NULL while the run is measured. */
static inline float *hw_run_take_floats(const hw_run *run, size_t rows, size_t columns) {
  return hw_arena_take_floats(run->arena, hw_size_multiply(rows, columns));
}

static inline bool hw_run_records(const hw_run *run) { return run->tape.kept != NULL; }

/* Room on the tape, in a forward that is recorded. NULL while it is measured. */
static inline void *hw_tape_push(const hw_run *run, size_t count, size_t element_bytes) {
  return hw_arena_take(run->tape.kept, count, element_bytes);
}

static inline float *hw_tape_push_floats(const hw_run *run, size_t rows, size_t columns) {
  return hw_tape_push(run, hw_size_multiply(rows, columns), sizeof(float));
}

/* What was pushed last and has not been popped; the arguments are those of the push. */
static inline void *hw_tape_pop(const hw_run *run, size_t count, size_t element_bytes) {
  hw_arena *kept = run->tape.kept;
  assert(kept->used >= hw_arena_size(count, element_bytes));
  kept->used -= hw_arena_size(count, element_bytes);
  return kept->memory + kept->used;
}

static inline float *hw_tape_pop_floats(const hw_run *run, size_t rows, size_t columns) {
  return hw_tape_pop(run, rows * columns, sizeof(float));
}

/* Room on the tape if the run records, else in the arena. */
static inline float *hw_run_keep_floats(const hw_run *run, size_t rows, size_t columns) {
  return hw_run_records(run) ? hw_tape_push_floats(run, rows, columns) : hw_run_take_floats(run, rows, columns);
}

/* The team for a job of so many multiply-adds. A small job stays on the calling thread: telling others takes longer. */
static inline hw_team *hw_run_team(const hw_run *run, double work) {
#ifdef HW_THREADS
  return work >= (double)HW_AWAKE_WORK ? run->context->team : NULL;
#else
  (void)run;
  (void)work;
  return NULL;
#endif
}

/* Shares the items of a job of so many multiply-adds among the run's threads; nothing while the run is measured. */
void hw_run_items(const hw_run *run, double work, size_t items, hw_task task, const void *job);

#endif
