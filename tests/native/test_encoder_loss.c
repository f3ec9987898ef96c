/* An encoder's loss is the cross-entropy of what its head makes of its hidden states, and both ways back to the parameters give
 * the same gradients. PyTorch's numbers are in tests/encoder-training.test.js. */
#include "loss_case.h"

enum { BATCH = 2, TOKENS = 5, ROWS = BATCH * TOKENS, VOCAB = 11, WIDTH = 6, HEADS = 2, LAYERS = 2, IGNORED = -100 };

static hw_context *context;
static const uint32_t ids[ROWS] = {6, 0, 3, 6, 1, 3, 3, 5, 10, 6};
static const uint32_t types[ROWS] = {0, 0, 1, 1, 1, 0, 1, 1, 0, 0};
static const uint32_t lengths[BATCH] = {TOKENS, 3};
static const int32_t targets[ROWS] = {0, -100, -100, 4, 4, -100, 5, 6, 6, 1};
static const hw_loss_input loss_input = {ids, targets, BATCH, TOKENS, IGNORED, types, lengths, NULL};
static const hw_input id_input = {.ids = ids, .batch = BATCH, .tokens = TOKENS, .lengths = lengths};
static const hw_forward_options with_types = {.token_types = types};

static hw_module *make(bool ties_head, double dropout) {
  hw_encoder_config config = encoder_config_of(VOCAB, TOKENS, LAYERS, WIDTH, HEADS, 9);
  hw_module *module = NULL;
  config.ties_head = ties_head;
  config.model.eps = 1e-2;
  config.model.dropout = dropout;
  CHECK_STATUS(hw_encoder_create(&config, &module), HW_OK);
  gradient_fill(module);
  return module;
}

/* In double, and the gradient of the logits. Targets of padding do not count. */
static double cross_entropy(const float *logits, float *d) {
  double loss = 0.0;
  double count = 0.0;
  for (size_t row = 0; row < ROWS; row++) {
    const bool counts = targets[row] != IGNORED && row % TOKENS < lengths[row / TOKENS];
    count += counts ? 1.0 : 0.0;
  }
  for (size_t row = 0; row < ROWS; row++) {
    const bool counts = targets[row] != IGNORED && row % TOKENS < lengths[row / TOKENS];
    double sum = 0.0;
    for (size_t i = 0; i < VOCAB; i++) {
      sum += exp((double)logits[row * VOCAB + i]);
    }
    for (size_t i = 0; i < VOCAB; i++) {
      const double share = exp((double)logits[row * VOCAB + i]) / sum - ((int32_t)i == targets[row] ? 1.0 : 0.0);
      d[row * VOCAB + i] = counts ? (float)(share / count) : 0.0F;
    }
    loss += counts ? (log(sum) - (double)logits[row * VOCAB + (size_t)targets[row]]) / count : 0.0;
  }
  return loss;
}

static float *gradient_of(hw_module *module, size_t index, size_t *count) {
  hw_parameter_info info;
  CHECK(hw_module_parameter(module, index, &info) == HW_OK, "parameter");
  *count = info.shape[0] * info.shape[1];
  float *values = check_floats(*count);
  CHECK(hw_module_store_gradient(module, index, 0, info.shape[0], values) == HW_OK, "no gradient of %s", info.name);
  return values;
}

/* Through hidden states and logits that the caller has. Returns the loss. */
static double pass_back_by_logits(hw_module *module) {
  static float hidden[ROWS * WIDTH];
  static float logits[ROWS * VOCAB];
  static float d_logits[ROWS * VOCAB];
  static float d_hidden[ROWS * WIDTH];
  const hw_input rows = {.x = hidden, .batch = 1, .tokens = ROWS};
  hw_graph *graphs[2];
  CHECK_STATUS(hw_module_forward_recorded(context, module, &id_input, hidden, &with_types, &graphs[0]), HW_OK);
  CHECK_STATUS(hw_module_forward_recorded(context, module, &rows, logits, NULL, &graphs[1]), HW_OK);
  const double loss = cross_entropy(logits, d_logits);
  CHECK_STATUS(hw_module_backward(context, module, &rows, graphs[0], d_logits, d_hidden, NULL), HW_ERROR_VALUE);
  CHECK_STATUS(hw_module_backward(context, module, &rows, graphs[1], d_logits, d_hidden, NULL), HW_OK);
  CHECK_STATUS(hw_module_backward(context, module, &id_input, graphs[0], d_hidden, NULL, NULL), HW_OK);
  hw_graph_destroy(graphs[0]);
  hw_graph_destroy(graphs[1]);
  return loss;
}

static void test_loss(void) {
  for (size_t ties = 0; ties < 2; ties++) {
    hw_module *one = make(ties == 1, 0.0);
    hw_module *two = make(ties == 1, 0.0);
    hw_graph *graph = NULL;
    float plain = 0.0F;
    float loss = 0.0F;
    for (size_t i = 0; i < hw_module_parameter_count(one); i++) {
      hw_parameter_info info;
      CHECK(hw_module_parameter(one, i, &info) == HW_OK, "parameter");
      float *values = check_floats(info.shape[0] * info.shape[1]);
      CHECK(hw_module_store(one, i, 0, info.shape[0], values) == HW_OK, "store");
      CHECK(hw_module_load(two, i, 0, info.shape[0], values) == HW_OK, "load");
      free(values);
    }
    CHECK_STATUS(hw_model_loss(context, one, &loss_input, &plain, NULL), HW_OK);
    CHECK_STATUS(hw_model_loss(context, one, &loss_input, &loss, &graph), HW_OK);
    CHECK_STATUS(hw_model_loss_backward(context, one, graph, 1.0F), HW_OK);
    const double expected = pass_back_by_logits(two);
    CHECK(plain == loss && fabs((double)loss - expected) < 1e-5, "%g and %g, expected %g", (double)plain, (double)loss,
          expected);
    for (size_t i = 0; i < hw_module_parameter_count(one); i++) {
      size_t count = 0;
      float *got = gradient_of(one, i, &count);
      float *other = gradient_of(two, i, &count);
      for (size_t e = 0; e < count; e++) {
        CHECK(fabsf(got[e] - other[e]) <= 1e-5F, "parameter %zu, %zu: %g, expected %g", i, e, (double)got[e],
              (double)other[e]);
      }
      check_case();
      free(got);
      free(other);
    }
    hw_graph_destroy(graph);
    hw_module_destroy(one);
    hw_module_destroy(two);
  }
}

/* By differences. */
static void test_differences(void) {
  for (size_t drops = 0; drops < 2; drops++) {
    hw_module *module = make(true, drops == 1 ? 0.3 : 0.0);
    hw_graph *graph = NULL;
    float loss = 0.0F;
    hw_manual_seed(context, 5);
    CHECK_STATUS(hw_model_loss(context, module, &loss_input, &loss, &graph), HW_OK);
    CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F), HW_OK);
    hw_graph_destroy(graph);
    for (size_t index = 0; index < hw_module_parameter_count(module); index++) {
      check_loss_differences(context, module, &loss_input, index, 5e-3);
    }
    hw_module_destroy(module);
  }
}

/* The caller's arrays may change after a forward that is recorded. */
static void test_keeps(void) {
  uint32_t own[3 * ROWS];
  int32_t own_targets[ROWS];
  hw_module *module = make(true, 0.0);
  hw_graph *graph = NULL;
  float loss = 0.0F;
  size_t count = 0;
  float *expected[2];
  memcpy(own, ids, sizeof ids);
  memcpy(own + ROWS, types, sizeof types);
  memcpy(own + 2 * ROWS, lengths, sizeof lengths);
  memcpy(own_targets, targets, sizeof targets);
  for (size_t i = 0; i < 2; i++) {
    const hw_loss_input input = {own, own_targets, BATCH, TOKENS, IGNORED, own + ROWS, own + 2 * ROWS, NULL};
    CHECK_STATUS(hw_model_loss(context, module, &input, &loss, &graph), HW_OK);
    if (i == 1) {
      memset(own, 0xFF, sizeof own);
      memset(own_targets, 0xFF, sizeof own_targets);
    }
    CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F), HW_OK);
    hw_graph_destroy(graph);
    expected[i] = gradient_of(module, 0, &count);
    CHECK_STATUS(hw_module_clear_gradient(module, 0), HW_OK);
  }
  CHECK(memcmp(expected[0], expected[1], count * sizeof(float)) == 0, "read what the caller has changed");
  free(expected[0]);
  free(expected[1]);
  hw_module_destroy(module);
}

/* Whatever stands in the fields of a decoder's: the next call may need other scratch than the head's. */
static void test_passed_over(void) {
  hw_encoder_config config = encoder_config_of(3000, TOKENS, 1, 8, 1, 0);
  hw_module *module = NULL;
  hw_context *own = NULL;
  float hidden[2 * 8];
  float *logits = check_floats((size_t)2 * 3000);
  const hw_input head = {.x = hidden, .batch = 1, .tokens = 2};
  const hw_input in = {.ids = ids, .batch = 1, .tokens = 2, .logits_start = 1, .logits_end = 0};
  config.model.head_dim = 1;
  CHECK_STATUS(hw_context_create(&own), HW_OK);
  CHECK_STATUS(hw_encoder_create(&config, &module), HW_OK);
  check_fill(hidden, 16);
  CHECK_STATUS(hw_module_forward(own, module, &head, logits, NULL), HW_OK);
  CHECK_STATUS(hw_module_forward(own, module, &in, hidden, NULL), HW_OK);

  const uint32_t positions[1] = {99};
  hw_graph *graph = NULL;
  const hw_forward_options unread = {.position_ids = positions};
  CHECK_STATUS(hw_module_forward_recorded(own, module, &in, hidden, &unread, &graph), HW_OK);
  hw_graph_destroy(graph);

  const hw_forward_options causal = {.causality = HW_CAUSALITY_ON};
  CHECK_STATUS(hw_module_forward(own, module, &head, logits, &causal), HW_ERROR_VALUE);
  hw_input padded = head;
  padded.lengths = lengths;
  CHECK_STATUS(hw_module_forward(own, module, &padded, logits, NULL), HW_ERROR_VALUE);
  hw_module_destroy(module);
  config.model.embedding_scale = 3.0;
  CHECK_STATUS(hw_encoder_create(&config, &module), HW_ERROR_VALUE);
  hw_context_destroy(own);
  free(logits);
}

static void check_reached(hw_module *module, bool head, bool ties_head) {
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    hw_parameter_info info;
    CHECK(hw_module_parameter(module, i, &info) == HW_OK, "parameter");
    const bool is_head = strncmp(info.name, "cls.", 4) == 0;
    const bool is_reached = is_head == head || (head && ties_head && i == 0);
    CHECK(hw_module_has_gradient(module, i) == is_reached, "%s", info.name);
    CHECK_STATUS(hw_module_clear_gradient(module, i), HW_OK);
    check_case();
  }
}

/* Hidden states alone: the head's parameters have no part in them, nor the others in logits of hidden states. */
static void test_reached(void) {
  for (size_t i = 0; i < 4; i++) {
    hw_encoder_config config = encoder_config_of(VOCAB, TOKENS, LAYERS, WIDTH, HEADS, 9);
    hw_module *module = NULL;
    config.ties_head = i % 2 == 1;
    config.model.is_rms = i / 2 == 1;
    CHECK_STATUS(hw_encoder_create(&config, &module), HW_OK);
    gradient_fill(module);
    float hidden[ROWS * WIDTH];
    float logits[ROWS * VOCAB];
    const hw_input rows = {.x = hidden, .batch = 1, .tokens = ROWS};
    hw_graph *graphs[2] = {NULL, NULL};
    CHECK_STATUS(hw_module_forward_recorded(context, module, &id_input, hidden, NULL, &graphs[0]), HW_OK);
    CHECK_STATUS(hw_module_forward_recorded(context, module, &rows, logits, NULL, &graphs[1]), HW_OK);
    CHECK_STATUS(hw_module_backward(context, module, &id_input, graphs[0], hidden, NULL, NULL), HW_OK);
    check_reached(module, false, config.ties_head);
    CHECK_STATUS(hw_module_backward(context, module, &rows, graphs[1], logits, NULL, NULL), HW_OK);
    check_reached(module, true, config.ties_head);
    hw_graph_destroy(graphs[0]);
    hw_graph_destroy(graphs[1]);
    hw_module_destroy(module);
  }
}

/* Ids that have changed since the forward are looked at again. */
static void test_changed_ids(void) {
  hw_module *module = make(true, 0.0);
  float hidden[ROWS * WIDTH];
  uint32_t own[ROWS];
  hw_input input = id_input;
  hw_graph *graph = NULL;
  memcpy(own, ids, sizeof own);
  input.ids = own;
  CHECK_STATUS(hw_module_forward_recorded(context, module, &input, hidden, NULL, &graph), HW_OK);
  own[1] = VOCAB;
  CHECK_STATUS(hw_module_backward(context, module, &input, graph, hidden, NULL, NULL), HW_ERROR_VALUE);
  CHECK(!hw_module_has_gradient(module, 0), "a gradient");
  own[1] = ids[1];
  CHECK_STATUS(hw_module_backward(context, module, &input, graph, hidden, NULL, NULL), HW_OK);
  hw_graph_destroy(graph);
  hw_module_destroy(module);
}

static void test_errors(void) {
  hw_module *module = make(true, 0.0);
  hw_module *headless = NULL;
  hw_encoder_config config = encoder_config_of(VOCAB, TOKENS, LAYERS, WIDTH, HEADS, 9);
  float y[ROWS * (WIDTH + VOCAB)];
  hw_graph *graph = NULL;
  config.has_head = false;
  CHECK_STATUS(hw_encoder_create(&config, &headless), HW_OK);
  CHECK_STATUS(hw_model_loss(context, headless, &loss_input, y, &graph), HW_ERROR_VALUE);
  const uint32_t bad_types[ROWS] = {2};
  const uint32_t bad_lengths[BATCH] = {TOKENS, TOKENS + 1};
  hw_loss_input bad[] = {loss_input, loss_input, loss_input, loss_input};
  bad[0].targets = NULL;
  bad[1].token_types = bad_types;
  bad[2].lengths = bad_lengths;
  bad[3].ids = NULL;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK_STATUS(hw_model_loss(context, module, &bad[i], y, &graph), HW_ERROR_VALUE);
    CHECK(graph == NULL, "left a graph");
  }
  const float x[ROWS * WIDTH] = {0.0F};
  const hw_input rows = {.x = x, .batch = BATCH, .tokens = TOKENS};
  const float factors[LAYERS * HEADS] = {0.0F};
  CHECK_STATUS(hw_module_forward(context, headless, &rows, y, NULL), HW_ERROR_VALUE);
  CHECK_STATUS(hw_module_forward(context, module, &rows, y, &with_types), HW_ERROR_VALUE);
  CHECK_STATUS(hw_module_forward(context, module, &rows, y, &(hw_forward_options){.head_mask = factors}),
               HW_ERROR_VALUE);
  /* Calls of one shape, whose scratch differs. */
  CHECK_STATUS(hw_module_forward(context, module, &(hw_input){.ids = ids, .batch = 1, .tokens = 1}, y, NULL), HW_OK);
  CHECK_STATUS(hw_module_forward(context, module, &(hw_input){.x = x, .batch = 1, .tokens = 1}, y, NULL), HW_OK);
  CHECK_STATUS(hw_module_forward(context, module, &(hw_input){.ids = ids, .batch = 1, .tokens = 1}, y, NULL), HW_OK);
  hw_module_destroy(module);
  hw_module_destroy(headless);
}

/* An encoder's names have no gate and no norms of queries: what has no name could not be loaded. */
static void test_parts_without_names(void) {
  for (int names = HW_NAMES_BERT; names <= HW_NAMES_DISTILBERT; names++) {
    for (int parts = 0; parts < 4; parts++) {
      hw_encoder_config config = encoder_config_of(VOCAB, TOKENS, LAYERS, WIDTH, HEADS, 9);
      hw_module *module = NULL;
      config.model.names = (hw_names)names;
      config.model.is_gated = parts % 2 == 1;
      config.model.qk_norm = parts / 2 == 1;
      CHECK_STATUS(hw_encoder_create(&config, &module), parts == 0 ? HW_OK : HW_ERROR_VALUE);
      hw_module_destroy(module);
    }
  }
}

/* Places begin at first_position, and the last one is read too. */
static void test_configs(void) {
  static const double frequencies[] = {1.0};
  static const hw_rotary_config rotary = {frequencies, 1, 1.0};
  static const hw_layer_config layers[LAYERS] = {{0, -1}, {0, -1}};
  static const hw_layer_config turned[LAYERS] = {{0, 0}, {0, 0}};
  const hw_encoder_config good = encoder_config_of(VOCAB, TOKENS, LAYERS, WIDTH, HEADS, 9);
  enum { CONFIGS = 7 };
  hw_encoder_config configs[CONFIGS];
  for (size_t i = 0; i < CONFIGS; i++) {
    configs[i] = good;
  }
  configs[0].model.names = HW_NAMES_GEMMA3;
  configs[1].model.norm_place = HW_NORM_PRE;
  configs[2].model.layers = layers;
  configs[3].model.layers = turned;
  configs[3].model.rotary = &rotary;
  configs[3].model.rotary_count = 1;
  configs[4].model.embedding_scale = 2.0;
  configs[5].head_activation = (hw_activation)99;
  configs[6].first_position = good.model.positions - TOKENS + 1;
  for (size_t i = 0; i < CONFIGS; i++) {
    hw_module *module = (hw_module *)(uintptr_t)64;
    CHECK(hw_encoder_create(&configs[i], &module) == (i == CONFIGS - 1 ? HW_ERROR_SHAPE : HW_ERROR_VALUE), "config %zu",
          i);
    CHECK(module == NULL, "left a module");
    check_case();
  }
}

static void test_context(void) {
  hw_module *module = make(true, 0.0);
  float hidden[2 * ROWS * WIDTH];
  hw_graph *graph = NULL;
  const hw_input beyond = {.ids = ids, .batch = 1, .tokens = TOKENS + 1};
  CHECK_STATUS(hw_module_forward(context, module, &beyond, hidden, NULL), HW_ERROR_SHAPE);
  CHECK_STATUS(hw_module_forward_recorded(context, module, &beyond, hidden, NULL, &graph), HW_ERROR_SHAPE);
  hw_module_destroy(module);
}

int main(void) {
  check_seed(15);
  CHECK(hw_context_create(&context) == HW_OK, "context");
  check_run("a loss and its gradients are those of logits that the caller has", test_loss);
  check_run("gradients are differences of losses, with dropout too", test_differences);
  check_run("a graph keeps what it was given", test_keeps);
  check_run("hidden states reach all parameters but the head's, and logits of them the head's alone", test_reached);
  check_run("a backward refuses ids that have become unknown", test_changed_ids);
  check_run("parts without a name are refused", test_parts_without_names);
  check_run("configs that no encoder has are refused", test_configs);
  check_run("more tokens than the context are refused", test_context);
  check_run("what is no training input of an encoder is refused", test_errors);
  check_run("fields that an encoder does not read change nothing, and what its head cannot do is refused",
            test_passed_over);
  hw_context_destroy(context);
  return check_result();
}
