/* Language models: a config says which. */
#include "models/decoder.h"

#include <string.h>

#include "models/models.h"
#include "modules/gradients.h"
#include "modules/layer_norm.h"
#include "modules/modules.h"
#include "ops/embedding.h"

/* Hugging Face's names of a block's parts. */
static const hw_alias aliases[] = {
    {"ln1", "ln_1", false}, {"attn.qkv_proj", "attn.c_attn", true}, {"attn.out_proj", "attn.c_proj", true},
    {"ln2", "ln_2", false}, {"ffn.fc1", "mlp.c_fc", true},          {"ffn.fc2", "mlp.c_proj", true},
    {NULL, NULL, false},
};

static hw_status create(hw_module *module) {
  hw_decoder *m = (hw_decoder *)module;
  const hw_decoder_config *config = &m->config;
  const hw_transformer_block_config *block = &config->block;
  const hw_layer_norm_config norm = {block->d_model, block->eps == 0.0 ? HW_LAYER_NORM_EPS : block->eps};
  m->base.layers = config->num_layers;
  m->base.heads = block->num_heads;
  HW_TRY(hw_matrix_create(HW_MATRIX_FLOAT32, config->vocab_size, block->d_model, &m->wte));
  HW_TRY(hw_matrix_create(HW_MATRIX_FLOAT32, config->context_length, block->d_model, &m->wpe));
  HW_TRY(hw_layer_norm_create(NULL, &norm, &m->ln_f));
  return hw_modules_create(config->num_layers, hw_transformer_block_weight_bytes(block), &hw_transformer_block_type,
                           block, &m->h);
}

static void release(hw_module *module) {
  hw_decoder *m = (hw_decoder *)module;
  hw_matrix_release(&m->wte);
  hw_matrix_release(&m->wpe);
  hw_gradient_release(&m->wte_gradient);
  hw_gradient_release(&m->wpe_gradient);
  hw_modules_release(&m->h);
  hw_module_destroy(m->ln_f);
}

static void visit(hw_module *module, hw_visit *visit) {
  hw_decoder *m = (hw_decoder *)module;
  hw_visit_matrix(visit, "wte.weight", &m->wte, &m->wte_gradient, false, HW_DRAWN_NOT);
  hw_visit_matrix(visit, "wpe.weight", &m->wpe, &m->wpe_gradient, false, HW_DRAWN_NOT);
  hw_visit_modules(visit, "h", &m->h, aliases);
  hw_visit_child(visit, "ln_f", m->ln_f, NULL);
}

static hw_cache_shape cache_shape(const hw_module *module) {
  const hw_decoder_config *config = &((const hw_decoder *)module)->config;
  return (hw_cache_shape){
      .layers = config->num_layers,
      .heads = config->block.num_heads,
      .head_dim = config->block.d_model / config->block.num_heads,
      .capacity = config->context_length,
  };
}

static const hw_linear *out_proj(const hw_module *module, size_t layer) {
  return hw_modules_out_proj(&((const hw_decoder *)module)->h, layer);
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  const hw_decoder_config *config = &((const hw_decoder *)module)->config;
  if (options->cache == NULL && input->tokens > config->context_length) {
    return HW_ERROR_SHAPE;
  }
  const bool in_order = input->logits_start <= input->logits_end && input->logits_end <= input->tokens;
  return in_order && hw_ids_fit(input, config->vocab_size) ? HW_OK : HW_ERROR_VALUE;
}

/* Moves the asked-for tokens of all sequences to the front of x. */
static void gather(const hw_input *input, size_t d_model, float *x) {
  const size_t rows = input->logits_end - input->logits_start;
  for (size_t b = 0; b < input->batch; b++) {
    const float *asked = x + (b * input->tokens + input->logits_start) * d_model;
    memmove(x + b * rows * d_model, asked, rows * d_model * sizeof(float));
  }
}

static size_t asked_rows(const hw_input *input) {
  return hw_size_multiply(input->batch, input->logits_end - input->logits_start);
}

/* The asked-for tokens' logits, by one product: the vocabulary's matrix is read once. x is overwritten. */
static void predict(hw_run *run, const hw_decoder *m, const hw_input *input, float *x, float *logits) {
  const size_t d_model = m->config.block.d_model;
  const size_t rows = asked_rows(input);
  if (rows == 0) {
    return;
  }
  if (!hw_run_measures(run)) {
    gather(input, d_model, x);
  }
  hw_layer_norm_push(run, m->ln_f, x, rows, x);
  hw_matrix_multiply(run, &m->wte, &(hw_rows){x, d_model, rows}, NULL, logits, m->config.vocab_size);
}

void hw_decoder_run_blocks(hw_run *run, const hw_decoder *decoder, const hw_input *input, size_t past, float *x) {
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  hw_embedding_forward(run, &decoder->wte, input->ids, rows, x);
  hw_positions_forward(run, &decoder->wpe, past, input->tokens, rows, x);
  hw_modules_run(run, &decoder->h, &(hw_input){.x = x, .batch = input->batch, .tokens = input->tokens}, x);
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const hw_decoder *m = (const hw_decoder *)module;
  const size_t mark = run->arena->used;
  const size_t past = run->options->cache == NULL ? 0 : run->options->cache->length;
  float *x = hw_run_take_floats(run, hw_size_multiply(input->batch, input->tokens), m->config.block.d_model);
  hw_decoder_run_blocks(run, m, input, past, x);
  predict(run, m, input, x, y);
  run->arena->used = mark;
}

/* ---- Backward ---- */

void hw_decoder_run_blocks_backward(hw_run *run, hw_decoder *decoder, const hw_input *input, float *d) {
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  hw_matrix wte = hw_gradient_matrix(&decoder->wte_gradient, &decoder->wte);
  hw_matrix wpe = hw_gradient_matrix(&decoder->wpe_gradient, &decoder->wpe);
  hw_modules_run_backward(run, &decoder->h, input, d, d);
  hw_embedding_backward(run, &wte, input->ids, rows, d);
  hw_positions_backward(run, &wpe, 0, input->tokens, rows, d);
}

/* Puts the asked-for tokens' rows where they belong, in place, and zeros in the others. */
static void scatter(const hw_input *input, size_t d_model, float *d) {
  const size_t asked = (input->logits_end - input->logits_start) * d_model;
  const size_t before = input->logits_start * d_model;
  const size_t all = input->tokens * d_model;
  for (size_t b = input->batch; b > 0; b--) {
    float *sequence = d + (b - 1) * all;
    memmove(sequence + before, d + (b - 1) * asked, asked * sizeof(float));
    memset(sequence + before + asked, 0, (all - before - asked) * sizeof(float));
    memset(sequence, 0, before * sizeof(float));
  }
}

/* The gradient of the asked-for tokens before the last norm, in the first rows of d. */
static void predict_backward(hw_run *run, hw_decoder *m, const hw_input *input, const float *d_logits, float *d) {
  const size_t mark = run->arena->used;
  const size_t d_model = m->config.block.d_model;
  const size_t rows = asked_rows(input);
  if (rows == 0) {
    return;
  }
  const hw_normalized normalized = hw_layer_norm_pop(run, m->ln_f, rows);
  const hw_rows dy = {d_logits, m->config.vocab_size, rows};
  hw_matrix gradient = hw_gradient_matrix(&m->wte_gradient, &m->wte);
  float *x = hw_run_take_floats(run, rows, d_model);
  hw_layer_norm_restore(run, m->ln_f, &normalized, rows, x);
  hw_matrix_add_gradient(run, &gradient, &(hw_rows){x, d_model, rows}, &dy);
  hw_matrix_multiply_transposed(run, &m->wte, &dy, false, d, d_model);
  hw_layer_norm_pull(run, m->ln_f, &normalized, d, rows, false, d);
  run->arena->used = mark;
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  (void)dx;
  hw_decoder *m = (hw_decoder *)module;
  const size_t mark = run->arena->used;
  float *d = hw_run_take_floats(run, hw_size_multiply(input->batch, input->tokens), m->config.block.d_model);
  predict_backward(run, m, input, dy, d);
  if (!hw_run_measures(run)) {
    scatter(input, m->config.block.d_model, d);
  }
  hw_decoder_run_blocks_backward(run, m, input, d);
  run->arena->used = mark;
}

const hw_module_type hw_decoder_type = {
    HW_MODULE_TYPE(hw_decoder), .backward = backward, .check = check,     .cache_shape = cache_shape,
    .out_proj = out_proj,       .takes_ids = true,    .has_logits = true, .has_head_mask = true,
};

hw_status hw_decoder_create(const hw_decoder_config *config, hw_module **module) {
  return hw_module_create(NULL, &hw_decoder_type, config, module);
}
