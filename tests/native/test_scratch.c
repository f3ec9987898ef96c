/* What a context holds between runs: given back after a large run, kept where sizes alternate. */
#include "modules.h"

enum { WIDTH = 8, HIDDEN = 64, LARGE = 6000, SMALL = 1 };

static hw_context *context;
static hw_module *feed_forward;
static float *x;
static float *y;

/* Runs so many rows; returns what is held then. */
static size_t held_after(size_t rows) {
  CHECK_STATUS(forward_rows(context, feed_forward, x, rows, y), HW_OK);
  return hw_context_scratch_bytes(context);
}

static void start(void) {
  CHECK(hw_context_create(&context) == HW_OK, "create");
  const hw_feed_forward_config config = {.d_model = WIDTH, .d_ff = HIDDEN};
  CHECK(hw_feed_forward_create(context, &config, &feed_forward) == HW_OK, "create");
  x = check_floats((size_t)LARGE * WIDTH);
  y = check_floats((size_t)LARGE * WIDTH);
  check_fill(x, (size_t)LARGE * WIDTH);
}

static void end(void) {
  hw_module_destroy(feed_forward);
  hw_context_destroy(context);
  free(x);
  free(y);
}

static void test_given_back(void) {
  start();
  const size_t alone = held_after(SMALL);
  const size_t large = held_after(LARGE);
  CHECK(large > (size_t)1 << 20, "the test's large run needs %zu bytes only", large);
  CHECK(held_after(LARGE / 2) == large, "half of the rows: %zu bytes held", hw_context_scratch_bytes(context));
  CHECK(held_after(SMALL) == alone, "one row: %zu bytes held, expected %zu", hw_context_scratch_bytes(context), alone);
  end();
}

static void test_alternating(void) {
  start();
  size_t changes = 0;
  for (size_t repeat = 0; repeat < 40; repeat++) {
    const size_t large = held_after(LARGE);
    changes += held_after(SMALL) < large ? 1 : 0;
  }
  CHECK(changes <= 1, "given back %zu times", changes);
  /* Two small ones for each large one, and three, and so on. */
  for (size_t small = 2; small <= 15; small++) {
    changes = 0;
    for (size_t repeat = 0; repeat < 10 * small; repeat++) {
      const size_t before = hw_context_scratch_bytes(context);
      changes += held_after(repeat % (small + 1) == 0 ? LARGE : SMALL) < before ? 1 : 0;
    }
    CHECK(changes <= 2, "%zu small runs for each large one: given back %zu times", small, changes);
  }
  end();
}

/* However often sizes have alternated. */
static void test_given_back_at_last(void) {
  start();
  const size_t alone = held_after(SMALL);
  for (size_t repeat = 0; repeat < 400; repeat++) {
    held_after(repeat % 40 < 20 ? LARGE : SMALL);
  }
  held_after(LARGE);
  for (size_t repeat = 0; repeat < 16; repeat++) {
    held_after(SMALL);
  }
  CHECK(held_after(SMALL) == alone, "%zu bytes held", hw_context_scratch_bytes(context));
  end();
}

static void test_small_is_kept(void) {
  start();
  const size_t rows = 3500;
  const size_t held = held_after(rows);
  CHECK(held > (size_t)1 << 19 && held <= (size_t)1 << 20, "the test's run needs %zu bytes", held);
  CHECK(held_after(SMALL) == held, "%zu bytes held, expected %zu", hw_context_scratch_bytes(context), held);
  end();
}

int main(void) {
  check_seed(5);
  check_run("scratch of a large run is given back before one that needs a quarter of it", test_given_back);
  check_run("sizes that alternate keep their memory", test_alternating);
  check_run("after 16 small runs it is given back, whatever was before", test_given_back_at_last);
  check_run("up to a mebibyte is kept", test_small_is_kept);
  return check_result();
}
