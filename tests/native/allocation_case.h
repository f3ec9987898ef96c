/* Calls whose allocations are made to fail, one after another: the status says so, nothing leaks, and everything works on
 * and gives the numbers that it gave before. */
#ifndef HW_TESTS_ALLOCATION_CASE_H
#define HW_TESTS_ALLOCATION_CASE_H

#include "check.h"
#include "core/memory.h"

enum { D_IN = 7, WIDTH = 5, HEADS = 3, TOKENS = 9, BATCH = 2, LAYERS = 2 };

static const size_t largest_allocation = (size_t)1 << 30;

static size_t allocations;
static size_t failing_allocation = SIZE_MAX;

/* In place of the C library's: the engine allocates with nothing else. */
void *aligned_alloc(size_t alignment, size_t bytes) {
  void *memory = NULL;
  if (allocations++ == failing_allocation || bytes > largest_allocation ||
      posix_memalign(&memory, alignment, bytes) != 0) {
    return NULL;
  }
  return memory;
}

/* What a call reads, and where it leaves all that it gives. */
static float x[BATCH * TOKENS * D_IN];
static float mask[TOKENS * TOKENS];
static struct {
  float y[BATCH * TOKENS * HEADS * WIDTH];
  float weights[LAYERS * BATCH * HEADS * TOKENS * TOKENS];
  float traced[LAYERS * TOKENS * TOKENS];
} results;

typedef hw_status scenario(hw_context *context);

/* Without a failure. */
static inline void run_freely(hw_context *context, scenario *run, const char *when) {
  memset(&results, 0, sizeof results);
  failing_allocation = SIZE_MAX;
  hw_manual_seed(context, 7);
  CHECK(run(context) == HW_OK, "%s", when);
}

/* Fails the allocations of the call one by one, until it allocates no more. After each failure the same context, which is
 * as it was, and the modules must give what they gave before. */
static inline void sweep_failures(scenario *run) {
  hw_context *context = NULL;
  failing_allocation = SIZE_MAX;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  run_freely(context, run, "before any failure");
  hw_context_destroy(context);
  static unsigned char expected[sizeof results];
  memcpy(expected, &results, sizeof results);
  for (size_t failing = 0;; failing++) {
    CHECK(hw_context_create(&context) == HW_OK, "create");
    allocations = 0;
    failing_allocation = failing;
    hw_manual_seed(context, 7);
    const hw_status status = run(context);
    const bool failed = allocations > failing;
    run_freely(context, run, "after a failure");
    CHECK(memcmp(expected, &results, sizeof results) == 0, "after failure of allocation %zu: other numbers", failing);
    hw_context_destroy(context);
    if (!failed) {
      CHECK(status == HW_OK, "status %d without a failure", (int)status);
      CHECK(failing > 0, "nothing was allocated");
      return;
    }
    CHECK(status == HW_ERROR_MEMORY, "allocation %zu failed, status %d", failing, (int)status);
    check_case();
  }
}

/* A module that was made or not; what is drawn next says how much was drawn for it. */
static inline void check_created(hw_context *context, hw_status status, const void *created) {
  CHECK((status == HW_OK) == (created != NULL), "status %d", (int)status);
  if (status == HW_OK) {
    hw_rand(context, results.y, 3);
  }
}

static inline hw_forward_options options(hw_trace **trace) {
  return (hw_forward_options){
      .mask = {.kind = HW_MASK_FLOAT, .data = mask, .query_stride = TOKENS, .key_stride = 1},
      .weights = results.weights,
      .trace = trace,
  };
}

/* Asks a trace for rows and a map, if there is one. */
static inline hw_status use_trace(hw_context *context, hw_status status, const hw_trace *trace, float *rows) {
  CHECK((status == HW_OK) == (trace != NULL), "status %d with%s trace", (int)status, trace == NULL ? "out" : "");
  float map[16];
  if (status == HW_OK) {
    status = hw_trace_weights(context, trace, 0, 0, 0, TOKENS, rows);
  }
  return status == HW_OK ? hw_trace_map(context, trace, 0, 0, 4, map) : status;
}

/* A scenario that makes a module, by an expression that has `context` and `&created`, and destroys it. */
#define CREATES(name, make)                          \
  static hw_status name(hw_context *context) {       \
    hw_module *created = (hw_module *)(uintptr_t)64; \
    const hw_status status = make;                   \
    check_created(context, status, created);         \
    hw_module_destroy(created);                      \
    return status;                                   \
  }

#endif
