/* A C program's threads: the same bits with any number of them, and what is refused. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "modules.h"

enum { BATCH = 2, TOKENS = 70, D_MODEL = 96, HEADS = 4, D_FF = 200, LAYERS = 2, COUNT = BATCH * TOKENS * D_MODEL };

static float x[COUNT];

/* What a stack in training mode, with dropout, gives on a context of so many threads. */
static void run(hw_context *context, float *y) {
  const hw_transformer_block_config config = {
      .d_model = D_MODEL, .num_heads = HEADS, .d_ff = D_FF, .dropout = 0.1, .norm_first = true, .is_causal = true};
  hw_module *stack = NULL;
  CHECK_STATUS(hw_manual_seed(context, 7), HW_OK);
  CHECK_STATUS(make_stack(context, &config, LAYERS, &stack), HW_OK);
  CHECK_STATUS(forward_tokens(context, stack, x, BATCH, TOKENS, y, NULL), HW_OK);
  hw_module_destroy(stack);
}

static void test_same_bits(void) {
  static const size_t counts[] = {1, 2, 4, 3, 1, 7};
  static float expected[COUNT];
  static float y[COUNT];
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  run(context, expected);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    CHECK_STATUS(hw_context_set_threads(context, counts[i]), HW_OK);
    run(context, y);
    CHECK(memcmp(y, expected, sizeof y) == 0, "%zu threads give other bits", counts[i]);
    check_case();
  }
  hw_context_destroy(context);
}

static void test_refused(void) {
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  CHECK_STATUS(hw_context_set_threads(NULL, 2), HW_ERROR_VALUE);
  CHECK_STATUS(hw_context_set_threads(context, 0), HW_ERROR_VALUE);
  CHECK_STATUS(hw_context_set_threads(context, SIZE_MAX), HW_ERROR_VALUE);
  CHECK_STATUS(hw_context_set_threads(context, HW_MOST_THREADS + 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_context_set_threads(context, 3), HW_OK);
  CHECK_STATUS(hw_context_set_threads(context, 0), HW_ERROR_VALUE);
  static float y[COUNT];
  run(context, y);
  hw_context_destroy(context);
  check_case();
}

static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Workers look for work for a moment, then sleep: in half a second they take next to nothing. */
static void test_idle(void) {
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  CHECK_STATUS(hw_context_set_threads(context, 4), HW_OK);
  static float y[COUNT];
  run(context, y);
  const struct timespec half_a_second = {.tv_nsec = 500000000};
  const double before = cpu_seconds();
  nanosleep(&half_a_second, NULL);
  CHECK(cpu_seconds() - before < 0.25, "idle threads took %g s of half a second", cpu_seconds() - before);
  hw_context_destroy(context);
  check_case();
}

static void ignore(int signal) { (void)signal; }

/* A program blocks a signal in its own threads and waits for it: no thread of the engine takes it. */
static void test_signals(void) {
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  CHECK_STATUS(hw_context_set_threads(context, 4), HW_OK);
  sigset_t waited;
  sigset_t before;
  sigemptyset(&waited);
  sigaddset(&waited, SIGUSR1);
  const struct sigaction action = {.sa_handler = ignore};
  sigaction(SIGUSR1, &action, NULL);
  pthread_sigmask(SIG_BLOCK, &waited, &before);
  CHECK(!sigismember(&before, SIGUSR1), "the caller's own signals are blocked");
  kill(getpid(), SIGUSR1);
  const struct timespec moment = {.tv_nsec = 100000000};
  nanosleep(&moment, NULL); /* time for a thread that takes it */
  CHECK(sigtimedwait(&waited, NULL, &moment) == SIGUSR1, "the signal went to another thread");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  hw_context_destroy(context);
  check_case();
}

/* ThreadSanitizer ends a child that starts threads. */
#ifdef __SANITIZE_THREAD__
enum { CHILD_THREADS = 1 };
#else
enum { CHILD_THREADS = 3 };
#endif

/* Whether a child sets the threads of one context and computes with it, and destroys another. */
static bool child_works(hw_context *context, hw_context *other, const float *expected) {
  static float y[COUNT];
  hw_context_destroy(other);
  const bool is_set = hw_context_set_threads(context, CHILD_THREADS) == HW_OK;
  run(context, y);
  hw_context_destroy(context);
  return is_set && memcmp(y, expected, sizeof y) == 0;
}

static void test_fork(void) {
  static float y[COUNT];
  hw_context *contexts[2] = {NULL, NULL};
  for (size_t i = 0; i < 2; i++) {
    CHECK_STATUS(hw_context_create(&contexts[i]), HW_OK);
    CHECK_STATUS(hw_context_set_threads(contexts[i], 3), HW_OK);
    run(contexts[i], y);
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(child_works(contexts[0], contexts[1], y) ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %d", status);
  hw_context_destroy(contexts[0]);
  hw_context_destroy(contexts[1]);
  check_case();
}

int main(void) {
  check_seed(21);
  check_fill(x, COUNT);
  check_run("a stack gives the same bits with any number of threads", test_same_bits);
  check_run("no threads, and more than the most, are refused, and the context works on", test_refused);
  check_run("threads without work sleep", test_idle);
  check_run("a forked child sets threads anew and frees what it has no threads of", test_fork);
  check_run("signals go to the program's own threads", test_signals);
  return check_result();
}
