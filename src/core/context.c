#include "core/context.h"

/* torch's default_rng_seed_val */
static const uint64_t default_seed = 67280421310721u;

hw_status hw_context_create(hw_context **context) {
  *context = hw_allocate_zeroed(sizeof(hw_context));
  if (*context == NULL) {
    return HW_ERROR_MEMORY;
  }
  hw_generator_seed(&(*context)->generator, default_seed);
  return HW_OK;
}

void hw_context_destroy(hw_context *context) {
  if (context != NULL) {
    hw_arena_release(&context->arena);
    hw_release(context);
  }
}

size_t hw_context_scratch_bytes(const hw_context *context) { return context->arena.capacity; }

void hw_manual_seed(hw_context *context, uint64_t seed) { hw_generator_seed(&context->generator, seed); }

void hw_rand(hw_context *context, float *out, size_t count) {
  hw_generator_uniform(&context->generator, 0.0F, 1.0F, out, count);
}

void hw_uniform(hw_context *context, float from, float to, float *out, size_t count) {
  hw_generator_uniform(&context->generator, from, to, out, count);
}

void hw_randn(hw_context *context, float *out, size_t count) { hw_generator_normal(&context->generator, out, count); }
