#include "core/context.h"

#include <math.h>

enum {
  /* Memory held may be this many times what a run needs; a little is kept in any case. */
  MUCH_LESS = 4,
  LITTLE_BYTES = 1 << 20,
  MOST_PATIENCE = 16,
};

/* torch's default_rng_seed_val */
static const uint64_t default_seed = 67280421310721u;

hw_status hw_context_create(hw_context **context) {
  *context = hw_allocate_zeroed(sizeof(hw_context));
  if (*context == NULL) {
    return HW_ERROR_MEMORY;
  }
  hw_generator_seed(&(*context)->generator, default_seed);
  (*context)->patience = 1;
  return HW_OK;
}

void hw_context_destroy(hw_context *context) {
  if (context != NULL) {
    hw_threads_stop(context->threads);
    hw_arena_release(&context->arena);
    hw_release(context);
  }
}

void hw_context_join(hw_context *context, hw_team *team) {
  context->team = team;
  context->last = (hw_scratch_key){0}; /* every thread has scratch */
}

hw_status hw_context_set_threads(hw_context *context, size_t threads) {
  if (context == NULL) {
    return HW_ERROR_VALUE;
  }
  hw_threads_stop(context->threads);
  context->threads = NULL;
  hw_context_join(context, NULL);
  if (threads == 0 || threads > HW_MOST_THREADS) {
    return HW_ERROR_VALUE;
  }
  if (threads > 1) {
    HW_TRY(hw_threads_start(threads, &context->threads));
    hw_context_join(context, hw_threads_team(context->threads));
  }
  return HW_OK;
}

size_t hw_context_scratch_bytes(const hw_context *context) { return context == NULL ? 0 : context->arena.capacity; }

/* Sizes that alternate would be given back and taken again for ever: each time that happens, it takes more small runs. */
hw_status hw_context_reserve(hw_context *context, size_t bytes) {
  hw_arena *arena = &context->arena;
  const bool is_small = arena->capacity > LITTLE_BYTES && bytes < arena->capacity / MUCH_LESS;
  context->small_runs = is_small ? context->small_runs + 1 : 0;
  if (is_small && context->small_runs >= context->patience) {
    hw_arena_release(arena);
    context->small_runs = 0;
    context->has_been_more = true;
  } else if (bytes > arena->capacity && context->has_been_more) {
    context->patience = hw_min(2 * context->patience, MOST_PATIENCE);
    context->has_been_more = false;
  }
  return hw_arena_reserve(arena, bytes);
}

hw_status hw_manual_seed(hw_context *context, uint64_t seed) {
  if (context == NULL) {
    return HW_ERROR_VALUE;
  }
  hw_generator_seed(&context->generator, seed);
  return HW_OK;
}

hw_status hw_get_rng_state(const hw_context *context, uint64_t *state) {
  if (context == NULL || state == NULL) {
    return HW_ERROR_VALUE;
  }
  hw_generator_store(&context->generator, state);
  return HW_OK;
}

hw_status hw_set_rng_state(hw_context *context, const uint64_t *state) {
  const bool can_load = context != NULL && state != NULL;
  return can_load && hw_generator_load(&context->generator, state) ? HW_OK : HW_ERROR_VALUE;
}

static bool can_draw(const hw_context *context, const float *out, size_t count) {
  return context != NULL && (count == 0 || out != NULL);
}

hw_status hw_rand(hw_context *context, float *out, size_t count) { return hw_uniform(context, 0.0F, 1.0F, out, count); }

hw_status hw_uniform(hw_context *context, float from, float to, float *out, size_t count) {
  /* NaN is in no range. */
  if (!can_draw(context, out, count) || !(from <= to && to - from < INFINITY)) {
    return HW_ERROR_VALUE;
  }
  hw_generator_uniform(&context->generator, from, to, out, count);
  return HW_OK;
}

hw_status hw_randn(hw_context *context, float *out, size_t count) {
  if (!can_draw(context, out, count)) {
    return HW_ERROR_VALUE;
  }
  hw_generator_normal(&context->generator, out, count);
  return HW_OK;
}
