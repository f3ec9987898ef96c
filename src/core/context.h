/* What outlives a run: the generator, scratch memory and threads. */
#ifndef HW_CORE_CONTEXT_H
#define HW_CORE_CONTEXT_H

#include "core/arena.h"
#include "core/parallel.h"
#include "core/random.h"
#include "core/threads.h"

/* Two runs with the same need the same scratch. */
typedef struct hw_scratch_key {
  const void *module; /* NULL: nothing is known of the run */
  uint64_t version;   /* of the module, and of whatever was where it is */
  size_t batch;
  size_t tokens;
  size_t logits;
} hw_scratch_key;

struct hw_context {
  hw_generator generator;
  hw_arena arena;
  hw_team *team;       /* NULL: one thread; that of `threads`, or JavaScript's */
  hw_threads *threads; /* NULL, or those that the context has started */
  size_t small_runs;   /* in a row, that needed much less than the arena holds */
  size_t patience;     /* small runs after which it is given back */
  bool has_been_more;  /* it was given back, and has not grown since */
  hw_scratch_key last; /* the run that was measured last */
  size_t last_bytes;
};

/* From now on runs share their work among the team, NULL: nobody. */
void hw_context_join(hw_context *context, hw_team *team);

/* Before a run: empties the arena, makes room for `bytes`, and gives back what hw_context_scratch_bytes says is too much.
 * HW_ERROR_MEMORY leaves the arena empty and usable. */
hw_status hw_context_reserve(hw_context *context, size_t bytes);

#endif
