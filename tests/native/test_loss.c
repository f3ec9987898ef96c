/* A decoder's loss is the mean cross-entropy of its logits, and its gradients are those of that. */
#include "loss_case.h"
#include "reference_gpt2.h"

enum { BATCH = 2, TOKENS = 5, ROWS = BATCH * TOKENS, VOCAB = 7, HEADS = 2, LAYERS = 2, IGNORED = -100 };

static hw_context *context;
static const uint32_t ids[ROWS] = {6, 0, 3, 6, 1, 3, 3, 5, 2, 6};
static const int32_t next[ROWS] = {0, 3, 6, 1, IGNORED, 3, 5, 2, 6, IGNORED};
static const int32_t some[ROWS] = {0, -1, -1, 4, 4, -1, 5, 6, 6, -1};

static hw_decoder_config config_of(double softcap) {
  hw_decoder_config config = gpt2_config(VOCAB, TOKENS, LAYERS, 6, HEADS, 9);
  config.model.eps = 1e-2;
  config.logit_softcap = softcap;
  return config;
}

static hw_module *make(double dropout, double softcap) {
  hw_decoder_config config = config_of(softcap);
  hw_module *module = NULL;
  config.model.dropout = dropout;
  CHECK_STATUS(hw_decoder_create(&config, &module), HW_OK);
  gradient_fill(module);
  return module;
}

/* The targets of a case are its options' place: a case has no other. */
typedef struct loss_case {
  gradient_case base;
  const int32_t *targets;
  int32_t ignore_index;
} loss_case;

static void loss_reference(const gradient_case *c, const double *x, double *y) {
  (void)x;
  static double weights[LAYERS * BATCH * HEADS * TOKENS * TOKENS];
  static double logits[ROWS * VOCAB];
  const loss_case *own = (const loss_case *)c;
  const hw_decoder_config *config = c->config;
  const reference_tokens tokens = {BATCH, TOKENS, 0};
  const double cap = config->logit_softcap;
  double count = 0.0;
  y[0] = 0.0;
  reference_gpt2(c->module, config, ids, &tokens, NULL, logits, weights, 0.0);
  for (size_t i = 0; cap != 0.0 && i < (size_t)ROWS * VOCAB; i++) {
    logits[i] = cap * tanh(logits[i] / cap);
  }
  for (size_t row = 0; row < ROWS; row++) {
    double sum = 0.0;
    if (own->targets[row] == own->ignore_index) {
      continue;
    }
    for (size_t i = 0; i < VOCAB; i++) {
      sum += exp(logits[row * VOCAB + i]);
    }
    y[0] += log(sum) - logits[row * VOCAB + (size_t)own->targets[row]];
    count += 1.0;
  }
  y[0] /= count;
}

static void check_loss(const loss_case *c, const hw_loss_input *input) {
  hw_module *module = c->base.module;
  hw_graph *graph = NULL;
  float plain = 0.0F;
  float loss = 0.0F;
  double expected = 0.0;
  const float scale = 0.75F;
  loss_reference(&c->base, NULL, &expected);
  CHECK_STATUS(hw_model_loss(context, module, input, &plain, NULL), HW_OK);
  CHECK_STATUS(hw_model_loss(context, module, input, &loss, &graph), HW_OK);
  CHECK(plain == loss && fabs((double)loss - expected) <= 1e-5, "%g and %g, expected %g", (double)plain, (double)loss,
        expected);
  CHECK(!hw_module_has_gradient(module, 0), "a loss alone left a gradient");
  CHECK_STATUS(hw_model_loss_backward(context, module, graph, scale), HW_OK);
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    gradient_check_parameter(&c->base, i, NULL, &scale);
  }
  hw_graph_destroy(graph);
}

static void test_loss(void) {
  for (size_t i = 0; i < 4; i++) {
    const double softcap = i == 3 ? 0.75 : 0.0;
    hw_decoder_config own = config_of(softcap);
    loss_case c = {.base = {.name = "loss", .module = make(0.0, softcap), .config = &own, .y_count = 1}};
    c.base.reference = loss_reference;
    c.targets = i == 2 ? some : next;
    c.ignore_index = i == 2 ? -1 : IGNORED;
    check_loss(&c, &(hw_loss_input){ids, i == 0 ? NULL : c.targets, BATCH, TOKENS, c.ignore_index, NULL, NULL, NULL});
    hw_module_destroy(c.base.module);
  }
}

/* What a backward added, of all parameters. */
static float *gradients_of(hw_module *module, size_t *count) {
  float *all = check_floats(1 << 18);
  *count = 0;
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    hw_parameter_info info;
    CHECK(hw_module_parameter(module, i, &info) == HW_OK, "parameter");
    CHECK_STATUS(hw_module_store_gradient(module, i, 0, info.shape[0], all + *count), HW_OK);
    *count += info.shape[0] * info.shape[1];
    CHECK_STATUS(hw_module_clear_gradient(module, i), HW_OK);
  }
  return all;
}

static void expect_near(const float *got, const float *expected, size_t count) {
  float largest = 0.0F;
  for (size_t i = 0; i < count; i++) {
    largest = fmaxf(largest, fabsf(expected[i]));
  }
  for (size_t i = 0; i < count; i++) {
    CHECK(fabsf(got[i] - expected[i]) <= 1e-5F * largest, "%zu: %g, expected %g", i, (double)got[i],
          (double)expected[i]);
  }
  check_case();
}

/* The gradient of the loss's logits, in double. */
static void write_logits_gradient(const float *logits, float *d) {
  double count = 0.0;
  for (size_t row = 0; row < ROWS; row++) {
    count += next[row] == IGNORED ? 0.0 : 1.0;
  }
  for (size_t row = 0; row < ROWS; row++) {
    double sum = 0.0;
    for (size_t i = 0; i < VOCAB; i++) {
      sum += exp((double)logits[row * VOCAB + i]);
    }
    for (size_t i = 0; i < VOCAB; i++) {
      const double share = exp((double)logits[row * VOCAB + i]) / sum - ((int32_t)i == next[row] ? 1.0 : 0.0);
      d[row * VOCAB + i] = next[row] == IGNORED ? 0.0F : (float)(share / count);
    }
  }
}

/* Through logits that the caller has: plain, capped, and of positions that are given. */
static void test_logits(void) {
  const hw_input input = {.ids = ids, .batch = BATCH, .tokens = TOKENS, .logits_end = TOKENS};
  static const uint32_t positions[ROWS] = {3, 3, 0, 1, 4, 2, 0, 4, 1, 3};
  float logits[ROWS * VOCAB];
  float d_logits[ROWS * VOCAB];
  for (size_t i = 0; i < 3; i++) {
    const hw_forward_options options = {.position_ids = i == 2 ? positions : NULL};
    const hw_loss_input all = {ids, NULL, BATCH, TOKENS, IGNORED, NULL, NULL, options.position_ids};
    hw_module *module = make(0.0, i == 1 ? 0.75 : 0.0);
    hw_graph *graph = NULL;
    float loss = 0.0F;
    size_t count = 0;
    CHECK_STATUS(hw_module_forward_recorded(context, module, &input, logits, &options, &graph), HW_OK);
    write_logits_gradient(logits, d_logits);
    CHECK_STATUS(hw_module_backward(context, module, &input, graph, d_logits, NULL, NULL), HW_OK);
    hw_graph_destroy(graph);
    float *by_logits = gradients_of(module, &count);
    CHECK_STATUS(hw_model_loss(context, module, &all, &loss, &graph), HW_OK);
    CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F), HW_OK);
    hw_graph_destroy(graph);
    float *by_loss = gradients_of(module, &count);
    expect_near(by_logits, by_loss, count);
    free(by_logits);
    free(by_loss);
    hw_module_destroy(module);
  }
}

/* More rows than there are logits for at a time. */
static void check_chunks(double softcap) {
  enum { batch = 3, tokens = 90, rows = batch * tokens, vocab = 4099, width = 4 };
  hw_decoder_config config = gpt2_config(vocab, tokens, 1, width, 1, 4);
  config.logit_softcap = softcap;
  static uint32_t many[rows];
  hw_module *module = NULL;
  hw_graph *graph = NULL;
  float loss = 0.0F;
  size_t count = 0;
  CHECK_STATUS(hw_decoder_create(&config, &module), HW_OK);
  fill_part(whole(module));
  for (size_t i = 0; i < rows; i++) {
    many[i] = (uint32_t)(check_random() % vocab);
  }
  const hw_loss_input all = {many, NULL, batch, tokens, IGNORED, NULL, NULL, NULL};
  CHECK_STATUS(hw_model_loss(context, module, &all, &loss, &graph), HW_OK);
  CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F), HW_OK);
  hw_graph_destroy(graph);
  float *together = gradients_of(module, &count);
  double sum = 0.0;
  for (size_t b = 0; b < batch; b++) {
    float part = 0.0F;
    const hw_loss_input one = {many + b * tokens, NULL, 1, tokens, IGNORED, NULL, NULL, NULL};
    CHECK_STATUS(hw_model_loss(context, module, &one, &part, &graph), HW_OK);
    CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F / batch), HW_OK);
    hw_graph_destroy(graph);
    sum += (double)part / batch;
  }
  float *apart = gradients_of(module, &count);
  CHECK(fabs((double)loss - sum) <= 1e-5, "%g, in micro-batches %g", (double)loss, sum);
  expect_near(apart, together, count);
  free(together);
  free(apart);
  hw_module_destroy(module);
}

static void test_chunks(void) {
  check_chunks(0.0);
  check_chunks(0.25);
}

static void test_errors(void) {
  hw_module *module = make(0.0, 0.0);
  hw_module *linear = NULL;
  hw_graph *graph = NULL;
  float loss = 0.0F;
  float logits[ROWS * VOCAB];
  int32_t targets[ROWS];
  const hw_loss_input good = {ids, targets, BATCH, TOKENS, IGNORED, NULL, NULL, NULL};
  memcpy(targets, next, sizeof next);
  CHECK_STATUS(make_linear(NULL, 2, 2, false, &linear), HW_OK);
  graph = (hw_graph *)targets;
  CHECK_STATUS(hw_model_loss(context, linear, &good, &loss, &graph), HW_ERROR_VALUE);
  CHECK(graph == NULL, "left what was there as a graph");
  CHECK_STATUS(hw_model_loss(context, NULL, &good, &loss, &graph), HW_ERROR_VALUE);
  CHECK_STATUS(hw_model_loss(context, module, NULL, &loss, &graph), HW_ERROR_VALUE);
  CHECK_STATUS(hw_model_loss(context, module, &good, NULL, &graph), HW_ERROR_VALUE);
  CHECK_STATUS(hw_model_loss(NULL, module, &good, &loss, &graph), HW_ERROR_VALUE);
  const int32_t bad[] = {VOCAB, -1, -99, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    targets[ROWS - 1] = bad[i];
    CHECK_STATUS(hw_model_loss(context, module, &good, &loss, &graph), HW_ERROR_VALUE);
    CHECK(graph == NULL, "left a graph");
  }
  /* Of padding no target is asked for. */
  const uint32_t lengths[BATCH] = {TOKENS, TOKENS - 1};
  hw_loss_input padded = good;
  padded.lengths = lengths;
  CHECK_STATUS(hw_model_loss(context, module, &padded, &loss, NULL), HW_OK);
  targets[TOKENS] = VOCAB;
  CHECK_STATUS(hw_model_loss(context, module, &padded, &loss, NULL), HW_ERROR_VALUE);
  memcpy(targets, next, sizeof next);
  hw_loss_input other = good;
  other.tokens = TOKENS + 1;
  CHECK_STATUS(hw_model_loss(context, module, &other, &loss, &graph), HW_ERROR_SHAPE);
  other.tokens = 0;
  CHECK_STATUS(hw_model_loss(context, module, &other, &loss, &graph), HW_ERROR_SHAPE);
  CHECK_STATUS(hw_model_loss(context, module, &good, &loss, &graph), HW_OK);
  const hw_input input = {.ids = ids, .batch = BATCH, .tokens = TOKENS};
  CHECK_STATUS(hw_module_backward(context, module, &input, graph, logits, NULL, NULL), HW_ERROR_VALUE);
  CHECK_STATUS(hw_model_loss_backward(context, linear, graph, 1.0F), HW_ERROR_VALUE);
  CHECK_STATUS(hw_model_loss_backward(context, module, NULL, 1.0F), HW_ERROR_VALUE);
  CHECK_STATUS(hw_model_loss_backward(NULL, module, graph, 1.0F), HW_ERROR_VALUE);
  hw_module *norm = hw_module_child(module, "ln_f");
  CHECK_STATUS(hw_module_load(norm, 0, 0, 1, &loss), HW_OK);
  CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F), HW_ERROR_VALUE);
  CHECK(!hw_module_has_gradient(module, 0), "a gradient after an error");
  hw_graph_destroy(graph);
  CHECK_STATUS(hw_module_forward_recorded(context, module, &input, NULL, NULL, &graph), HW_OK);
  CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F), HW_ERROR_VALUE);
  hw_graph_destroy(graph);
  hw_module_destroy(module);
  hw_module_destroy(linear);
}

/* As in torch: nothing to learn from is NaN, whose gradients are zeros. */
static void test_all_ignored(void) {
  hw_module *module = make(0.0, 0.0);
  hw_graph *graph = NULL;
  float loss = 0.0F;
  size_t count = 0;
  const hw_loss_input one_token = {ids, NULL, ROWS, 1, IGNORED, NULL, NULL, NULL};
  CHECK_STATUS(hw_model_loss(context, module, &one_token, &loss, &graph), HW_OK);
  CHECK(isnan(loss), "%g", (double)loss);
  CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F), HW_OK);
  float *gradients = gradients_of(module, &count);
  for (size_t i = 0; i < count; i++) {
    CHECK(gradients[i] == 0.0F, "%zu: %g", i, (double)gradients[i]);
  }
  free(gradients);
  hw_graph_destroy(graph);
  hw_module_destroy(module);
}

/* By differences. */
static void test_dropout(void) {
  hw_module *module = make(0.3, 0.0);
  hw_graph *graph = NULL;
  float loss = 0.0F;
  const hw_loss_input input = {ids, some, BATCH, TOKENS, -1, NULL, NULL, NULL};
  hw_manual_seed(context, 5);
  CHECK_STATUS(hw_model_loss(context, module, &input, &loss, &graph), HW_OK);
  hw_module_train(module, false);
  CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F), HW_OK);
  hw_module_train(module, true);
  hw_graph_destroy(graph);
  for (size_t index = 0; index < hw_module_parameter_count(module); index++) {
    check_loss_differences(context, module, &input, index, 2e-3);
  }
  hw_module_destroy(module);
}

int main(void) {
  check_seed(15);
  CHECK(hw_context_create(&context) == HW_OK, "context");
  check_run("the loss and its gradients are those of cross-entropy in double", test_loss);
  check_run("a backward from logits gives the gradients of the loss's", test_logits);
  check_run("chunks of rows and micro-batches give the same gradients", test_chunks);
  check_run("a loss refuses other modules, targets beyond the vocabulary and graphs of something else", test_errors);
  check_run("a loss over nothing is NaN, and teaches nothing", test_all_ignored);
  check_run("dropout drops in the gradient what it dropped in the loss, in whatever mode the module is by then",
            test_dropout);
  hw_context_destroy(context);
  return check_result();
}
