/* Twenty steps of a small GPT-2 follow PyTorch's in float64: tests/fixtures/make-training-fixture.py. */
#include "modules.h"

enum { STEPS = 20, VOCAB = 11, TOKENS = 6, BATCH = 3, WIDTH = 8, HIDDEN = 12, LAYERS = 2, MOST = WIDTH * 3 * WIDTH };

static hw_context *context;
static FILE *fixture;

/* ---- Numbers that torch_referee/data.py makes alike ---- */

static uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ x >> 16;
}

/* In [0, 1). */
static double unit(uint32_t seed, uint32_t index) { return (double)(mix(mix(seed) + index) >> 8) / 16777216.0; }

static void fill(hw_module *module) {
  float values[MOST];
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    hw_parameter_info info;
    CHECK(hw_module_parameter(module, i, &info) == HW_OK, "parameter");
    const bool is_gain = strstr(info.name, "ln_") != NULL && strstr(info.name, "weight") != NULL;
    for (uint32_t e = 0; e < info.shape[0] * info.shape[1]; e++) {
      values[e] = (float)((unit((uint32_t)i, e) * 2.0 - 1.0) * 0.3 + (is_gain ? 1.0 : 0.0));
    }
    CHECK_STATUS(hw_module_load(module, i, 0, info.shape[0], values), HW_OK);
  }
}

static void read_fixture(float *values, size_t count) {
  CHECK(fread(values, sizeof *values, count, fixture) == count, "the fixture is shorter");
}

/* ---- Steps ---- */

static const hw_adamw_config adamw = {.lr = 1e-2, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-8, .weight_decay = 0.1};
static const hw_sgd_config sgd = {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true};

static void step(hw_module *module, hw_optimizer *optimizer, bool with_adamw, uint32_t number, float *loss,
                 double *norm) {
  uint32_t ids[BATCH * TOKENS];
  hw_graph *graph = NULL;
  const hw_loss_input input = {ids, NULL, BATCH, TOKENS, -100, NULL, NULL, NULL};
  for (uint32_t i = 0; i < BATCH * TOKENS; i++) {
    ids[i] = (uint32_t)(unit(1000 + number, i) * VOCAB);
  }
  CHECK_STATUS(hw_model_loss(context, module, &input, loss, &graph), HW_OK);
  CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F), HW_OK);
  hw_graph_destroy(graph);
  CHECK_STATUS(hw_clip_grad_norm(context, module, 1.0, norm), HW_OK);
  if (with_adamw) {
    CHECK_STATUS(hw_adamw_step(context, optimizer, &adamw, NULL, 0), HW_OK);
  } else {
    CHECK_STATUS(hw_sgd_step(context, optimizer, &sgd, NULL, 0), HW_OK);
  }
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    CHECK(hw_module_clear_gradient(module, i) == HW_OK, "clear");
  }
}

/* The keys' bias shifts all scores of a query alike: its gradient is 0 but for rounding, of which AdamW makes whole steps. */
static bool is_noise(const char *name, size_t element) {
  return strstr(name, "c_attn.bias") != NULL && element / WIDTH == 1;
}

static void expect_parameters(hw_module *module) {
  float expected[MOST];
  float got[MOST];
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    hw_parameter_info info;
    CHECK(hw_module_parameter(module, i, &info) == HW_OK, "parameter");
    const size_t count = info.shape[0] * info.shape[1];
    read_fixture(expected, count);
    CHECK_STATUS(hw_module_store(module, i, 0, info.shape[0], got), HW_OK);
    for (size_t e = 0; e < count; e++) {
      CHECK(is_noise(info.name, e) || fabsf(got[e] - expected[e]) <= 1e-4F, "%s, %zu: %.7g, expected %.7g", info.name,
            e, (double)got[e], (double)expected[e]);
    }
  }
}

static void check_training(bool with_adamw) {
  hw_decoder_config config = gpt2_config(VOCAB, TOKENS, LAYERS, WIDTH, 2, HIDDEN);
  float losses[STEPS];
  float norms[STEPS];
  hw_module *module = NULL;
  hw_optimizer *optimizer = NULL;
  config.model.activation = HW_ACTIVATION_GELU_TANH;
  CHECK_STATUS(hw_decoder_create(&config, &module), HW_OK);
  fill(module);
  CHECK_STATUS(hw_optimizer_create(module, &optimizer), HW_OK);
  read_fixture(losses, STEPS);
  read_fixture(norms, STEPS);
  for (uint32_t number = 0; number < STEPS; number++) {
    float loss = 0.0F;
    double norm = 0.0;
    step(module, optimizer, with_adamw, number, &loss, &norm);
    CHECK(fabsf(loss - losses[number]) <= 1e-5F, "step %u: loss %.7g, expected %.7g", number, (double)loss,
          (double)losses[number]);
    CHECK(fabs(norm - (double)norms[number]) <= 1e-4, "step %u: norm %.7g, expected %.7g", number, norm,
          (double)norms[number]);
  }
  expect_parameters(module);
  hw_optimizer_destroy(optimizer);
  hw_module_destroy(module);
}

/* ---- Threads ---- */

enum { WIDE = 64, LONG = 48, MANY = 8, WORDS = 300 };

/* The parameters after some steps on so many threads, one after another. */
static float *train_on(size_t threads, size_t *count) {
  hw_decoder_config config = gpt2_config(WORDS, LONG, 2, WIDE, 4, 4 * WIDE);
  static uint32_t ids[MANY * LONG];
  hw_module *module = NULL;
  hw_optimizer *optimizer = NULL;
  float *all = check_floats(1 << 18);
  config.model.dropout = 0.1;
  check_seed(15);
  CHECK_STATUS(hw_context_set_threads(context, threads), HW_OK);
  CHECK_STATUS(hw_decoder_create(&config, &module), HW_OK);
  CHECK_STATUS(hw_optimizer_create(module, &optimizer), HW_OK);
  fill_part(whole(module));
  hw_manual_seed(context, 1);
  for (size_t number = 0; number < 3; number++) {
    hw_graph *graph = NULL;
    float loss = 0.0F;
    double norm = 0.0;
    for (size_t i = 0; i < (size_t)MANY * LONG; i++) {
      ids[i] = (uint32_t)(check_random() % WORDS);
    }
    const hw_loss_input input = {ids, NULL, MANY, LONG, -100, NULL, NULL, NULL};
    CHECK_STATUS(hw_model_loss(context, module, &input, &loss, &graph), HW_OK);
    CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F), HW_OK);
    CHECK_STATUS(hw_clip_grad_norm(context, module, 1.0, &norm), HW_OK);
    CHECK_STATUS(hw_adamw_step(context, optimizer, &adamw, NULL, 0), HW_OK);
    hw_graph_destroy(graph);
  }
  *count = 0;
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    hw_parameter_info info;
    CHECK(hw_module_parameter(module, i, &info) == HW_OK, "parameter");
    CHECK_STATUS(hw_module_store(module, i, 0, info.shape[0], all + *count), HW_OK);
    *count += info.shape[0] * info.shape[1];
  }
  hw_optimizer_destroy(optimizer);
  hw_module_destroy(module);
  CHECK_STATUS(hw_context_set_threads(context, 1), HW_OK);
  return all;
}

static void test_threads(void) {
  size_t count = 0;
  float *alone = train_on(1, &count);
  for (size_t threads = 2; threads <= 3; threads++) {
    float *together = train_on(threads, &count);
    CHECK(memcmp(alone, together, count * sizeof *alone) == 0, "%zu threads: other parameters", threads);
    free(together);
  }
  free(alone);
}

static void test_adamw(void) { check_training(true); }
static void test_sgd(void) { check_training(false); }

int main(void) {
  CHECK(hw_context_create(&context) == HW_OK, "context");
  fixture = fopen(HW_TESTS_DIR "/fixtures/training.bin", "rb");
  CHECK(fixture != NULL, "no fixture");
  if (fixture == NULL) {
    return 1;
  }
  check_run("losses, norms and weights follow PyTorch's through twenty steps of AdamW", test_adamw);
  check_run("and of SGD with Nesterov's momentum", test_sgd);
  check_run("any number of threads gives the same parameters to the bit", test_threads);
  CHECK(fgetc(fixture) == EOF, "the fixture is longer");
  fclose(fixture);
  hw_context_destroy(context);
  return check_result();
}
