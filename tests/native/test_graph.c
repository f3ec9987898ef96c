/* A graph belongs to one module as it was: a backward through another, or after a change, is refused and changes nothing. */
#include "modules.h"

enum { IN = 5, OUT = 9, ROWS = 7, WEIGHTS = IN * OUT };

static hw_context *context;
static float x[ROWS * IN];
static float dy[ROWS * OUT];
static const hw_input input = {.x = x, .batch = 1, .tokens = ROWS};

static hw_graph *record(hw_module *module) {
  static float y[ROWS * OUT];
  hw_graph *graph = NULL;
  CHECK_STATUS(hw_module_forward_recorded(context, module, &input, y, NULL, &graph), HW_OK);
  return graph;
}

static hw_module *make(void) {
  hw_module *module = NULL;
  CHECK_STATUS(make_linear(NULL, IN, OUT, true, &module), HW_OK);
  fill_part(whole(module));
  return module;
}

static void read_gradient(hw_module *module, size_t index, float *values) {
  CHECK_STATUS(hw_module_store_gradient(module, index, 0, OUT, values), HW_OK);
}

static void test_adds(void) {
  float once[WEIGHTS];
  float twice[WEIGHTS];
  hw_module *module = make();
  hw_graph *graph = record(module);
  CHECK(!hw_module_has_gradient(module, 0), "a gradient before a backward");
  CHECK_STATUS(hw_module_backward(context, module, &input, graph, dy, NULL, NULL), HW_OK);
  read_gradient(module, 0, once);
  CHECK_STATUS(hw_module_backward(context, module, &input, graph, dy, NULL, NULL), HW_OK);
  read_gradient(module, 0, twice);
  for (size_t i = 0; i < WEIGHTS; i++) {
    CHECK(fabsf(twice[i] - 2.0F * once[i]) <= 1e-5F, "%zu: %g, expected %g", i, (double)twice[i],
          2.0 * (double)once[i]);
  }
  CHECK_STATUS(hw_module_clear_gradient(module, 0), HW_OK);
  CHECK(!hw_module_has_gradient(module, 0) && hw_module_has_gradient(module, 1), "cleared one");
  CHECK_STATUS(hw_module_backward(context, module, &input, graph, dy, NULL, NULL), HW_OK);
  read_gradient(module, 0, twice);
  CHECK(memcmp(once, twice, sizeof once) == 0, "a gradient that was cleared does not begin with zeros");
  hw_graph_destroy(graph);
  hw_module_destroy(module);
}

static void test_changes(void) {
  hw_module *module = make();
  hw_module *other = make();
  hw_optimizer *optimizer = NULL;
  float row[IN] = {0.0F};
  hw_graph *graph = record(module);
  CHECK_STATUS(hw_module_backward(context, other, &input, graph, dy, NULL, NULL), HW_ERROR_VALUE);
  CHECK_STATUS(hw_module_load(other, 0, 0, 1, row), HW_OK);
  CHECK(hw_graph_is_current(graph, module), "a change of another module");
  CHECK_STATUS(hw_module_load(module, 0, 1, 1, row), HW_OK);
  CHECK(!hw_graph_is_current(graph, module), "a change");
  CHECK_STATUS(hw_module_backward(context, module, &input, graph, dy, NULL, NULL), HW_ERROR_VALUE);
  CHECK(!hw_module_has_gradient(module, 0) && !hw_module_has_gradient(other, 0), "a gradient after an error");
  hw_graph_destroy(graph);
  graph = record(module);
  CHECK_STATUS(hw_optimizer_create(module, &optimizer), HW_OK);
  CHECK_STATUS(hw_sgd_step(context, optimizer, &(hw_sgd_config){.lr = 0.1}, NULL, 0), HW_OK);
  CHECK(hw_graph_is_current(graph, module), "a step without gradients");
  CHECK_STATUS(hw_module_backward(context, module, &input, graph, dy, NULL, NULL), HW_OK);
  CHECK_STATUS(hw_sgd_step(context, optimizer, &(hw_sgd_config){.lr = 0.1}, NULL, 0), HW_OK);
  CHECK_STATUS(hw_module_backward(context, module, &input, graph, dy, NULL, NULL), HW_ERROR_VALUE);
  hw_graph_destroy(graph);
  hw_optimizer_destroy(optimizer);
  hw_module_destroy(module);
  hw_module_destroy(other);
}

/* An allocator may give a new module the place of one that is gone. */
static void test_successors(void) {
  for (int i = 0; i < 20; i++) {
    hw_module *module = make();
    hw_graph *graph = record(module);
    hw_module_destroy(module);
    module = make();
    CHECK(!hw_graph_is_current(graph, module), "a graph of a module that is gone");
    CHECK_STATUS(hw_module_backward(context, module, &input, graph, dy, NULL, NULL), HW_ERROR_VALUE);
    hw_graph_destroy(graph);
    hw_module_destroy(module);
  }
}

static void test_other_input(void) {
  float y[2 * ROWS * OUT];
  hw_module *module = make();
  hw_graph *graph = record(module);
  hw_input other = input;
  other.tokens = ROWS - 1;
  CHECK_STATUS(hw_module_backward(context, module, &other, graph, dy, NULL, NULL), HW_ERROR_SHAPE);
  other = input;
  other.batch = ROWS;
  CHECK_STATUS(hw_module_backward(context, module, &other, graph, dy, NULL, NULL), HW_ERROR_SHAPE);
  hw_graph_destroy(graph);
  const float added = 0.0F;
  const hw_forward_options mask = {.mask = {.kind = HW_MASK_FLOAT, .data = &added}};
  CHECK_STATUS(hw_module_forward_recorded(context, module, &input, y, &mask, &graph), HW_ERROR_VALUE);
  CHECK(graph == NULL, "left a graph");
  hw_module_destroy(module);
}

static void test_other_logits(void) {
  enum { VOCAB = 7, BATCH = 2, TOKENS = 4 };
  const hw_decoder_config config = gpt2_config(VOCAB, TOKENS, 1, 4, 2, 5);
  const uint32_t ids[BATCH * TOKENS] = {1, 2, 3, 4, 5, 6, 0, 1};
  uint32_t lengths[BATCH] = {2, 4};
  float logits[BATCH * VOCAB];
  hw_module *module = NULL;
  hw_graph *graph = NULL;
  CHECK_STATUS(hw_decoder_create(&config, &module), HW_OK);
  hw_input last = {.ids = ids, .batch = BATCH, .tokens = TOKENS, .lengths = lengths, .logits_last = true};
  CHECK_STATUS(hw_module_forward_recorded(context, module, &last, logits, NULL, &graph), HW_OK);
  hw_input other = last;
  other.lengths = NULL;
  CHECK_STATUS(hw_module_backward(context, module, &other, graph, logits, NULL, NULL), HW_ERROR_SHAPE);
  lengths[0] = 3;
  CHECK_STATUS(hw_module_backward(context, module, &last, graph, logits, NULL, NULL), HW_ERROR_SHAPE);
  lengths[0] = 2;
  other = last;
  other.logits_end = TOKENS; /* not read */
  CHECK_STATUS(hw_module_backward(context, module, &other, graph, logits, NULL, NULL), HW_OK);
  other.logits_last = false;
  CHECK_STATUS(hw_module_backward(context, module, &other, graph, logits, NULL, NULL), HW_ERROR_SHAPE);
  hw_graph_destroy(graph);
  hw_module_destroy(module);
}

/* Logits of other tokens, as many or more; missing ids; gradients of what the forward was not given. */
static void test_bad_backwards(void) {
  enum { VOCAB = 7, TOKENS = 4 };
  const hw_decoder_config config = gpt2_config(VOCAB, TOKENS, 1, 4, 2, 5);
  const uint32_t ids[TOKENS] = {1, 2, 3, 4};
  float logits[2 * VOCAB];
  float numbers[2 * TOKENS * TOKENS] = {0.0F};
  hw_module *module = NULL;
  hw_graph *graph = NULL;
  CHECK_STATUS(hw_decoder_create(&config, &module), HW_OK);
  const hw_input some = {.ids = ids, .batch = 1, .tokens = TOKENS, .logits_start = 1, .logits_end = 3};
  CHECK_STATUS(hw_module_forward_recorded(context, module, &some, logits, NULL, &graph), HW_OK);
  const size_t ranges[][2] = {{0, 2}, {2, 4}, {0, 3}, {1, 4}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    hw_input other = some;
    other.logits_start = ranges[i][0];
    other.logits_end = ranges[i][1];
    CHECK_STATUS(hw_module_backward(context, module, &other, graph, logits, NULL, NULL), HW_ERROR_SHAPE);
  }
  hw_input without = some;
  without.ids = NULL;
  CHECK_STATUS(hw_module_backward(context, module, &without, graph, logits, NULL, NULL), HW_ERROR_VALUE);
  /* Ids have no gradient. */
  CHECK_STATUS(hw_module_backward(context, module, &some, graph, logits, numbers, NULL), HW_ERROR_VALUE);
  const hw_option_gradients bad[] = {
      {.weights = numbers}, {.weights_gradient = numbers}, {.mask = numbers}, {.head_mask = numbers}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK_STATUS(hw_module_backward(context, module, &some, graph, logits, NULL, &bad[i]), HW_ERROR_VALUE);
  }
  CHECK_STATUS(hw_module_backward(context, module, &some, graph, logits, NULL, NULL), HW_OK);
  hw_graph_destroy(graph);
  hw_module_destroy(module);
}

/* Sizes that wrap, or are beyond any memory: the measuring run says so before anything is read. */
static void test_huge(void) {
  const hw_transformer_block_config block = {
      .d_model = 4, .num_heads = 2, .d_ff = 6, .dropout = 0.5, .norm_first = true, .is_causal = true};
  const hw_causal_attention_config head = {.d_in = 4, .d_out = 2, .context_length = SIZE_MAX, .dropout = 0.5};
  const size_t tokens[] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 16, (size_t)1 << (sizeof(size_t) * 8 - 8)};
  hw_transformer_block_config post = block;
  hw_module *modules[3] = {NULL};
  post.norm_first = false;
  CHECK_STATUS(make_stack(NULL, &block, 2, &modules[0]), HW_OK);
  CHECK_STATUS(hw_transformer_block_create(NULL, &post, &modules[1]), HW_OK);
  CHECK_STATUS(make_wrapper(NULL, &head, 2, &modules[2]), HW_OK);
  for (size_t i = 0; i < 3 * sizeof tokens / sizeof *tokens; i++) {
    const hw_input huge = {.x = x, .batch = 1, .tokens = tokens[i / 3]};
    hw_graph *graph = NULL;
    float y = 0.0F;
    CHECK_STATUS(hw_module_forward_recorded(context, modules[i % 3], &huge, &y, NULL, &graph), HW_ERROR_MEMORY);
    CHECK(graph == NULL, "left a graph");
  }
  for (size_t i = 0; i < 3; i++) {
    hw_module_destroy(modules[i]);
  }
}

/* Ids of one token for an input of seven: a copy of them would read past their end. */
static void test_unread(void) {
  static float y[ROWS * OUT];
  const uint32_t one[1] = {99};
  const hw_forward_options unread[2] = {{.token_types = one}, {.position_ids = one}};
  hw_module *module = make();
  for (size_t i = 0; i < 2; i++) {
    hw_graph *graph = NULL;
    CHECK_STATUS(hw_module_forward_recorded(context, module, &input, y, &unread[i], &graph), HW_OK);
    CHECK_STATUS(hw_module_backward(context, module, &input, graph, dy, NULL, NULL), HW_OK);
    hw_graph_destroy(graph);
  }
  hw_module_destroy(module);
}

int main(void) {
  check_seed(15);
  check_fill(x, ROWS * IN);
  check_fill(dy, ROWS * OUT);
  CHECK(hw_context_create(&context) == HW_OK, "context");
  check_run("gradients add up until they are cleared, through one graph too", test_adds);
  check_run("a graph is of one module and its parameters as they were", test_changes);
  check_run("a graph outlives its module and is of no other", test_successors);
  check_run("a backward refuses an input of other sizes", test_other_input);
  check_run("a backward refuses other lengths, and reads no range where the last logits are asked for",
            test_other_logits);
  check_run("a backward refuses other logits, missing ids, and gradients of options that were not given",
            test_bad_backwards);
  check_run("a forward that cannot be kept is refused", test_huge);
  check_run("a recorded forward keeps no ids that its module does not read", test_unread);
  hw_context_destroy(context);
  return check_result();
}
