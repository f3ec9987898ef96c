/* The state of torch's CPU generator, in torch's layout on 64-bit machines (at::CPUGeneratorImpl::get_state). */
#include <math.h>
#include <string.h>

#include "core/random.h"
#include "core/simd.h"
#include "headwise.h"

/* Places of 64-bit words. What is not named here is 0. */
enum {
  AT_SEED = 0,
  AT_LEFT = 1, /* words before the next twist, and one more; in the high half 1: it was seeded */
  AT_NEXT = 2,
  AT_WORDS = 3,
  AT_NORMAL = AT_WORDS + HW_MT_WORDS + 1,
  AT_HAS_NORMAL = AT_NORMAL + 2,
};

static const uint64_t seeded = (uint64_t)1 << 32;

void hw_generator_store(const hw_generator *generator, uint64_t *state) {
  memset(state, 0, HW_RNG_STATE_WORDS * sizeof *state);
  state[AT_SEED] = generator->seed;
  state[AT_LEFT] = seeded | (HW_MT_WORDS + 1 - generator->next);
  state[AT_NEXT] = generator->next;
  for (size_t i = 0; i < HW_MT_WORDS; i++) {
    state[AT_WORDS + i] = generator->state[i];
  }
  memcpy(state + AT_NORMAL, &generator->cached_normal, sizeof(double));
  state[AT_HAS_NORMAL] = generator->has_cached_normal;
}

bool hw_generator_load(hw_generator *generator, const uint64_t *state) {
  /* A generator of torch's that has drawn nothing has 0 as its next word: it twists first. */
  const uint64_t next = state[AT_LEFT] == (seeded | 1) ? HW_MT_WORDS : state[AT_NEXT];
  double normal;
  memcpy(&normal, state + AT_NORMAL, sizeof normal);
  if (next > HW_MT_WORDS || state[AT_LEFT] != (seeded | (HW_MT_WORDS + 1 - next)) || !isfinite(normal)) {
    return false;
  }
  generator->seed = state[AT_SEED];
  generator->next = (uint32_t)next;
  for (size_t i = 0; i < HW_MT_WORDS + HW_LANES; i++) {
    generator->state[i] = (uint32_t)state[AT_WORDS + i % HW_MT_WORDS];
  }
  generator->cached_normal = normal;
  generator->has_cached_normal = (uint32_t)state[AT_HAS_NORMAL] != 0;
  return true;
}
