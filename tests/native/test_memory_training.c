/* Every allocation of a recorded forward, a backward, a loss and optimizers fails once. */
#include "allocation_case.h"
#include "modules.h"

enum { D_MODEL = 6, D_FF = 11, VOCAB = 5 };

static const hw_transformer_stack_config stack_config = {
    {.d_model = D_MODEL, .num_heads = HEADS, .d_ff = D_FF, .dropout = 0.5, .norm_first = true, .is_causal = true},
    LAYERS,
};
static const hw_adamw_config adamw = {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8};
static const uint32_t ids[BATCH * TOKENS] = {1, 4, 2, 0, 3};

/* The first numbers of what training has made, or nothing after an error. */
static hw_status read_parameters(hw_module *module, hw_status status) {
  for (size_t i = 0; status == HW_OK && i < 8; i++) {
    status = hw_module_store(module, i, 0, 1, results.y + i * 3 * D_FF);
  }
  return status;
}

static hw_status step(hw_context *context, hw_module *module) {
  hw_optimizer *optimizer = (hw_optimizer *)(uintptr_t)64;
  double norm = 0.0;
  hw_status status = hw_optimizer_create(module, &optimizer);
  CHECK((status == HW_OK) == (optimizer != NULL), "status %d", (int)status);
  if (status == HW_OK) {
    status = hw_clip_grad_norm(context, module, 0.5, &norm);
  }
  if (status == HW_OK) {
    status = hw_adamw_step(context, optimizer, &adamw, NULL, 0);
  }
  hw_optimizer_destroy(optimizer);
  return read_parameters(module, status);
}

/* Every parameter has a gradient, or none has. */
static void check_gradients(hw_module *module, hw_status status) {
  for (size_t i = 0; status != HW_OK && i < hw_module_parameter_count(module); i++) {
    CHECK(!hw_module_has_gradient(module, i), "a gradient after an error");
  }
}

static hw_status train_stack(hw_context *context, hw_module *module) {
  hw_trace *traces[LAYERS];
  hw_graph *graph = (hw_graph *)(uintptr_t)64;
  const hw_input input = {.x = x, .batch = BATCH, .tokens = TOKENS};
  const hw_forward_options asked = options(traces);
  hw_status status = hw_module_forward_recorded(context, module, &input, results.y, &asked, &graph);
  CHECK((status == HW_OK) == (graph != NULL && traces[LAYERS - 1] != NULL), "status %d", (int)status);
  if (status == HW_OK) {
    status = hw_module_backward(context, module, &input, graph, x, results.y, NULL);
    check_gradients(module, status);
  }
  hw_graph_destroy(graph);
  for (size_t i = 0; i < LAYERS; i++) {
    hw_trace_destroy(traces[i]);
  }
  return status == HW_OK ? step(context, module) : status;
}

static hw_status run_stack(hw_context *context) {
  hw_module *module = NULL;
  hw_status status = hw_transformer_stack_create(context, &stack_config, &module);
  if (status == HW_OK) {
    status = train_stack(context, module);
  }
  hw_module_destroy(module);
  return status;
}

static hw_status train_model(hw_context *context, hw_module *module, const hw_loss_input *input) {
  hw_graph *graph = (hw_graph *)(uintptr_t)64;
  hw_status status = hw_model_loss(context, module, input, results.y, &graph);
  CHECK((status == HW_OK) == (graph != NULL), "status %d", (int)status);
  if (status == HW_OK) {
    status = hw_model_loss_backward(context, module, graph, 1.0F);
    check_gradients(module, status);
  }
  hw_graph_destroy(graph);
  return status == HW_OK ? step(context, module) : status;
}

static bool is_checkpointing;

static hw_status run_decoder(hw_context *context) {
  hw_decoder_config config = gpt2_config(VOCAB, TOKENS, LAYERS, D_MODEL, HEADS, D_FF);
  config.model.dropout = 0.5;
  hw_module *module = NULL;
  hw_status status = hw_decoder_create(&config, &module);
  hw_module_checkpoint(module, is_checkpointing);
  if (status == HW_OK) {
    status = train_model(context, module, &(hw_loss_input){ids, NULL, BATCH, TOKENS, -100, NULL, NULL, NULL});
  }
  hw_module_destroy(module);
  return status;
}

/* Hidden states and logits, each with a graph of its own. */
static hw_status pass_back(hw_context *context, hw_module *module) {
  hw_graph *graphs[2] = {NULL, NULL};
  float *hidden = results.y;
  float *logits = results.y + BATCH * TOKENS * D_MODEL;
  const hw_input input = {.ids = ids, .batch = BATCH, .tokens = TOKENS};
  const hw_input rows = {.x = hidden, .batch = BATCH, .tokens = TOKENS};
  hw_status status = hw_module_forward_recorded(context, module, &input, hidden, NULL, &graphs[0]);
  if (status == HW_OK) {
    status = hw_module_forward_recorded(context, module, &rows, logits, NULL, &graphs[1]);
  }
  if (status == HW_OK) {
    status = hw_module_backward(context, module, &rows, graphs[1], logits, results.weights, NULL);
  }
  if (status == HW_OK) {
    status = hw_module_backward(context, module, &input, graphs[0], results.weights, NULL, NULL);
  }
  hw_graph_destroy(graphs[0]);
  hw_graph_destroy(graphs[1]);
  return status;
}

static hw_status run_encoder(hw_context *context) {
  static const int32_t targets[BATCH * TOKENS] = {1, -100, 2, -100, 3};
  static const uint32_t types[BATCH * TOKENS] = {0, 1, 1};
  static const uint32_t lengths[BATCH] = {TOKENS, 3};
  hw_encoder_config config = encoder_config_of(VOCAB, TOKENS, LAYERS, D_MODEL, HEADS, D_FF);
  const hw_loss_input input = {ids, targets, BATCH, TOKENS, -100, types, lengths, NULL};
  hw_module *module = NULL;
  config.ties_head = false;
  config.model.dropout = 0.5;
  hw_status status = hw_encoder_create(&config, &module);
  if (status == HW_OK) {
    status = train_model(context, module, &input);
  }
  if (status == HW_OK) {
    status = pass_back(context, module);
  }
  hw_module_destroy(module);
  return status;
}

static hw_status load_state(hw_context *context) {
  hw_module *module = NULL;
  hw_optimizer *optimizer = NULL;
  hw_status status = make_linear(context, D_IN, WIDTH, true, &module);
  if (status == HW_OK) {
    status = hw_module_load_gradient(module, 0, 0, WIDTH, x);
    check_gradients(module, status);
  }
  if (status == HW_OK) {
    status = hw_optimizer_create(module, &optimizer);
  }
  if (status == HW_OK) {
    status = hw_optimizer_load_moment(optimizer, 0, HW_MOMENT_SECOND, 0, WIDTH, x);
    CHECK((status == HW_OK) == hw_optimizer_has_moment(optimizer, 0, HW_MOMENT_SECOND), "status %d", (int)status);
  }
  hw_optimizer_destroy(optimizer);
  hw_module_destroy(module);
  return status;
}

static hw_status step_array(hw_context *context) {
  return hw_adamw_step_array(context, &adamw, 1, BATCH * TOKENS, results.y, x, results.weights, results.traced);
}

static hw_status evaluate(hw_context *context) {
  hw_decoder_config config = gpt2_config(VOCAB, TOKENS, LAYERS, D_MODEL, HEADS, D_FF);
  config.model.dropout = 0.5;
  const hw_loss_input input = {ids, NULL, BATCH, TOKENS, -100, NULL, NULL, NULL};
  hw_module *module = NULL;
  hw_status status = hw_decoder_create(&config, &module);
  if (status == HW_OK) {
    status = hw_model_loss(context, module, &input, results.y, NULL);
  }
  hw_module_destroy(module);
  return status;
}

static void test_stack(void) { sweep_failures(run_stack); }
static void test_decoder(void) { sweep_failures(run_decoder); }

static void test_checkpointing(void) {
  is_checkpointing = true;
  sweep_failures(run_decoder);
  is_checkpointing = false;
}

static void test_encoder(void) { sweep_failures(run_encoder); }
static void test_state(void) { sweep_failures(load_state); }
static void test_step(void) { sweep_failures(step_array); }
static void test_evaluate(void) { sweep_failures(evaluate); }

int main(void) {
  check_seed(9);
  check_fill(x, sizeof x / sizeof *x);
  check_run("a stack is recorded, goes back and is stepped, or nothing of it is", test_stack);
  check_run("so does a decoder's loss", test_decoder);
  check_run("so does one whose blocks run again", test_checkpointing);
  check_run("so do an encoder's loss, and its hidden states with their logits", test_encoder);
  check_run("gradients and moments are loaded or not", test_state);
  check_run("an array is stepped or not", test_step);
  check_run("a loss alone is computed or not", test_evaluate);
  return check_result();
}
