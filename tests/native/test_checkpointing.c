/* Gradient checkpointing: the same bits, in less memory. */
#include "decoder_case.h"

enum { MOST_LAYERS = 5, PASSES = 2 };

static hw_context *context;
static uint32_t ids[BATCH * TOKENS];
static float x[BATCH * TOKENS * WIDTH];
static const hw_input input = {.x = x, .ids = ids, .batch = BATCH, .tokens = TOKENS};
static uint32_t positions[BATCH * TOKENS];
static const hw_loss_input with_positions = {ids, NULL, BATCH, TOKENS, -100, NULL, NULL, positions};
static const hw_loss_input loss_input = {ids, NULL, BATCH, TOKENS, -100, NULL, NULL, NULL};
static int32_t targets[BATCH * TOKENS];

/* ---- Modules ---- */

static hw_module *make_blocks(size_t num_layers, double dropout) {
  const hw_transformer_block_config block = {
      .d_model = WIDTH,
      .num_heads = HEADS,
      .d_ff = 10,
      .norm_first = true,
      .is_causal = true,
      .dropout = dropout,
      .eps = 1e-2,
  };
  hw_module *module = NULL;
  CHECK_STATUS(make_stack(NULL, &block, num_layers, &module), HW_OK);
  fill_part(whole(module));
  return module;
}

static hw_module *make_encoder(double dropout) {
  hw_encoder_config config = encoder_config_of(VOCAB, CONTEXT, 3, WIDTH, HEADS, 10);
  hw_module *module = NULL;
  config.model.dropout = dropout;
  CHECK_STATUS(hw_encoder_create(&config, &module), HW_OK);
  fill_part(whole(module));
  return module;
}

/* ---- Recorded passes ---- */

typedef struct pass {
  float *gradients; /* of all parameters, one after another, and a guard */
  size_t count;
  float result; /* the loss, or the sum of the output */
  float drawn;  /* what the generator gives next */
  size_t graph_bytes;
} pass;

static size_t elements_of(hw_module *module) {
  size_t sum = 0;
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    hw_parameter_info info;
    CHECK_STATUS(hw_module_parameter(module, i, &info), HW_OK);
    sum += info.shape[0] * info.shape[1];
  }
  return sum;
}

static void read_gradients(hw_module *module, pass *p) {
  p->count = elements_of(module);
  p->gradients = check_guarded(p->count + 1);
  size_t start = 0;
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    hw_parameter_info info;
    CHECK_STATUS(hw_module_parameter(module, i, &info), HW_OK);
    if (hw_module_has_gradient(module, i)) {
      CHECK_STATUS(hw_module_store_gradient(module, i, 0, info.shape[0], p->gradients + start), HW_OK);
    }
    CHECK_STATUS(hw_module_clear_gradient(module, i), HW_OK);
    start += info.shape[0] * info.shape[1];
  }
}

/* Backward as often as PASSES says, so that what the first leaves of the graph is seen. */
static pass run_loss(hw_module *module, const hw_loss_input *given) {
  pass p = {0};
  hw_graph *graph = NULL;
  hw_manual_seed(context, 3);
  CHECK_STATUS(hw_model_loss(context, module, given, &p.result, &graph), HW_OK);
  p.graph_bytes = hw_graph_bytes(graph);
  for (size_t i = 0; i < PASSES; i++) {
    CHECK_STATUS(hw_model_loss_backward(context, module, graph, 0.75F), HW_OK);
  }
  CHECK_STATUS(hw_uniform(context, 0.0F, 1.0F, &p.drawn, 1), HW_OK);
  hw_graph_destroy(graph);
  read_gradients(module, &p);
  return p;
}

static pass run_rows(hw_module *module, const hw_forward_options *options) {
  static float y[BATCH * TOKENS * WIDTH];
  static float dx[BATCH * TOKENS * WIDTH];
  pass p = {0};
  hw_graph *graph = NULL;
  hw_manual_seed(context, 3);
  CHECK_STATUS(hw_module_forward_recorded(context, module, &input, y, options, &graph), HW_OK);
  p.graph_bytes = hw_graph_bytes(graph);
  for (size_t i = 0; i < PASSES; i++) {
    CHECK_STATUS(hw_module_backward(context, module, &input, graph, x, dx, NULL), HW_OK);
  }
  for (size_t i = 0; i < BATCH * TOKENS * WIDTH; i++) {
    p.result += y[i] + dx[i];
  }
  CHECK_STATUS(hw_uniform(context, 0.0F, 1.0F, &p.drawn, 1), HW_OK);
  hw_graph_destroy(graph);
  read_gradients(module, &p);
  return p;
}

static void compare(const char *name, pass kept, pass again) {
  CHECK(memcmp(&kept.result, &again.result, sizeof(float)) == 0, "%s: %g, expected %g", name, (double)again.result,
        (double)kept.result);
  CHECK(memcmp(&kept.drawn, &again.drawn, sizeof(float)) == 0, "%s: the generator is elsewhere", name);
  CHECK(memcmp(kept.gradients, again.gradients, kept.count * sizeof(float)) == 0, "%s: other gradients", name);
  free(kept.gradients);
  free(again.gradients);
  check_case();
}

/* ---- Tests ---- */

static void test_decoders(void) {
  for (size_t options = 0; options < 256; options += 3) {
    hw_decoder_config config = config_of(options);
    config.model.dropout = options % 2 == 0 ? 0.25 : 0.0;
    hw_module *module = make(&config);
    for (size_t threads = 1; threads <= 3; threads += 2) {
      CHECK_STATUS(hw_context_set_threads(context, threads), HW_OK);
      hw_module_checkpoint(module, false);
      const hw_loss_input *given = options % 5 == 0 ? &with_positions : &loss_input;
      const pass kept = run_loss(module, given);
      hw_module_checkpoint(module, true);
      compare("decoder", kept, run_loss(module, given));
    }
    hw_module_destroy(module);
  }
}

static void test_encoders(void) {
  static const uint32_t lengths[BATCH] = {TOKENS, 3};
  hw_loss_input given = {ids, targets, BATCH, TOKENS, -100, NULL, lengths, NULL};
  for (size_t drops = 0; drops < 2; drops++) {
    hw_module *module = make_encoder(drops == 0 ? 0.0 : 0.25);
    const pass kept = run_loss(module, &given);
    hw_module_checkpoint(module, true);
    compare("encoder", kept, run_loss(module, &given));
    hw_module_destroy(module);
  }
}

static void test_stacks(void) {
  static const float head_mask[MOST_LAYERS * HEADS] = {1.0F, 0.5F, 0.0F, 1.0F, 0.25F};
  static const hw_forward_options options[] = {{.head_mask = NULL}, {.head_mask = head_mask}};
  for (size_t i = 0; i < 4; i++) {
    hw_module *module = make_blocks(3, i < 2 ? 0.0 : 0.25);
    const pass kept = run_rows(module, options + i % 2);
    hw_module_checkpoint(module, true);
    compare("stack", kept, run_rows(module, options + i % 2));
    hw_module_destroy(module);
  }
}

/* Each further block costs its input, the generator and a number. */
static void test_bytes(void) {
  size_t bytes[2][2];
  for (size_t i = 0; i < 4; i++) {
    hw_module *module = make_blocks(i < 2 ? MOST_LAYERS - 1 : MOST_LAYERS, 0.0);
    hw_module_checkpoint(module, i % 2 == 1);
    const pass p = run_rows(module, NULL);
    bytes[i / 2][i % 2] = p.graph_bytes;
    free(p.gradients);
    hw_module_destroy(module);
  }
  const size_t whole_block = bytes[1][0] - bytes[0][0];
  const size_t beginning = bytes[1][1] - bytes[0][1];
  const size_t floats = BATCH * TOKENS * sizeof(float);
  CHECK(whole_block >= (size_t)(5 * WIDTH + HEADS + 1 + WIDTH + 10 + 1) * floats, "%zu", whole_block);
  CHECK(beginning < WIDTH * floats + sizeof(uint32_t) * 700, "%zu", beginning);
  CHECK(beginning > WIDTH * floats, "%zu", beginning);
}

static void test_switches(void) {
  hw_module *module = make_blocks(2, 0.25);
  float y[BATCH * TOKENS * WIDTH];
  hw_graph *graph = NULL;
  for (size_t i = 0; i < 2; i++) {
    hw_module_checkpoint(module, i == 1);
    CHECK_STATUS(hw_module_forward_recorded(context, module, &input, y, NULL, &graph), HW_OK);
    hw_module_checkpoint(module, i == 1);
    CHECK(hw_graph_is_current(graph, module), "the switch stands as it stood");
    hw_module_train(module, false);
    CHECK(hw_graph_is_current(graph, module) == (i == 0), "what drops again must be in the mode that it was in");
    hw_module_train(module, true);
    hw_module_checkpoint(module, i == 0);
    CHECK_STATUS(hw_module_backward(context, module, &input, graph, x, NULL, NULL), HW_ERROR_VALUE);
    hw_graph_destroy(graph);
  }
  hw_module_checkpoint(NULL, true);
  hw_module_destroy(module);
}

/* The block decides, whichever module is switched. */
static void test_parts(void) {
  hw_module *module = make_blocks(2, 0.25);
  hw_module *part = hw_module_child(module, "blocks.0.ffn");
  float y[BATCH * TOKENS * WIDTH];
  for (size_t i = 0; i < 2; i++) {
    hw_graph *graph = NULL;
    hw_module_checkpoint(module, i == 1);
    hw_module_checkpoint(part, i == 0);
    CHECK_STATUS(hw_module_forward_recorded(context, module, &input, y, NULL, &graph), HW_OK);
    hw_module_train(i == 0 ? module : part, false);
    CHECK(hw_graph_is_current(graph, module) == (i == 0), "a part's switch counts where its block runs again");
    hw_module_train(module, true);
    hw_graph_destroy(graph);
  }
  hw_module_destroy(module);
}

int main(void) {
  check_seed(31);
  CHECK(hw_context_create(&context) == HW_OK, "context");
  check_fill(x, sizeof x / sizeof *x);
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    ids[i] = (uint32_t)(i * 5 % VOCAB);
    positions[i] = (uint32_t)(i * 3 % CONTEXT);
    targets[i] = i % 3 == 0 ? -100 : (int32_t)(i * 7 % VOCAB);
  }
  check_run("decoders of all options have the same gradients, dropout included, on one thread and three",
            test_decoders);
  check_run("encoders have the same gradients", test_encoders);
  check_run("stacks have the same gradients and results, with factors of heads too", test_stacks);
  check_run("a block keeps only what it begins with", test_bytes);
  check_run("a graph is not current once checkpointing was switched", test_switches);
  check_run("of a block that runs again the parts' mode counts, and of others not", test_parts);
  hw_context_destroy(context);
  return check_result();
}
