/*
 * Decoders of any size and options whose forward and loss are recorded: the recorded forward gives the bits of the plain
 * one, rows of a batch add up to its gradients, a second backward adds the same again, also where blocks run again, and a
 * graph of other parameters is refused.
 */
#include "fuzz.h"
#include "modules.h"

typedef struct recorded {
  hw_context *context;
  hw_module *module;
  hw_decoder_config config;
  hw_layer_config layers[3];
  uint32_t *ids; /* [batch, tokens] */
  size_t batch;
  size_t tokens;
} recorded;

static const double frequencies[] = {1.0, 0.3, 0.02};
static const hw_rotary_config rotary = {frequencies, 1, 1.0};

static void draw_options(fuzz_bytes *bytes, hw_model_config *model) {
  model->head_dim = 2 * fuzz_size(bytes, 1, 6);
  model->names = (hw_names)(fuzz_byte(bytes) % 4);
  const bool is_split = model->names >= HW_NAMES_LLAMA;
  model->num_key_value_heads = is_split && fuzz_bool(bytes) ? 1 : model->num_heads;
  model->qk_norm = is_split && fuzz_bool(bytes);
  model->is_gated = is_split && fuzz_bool(bytes);
  model->activation = (hw_activation)(fuzz_byte(bytes) % 4);
  model->is_rms = fuzz_bool(bytes);
  model->norm_place = model->names == HW_NAMES_GEMMA3 && fuzz_bool(bytes) ? HW_NORM_BOTH : HW_NORM_PRE;
  model->is_parallel = model->norm_place == HW_NORM_PRE && fuzz_bool(bytes);
  model->attention_softcap = fuzz_bool(bytes) ? 4.0 : 0.0;
  model->embedding_scale = fuzz_bool(bytes) ? 2.0 : 1.0;
  model->qkv_bias = fuzz_bool(bytes);
  model->out_bias = fuzz_bool(bytes);
  model->mlp_bias = fuzz_bool(bytes);
}

static recorded start(fuzz_bytes *bytes) {
  const size_t layers = fuzz_size(bytes, 1, 3);
  const size_t tokens = fuzz_byte(bytes) % 8 == 0 ? fuzz_size(bytes, 2, 90) : fuzz_size(bytes, 2, 14);
  recorded r = {.batch = fuzz_size(bytes, 1, 3), .tokens = tokens};
  r.config = gpt2_config(fuzz_size(bytes, 2, 40), tokens, layers, fuzz_size(bytes, 1, 20), fuzz_size(bytes, 1, 3),
                         fuzz_size(bytes, 1, 24));
  hw_model_config *model = &r.config.model;
  draw_options(bytes, model);
  if (fuzz_bool(bytes)) {
    model->positions = 0;
    model->rotary = &rotary;
    model->rotary_count = 1;
    for (size_t i = 0; i < layers; i++) {
      r.layers[i] = (hw_layer_config){fuzz_size(bytes, 0, tokens), fuzz_bool(bytes) ? 0 : -1};
    }
    model->layers = r.layers;
  }
  r.config.ties_head = fuzz_bool(bytes);
  r.config.logit_softcap = fuzz_bool(bytes) ? 5.0 : 0.0;
  CHECK(hw_context_create(&r.context) == HW_OK, "create");
  CHECK(hw_decoder_create(&r.config, &r.module) == HW_OK, "create");
  fill_part(whole(r.module));
  r.ids = check_memory(r.batch * tokens * sizeof *r.ids);
  for (size_t i = 0; i < r.batch * tokens; i++) {
    r.ids[i] = (uint32_t)(check_random() % model->vocab_size);
  }
  return r;
}

/* A copy of all gradients, one parameter after another, which are removed. */
static float *take_gradients(hw_module *module, size_t *count) {
  *count = 0;
  float *all = NULL;
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    hw_parameter_info info;
    CHECK(hw_module_parameter(module, i, &info) == HW_OK, "parameter");
    const size_t size = info.shape[0] * info.shape[1];
    all = realloc(all, (*count + size) * sizeof *all);
    CHECK(all != NULL && hw_module_store_gradient(module, i, 0, info.shape[0], all + *count) == HW_OK, "gradient");
    CHECK(hw_module_clear_gradient(module, i) == HW_OK, "clear");
    *count += size;
  }
  return all;
}

/* Of some rows. The mean loss is of all their targets. */
static float add_gradients(const recorded *r, size_t first, size_t rows, float scale, size_t times) {
  const hw_loss_input input = {r->ids + first * r->tokens, NULL, rows, r->tokens, -100, NULL, NULL, NULL};
  hw_graph *graph = NULL;
  float loss = 0.0F;
  CHECK(hw_model_loss(r->context, r->module, &input, &loss, &graph) == HW_OK, "loss");
  for (size_t i = 0; i < times; i++) {
    CHECK(hw_model_loss_backward(r->context, r->module, graph, scale) == HW_OK, "backward");
  }
  hw_graph_destroy(graph);
  return loss;
}

static void compare(const float *got, const float *expected, size_t count, const char *what) {
  float largest = 0.0F;
  for (size_t i = 0; i < count; i++) {
    largest = fmaxf(largest, fabsf(expected[i]));
  }
  for (size_t i = 0; i < count; i++) {
    CHECK(fabsf(got[i] - expected[i]) <= 1e-3F * largest + 1e-6F, "%s, %zu: %g, not %g of %g", what, i, (double)got[i],
          (double)expected[i], (double)largest);
  }
}

static void check_losses(const recorded *r) {
  size_t count = 0;
  const float share = 1.0F / (float)r->batch;
  const float loss = add_gradients(r, 0, r->batch, 1.0F, 1);
  float *whole_batch = take_gradients(r->module, &count);
  float sum = 0.0F;
  for (size_t row = 0; row < r->batch; row++) {
    sum += add_gradients(r, row, 1, share, 1) * share;
  }
  float *rows = take_gradients(r->module, &count);
  CHECK(fabsf(loss - sum) <= 1e-4F * (1.0F + fabsf(loss)), "loss %g, rows %g", (double)loss, (double)sum);
  compare(rows, whole_batch, count, "rows one after another");
  hw_module_checkpoint(r->module, true);
  add_gradients(r, 0, r->batch, 0.5F, 2);
  float *twice = take_gradients(r->module, &count);
  compare(twice, whole_batch, count, "half of it twice");
  free(whole_batch);
  free(rows);
  free(twice);
}

static void check_forward(const recorded *r, size_t from, size_t to) {
  const size_t vocab_size = r->config.model.vocab_size;
  const size_t count = r->batch * (to - from) * vocab_size;
  const hw_input input = {
      .ids = r->ids, .batch = r->batch, .tokens = r->tokens, .logits_start = from, .logits_end = to};
  float *plain = check_guarded(count);
  float *logits = check_guarded(count);
  hw_graph *graph = NULL;
  CHECK(hw_module_forward(r->context, r->module, &input, plain, NULL) == HW_OK, "forward");
  CHECK(hw_module_forward_recorded(r->context, r->module, &input, logits, NULL, &graph) == HW_OK, "recorded");
  CHECK(memcmp(plain, logits, count * sizeof(float)) == 0, "a recorded forward gives other bits");
  CHECK(hw_module_backward(r->context, r->module, &input, graph, logits, NULL, NULL) == HW_OK, "backward");
  hw_input shorter = input;
  shorter.tokens--;
  CHECK(hw_module_backward(r->context, r->module, &shorter, graph, logits, NULL, NULL) != HW_OK, "another input");
  fill_part(whole(r->module));
  CHECK(!hw_graph_is_current(graph, r->module), "current");
  CHECK(hw_module_backward(r->context, r->module, &input, graph, logits, NULL, NULL) == HW_ERROR_VALUE,
        "other parameters");
  hw_graph_destroy(graph);
  free(plain);
  free(logits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes bytes = {data, size};
  check_seed(fuzz_byte(&bytes));
  recorded r = start(&bytes);
  check_losses(&r);
  const size_t from = fuzz_size(&bytes, 0, r.tokens - 1);
  check_forward(&r, from, fuzz_size(&bytes, from + 1, r.tokens));
  hw_module_destroy(r.module);
  hw_context_destroy(r.context);
  free(r.ids);
  return fuzz_end();
}
