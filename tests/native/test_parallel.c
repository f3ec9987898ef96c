/* Loops spread over real threads: every item once, from the start of a team to its end, and results of modules to the bit.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/context.h"
#include "core/parallel.h"
#include "modules.h"

enum { MOST_THREADS = 5, MOST_ITEMS = 257 };

/* Looks for progress: for ever, as far as a test can tell, and not for long. */
static const uint64_t patience = (uint64_t)1 << 40;
static const uint64_t impatience = 1000;

typedef struct worker {
  pthread_t thread;
  hw_team *team;
  size_t number;
} worker;

static worker workers[MOST_THREADS];

static void *work(void *argument) {
  const worker *self = argument;
  hw_team_work(self->team, self->number);
  return NULL;
}

static void start_worker(hw_team *team, size_t number) {
  workers[number] = (worker){.team = team, .number = number};
  if (pthread_create(&workers[number].thread, NULL, work, &workers[number]) != 0) {
    printf("no thread for the test itself\n");
    exit(1);
  }
}

static hw_team *start_team(size_t threads) {
  hw_team *team = NULL;
  CHECK(hw_team_create(threads, patience, &team) == HW_OK, "create");
  for (size_t number = 1; number < threads; number++) {
    start_worker(team, number);
  }
  return team;
}

static void end_team(hw_team *team) {
  const size_t threads = hw_team_threads(team);
  hw_team_stop(team);
  for (size_t number = 1; number < threads; number++) {
    pthread_join(workers[number].thread, NULL);
  }
  hw_team_destroy(team);
}

/* What a task writes is plain memory: a race would show under ThreadSanitizer. */
typedef struct tally {
  uint32_t *runs;
  uint32_t *busy; /* per thread: nonzero while it runs a task */
  size_t threads;
} tally;

static void count(const void *job, size_t item, size_t thread) {
  const tally *t = job;
  CHECK(thread < t->threads, "thread %zu of %zu", thread, t->threads);
  CHECK(t->busy[thread]++ == 0, "thread %zu runs two tasks at once", thread);
  t->runs[item]++;
  t->busy[thread]--;
}

static void check_loop(hw_team *team, size_t items) {
  uint32_t runs[MOST_ITEMS] = {0};
  uint32_t busy[MOST_THREADS] = {0};
  const tally job = {runs, busy, hw_team_threads(team)};
  hw_parallel_for(team, 0.0, items, count, &job);
  for (size_t item = 0; item < MOST_ITEMS; item++) {
    CHECK(runs[item] == (item < items), "threads=%zu items=%zu: item %zu ran %u times", job.threads, items, item,
          runs[item]);
  }
  check_case();
}

static void test_every_item_once(void) {
  static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 64, MOST_ITEMS};
  for (size_t threads = 1; threads <= MOST_THREADS; threads++) {
    hw_team *team = threads == 1 ? NULL : start_team(threads);
    for (size_t repeat = 0; repeat < 200; repeat++) {
      check_loop(team, sizes[repeat % (sizeof sizes / sizeof *sizes)]);
    }
    if (team != NULL) {
      end_team(team);
    }
  }
}

static void test_absent_workers(void) {
  hw_team *team = NULL;
  CHECK_STATUS(hw_team_create(MOST_THREADS, patience, &team), HW_OK);
  check_loop(team, MOST_ITEMS);
  for (size_t number = 1; number < MOST_THREADS; number++) {
    start_worker(team, number);
    check_loop(team, MOST_ITEMS);
  }
  end_team(team);
}

static void test_start_and_end(void) {
  for (size_t repeat = 0; repeat < 50; repeat++) {
    hw_team *team = start_team(2 + repeat % (MOST_THREADS - 1));
    if (repeat % 2 == 0) {
      check_loop(team, 3);
    }
    end_team(team);
    check_case();
  }
  hw_team_destroy(NULL);
}

/* A worker that ends with its item in hand; the main thread's items wait until it has one. */
static void die(const void *job, size_t item, size_t thread) {
  (void)item;
  atomic_bool *taken = *(atomic_bool *const *)job;
  if (thread != 0) {
    atomic_store(taken, true);
    pthread_exit(NULL);
  }
  while (!atomic_load(taken)) {
  }
}

/* Runs in a process of its own, which must not survive it. */
static void lose_worker(void) {
  hw_team *team = NULL;
  atomic_bool taken = false;
  atomic_bool *const job = &taken;
  if (hw_team_create(2, impatience, &team) != HW_OK) {
    _exit(0);
  }
  start_worker(team, 1);
  hw_parallel_for(team, 1e6, 2, die, &job);
  _exit(0);
}

static void test_dead_worker(void) {
  int status = 0;
  const pid_t child = fork();
  CHECK(child >= 0, "no process");
  if (child == 0) {
    fclose(stderr);
    lose_worker();
  }
  CHECK(waitpid(child, &status, 0) == child, "no end");
  CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0, "the loop ended as if all items had run");
  check_case();
}

/* y of a module without a team, then with teams of 2 and more. */
typedef void forward(hw_context *context, const void *module, const float *x, float *y);

enum { TOKENS = 300, WIDTH = 64, HEADS = 4 };

static void check_module(hw_context *context, forward *run, const void *module) {
  const size_t count = (size_t)TOKENS * WIDTH;
  float *x = check_floats(count);
  float *expected = check_guarded(count);
  check_fill(x, count);
  run(context, module, x, expected);
  for (size_t threads = 2; threads <= MOST_THREADS; threads++) {
    float *y = check_guarded(count);
    hw_context_join(context, start_team(threads));
    run(context, module, x, y);
    end_team(context->team);
    hw_context_join(context, NULL);
    CHECK(memcmp(y, expected, count * sizeof *y) == 0, "threads=%zu", threads);
    check_case();
    free(y);
  }
  free(x);
  free(expected);
}

static void run_linear(hw_context *context, const void *module, const float *x, float *y) {
  CHECK_STATUS(forward_rows(context, module, x, TOKENS, y), HW_OK);
}

static void run_attention(hw_context *context, const void *module, const float *x, float *y) {
  CHECK_STATUS(forward_tokens(context, *(hw_module *const *)module, x, 1, TOKENS, y, NULL), HW_OK);
}

/* Half of the tokens, one, and the rest. */
static void run_cached(hw_context *context, const void *module, const float *x, float *y) {
  hw_module *attention = *(hw_module *const *)module;
  const size_t pieces[] = {TOKENS / 2, 1, TOKENS - TOKENS / 2 - 1};
  hw_forward_options options = {.cache = NULL};
  CHECK_STATUS(hw_module_create_cache(attention, 1, NULL, &options.cache), HW_OK);
  for (size_t i = 0; i < 3; i++) {
    const size_t at = hw_key_value_cache_length(options.cache) * WIDTH;
    CHECK_STATUS(forward_tokens(context, attention, x + at, 1, pieces[i], y + at, &options), HW_OK);
  }
  hw_key_value_cache_destroy(options.cache);
}

static void test_modules(void) {
  const hw_multi_head_attention_config config = {.d_in = WIDTH,
                                                 .d_out = WIDTH,
                                                 .context_length = TOKENS,
                                                 .num_heads = HEADS,
                                                 .out_proj = true,
                                                 .out_bias = true,
                                                 .is_causal = true};
  hw_context *context = NULL;
  hw_module *linear = NULL;
  hw_module *attention = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  CHECK_STATUS(make_linear(context, WIDTH, WIDTH, true, &linear), HW_OK);
  CHECK_STATUS(hw_multi_head_attention_create(context, &config, &attention), HW_OK);
  check_module(context, run_linear, linear);
  check_module(context, run_attention, &attention);
  check_module(context, run_cached, &attention);
  hw_module_destroy(linear);
  hw_module_destroy(attention);
  hw_context_destroy(context);
}

int main(void) {
  check_run("every item runs once, on a thread of the team", test_every_item_once);
  check_run("a loop waits for no worker that has not joined", test_absent_workers);
  check_run("teams start and end, used or not", test_start_and_end);
  check_run("a loop whose worker has died with an item ends in a trap", test_dead_worker);
  check_run("modules give the same bits on 1 to 5 threads", test_modules);
  return check_result();
}
