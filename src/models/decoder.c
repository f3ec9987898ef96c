/* Language models: a config says which. */
#include <string.h>

#include "models/models.h"
#include "modules/modules.h"
#include "ops/embedding.h"

typedef struct decoder {
  hw_module base;
  hw_decoder_config config;
  hw_matrix wte; /* [vocab_size, d_model]: looked up in, and the output head */
  hw_matrix wpe; /* [context_length, d_model] */
  hw_gradient wte_gradient;
  hw_gradient wpe_gradient;
  hw_modules h;
  hw_module *ln_f;
} decoder;

/* Hugging Face's names of a block's parts. */
static const hw_alias aliases[] = {
    {"ln1", "ln_1", false}, {"attn.qkv_proj", "attn.c_attn", true}, {"attn.out_proj", "attn.c_proj", true},
    {"ln2", "ln_2", false}, {"ffn.fc1", "mlp.c_fc", true},          {"ffn.fc2", "mlp.c_proj", true},
    {NULL, NULL, false},
};

static hw_status create(hw_module *module) {
  decoder *m = (decoder *)module;
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
  decoder *m = (decoder *)module;
  hw_matrix_release(&m->wte);
  hw_matrix_release(&m->wpe);
  hw_gradient_release(&m->wte_gradient);
  hw_gradient_release(&m->wpe_gradient);
  hw_modules_release(&m->h);
  hw_module_destroy(m->ln_f);
}

static void visit(hw_module *module, hw_visit *visit) {
  decoder *m = (decoder *)module;
  hw_visit_matrix(visit, "wte.weight", &m->wte, &m->wte_gradient, false, HW_DRAWN_NOT);
  hw_visit_matrix(visit, "wpe.weight", &m->wpe, &m->wpe_gradient, false, HW_DRAWN_NOT);
  hw_visit_modules(visit, "h", &m->h, aliases);
  hw_visit_child(visit, "ln_f", m->ln_f, NULL);
}

static hw_cache_shape cache_shape(const hw_module *module) {
  const hw_decoder_config *config = &((const decoder *)module)->config;
  return (hw_cache_shape){
      .layers = config->num_layers,
      .heads = config->block.num_heads,
      .head_dim = config->block.d_model / config->block.num_heads,
      .capacity = config->context_length,
  };
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  const hw_decoder_config *config = &((const decoder *)module)->config;
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

/* The asked-for tokens' logits, by one product: the vocabulary's matrix is read once. x is overwritten. */
static void predict(hw_run *run, const decoder *m, const hw_input *input, float *x, float *logits) {
  const size_t d_model = m->config.block.d_model;
  const size_t rows = hw_size_multiply(input->batch, input->logits_end - input->logits_start);
  if (rows == 0) {
    return;
  }
  if (!hw_run_measures(run)) {
    gather(input, d_model, x);
  }
  hw_module_run(run, m->ln_f, &(hw_input){.x = x, .batch = 1, .tokens = rows}, x);
  hw_matrix_multiply(run, &m->wte, &(hw_rows){x, d_model, rows}, NULL, logits, m->config.vocab_size);
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const decoder *m = (const decoder *)module;
  const size_t mark = run->arena->used;
  const size_t past = run->options->cache == NULL ? 0 : run->options->cache->length;
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  float *x = hw_run_take_floats(run, rows, m->config.block.d_model);
  hw_embedding_forward(run, &m->wte, input->ids, rows, x);
  hw_positions_forward(run, &m->wpe, past, input->tokens, rows, x);
  hw_modules_run(run, &m->h, &(hw_input){.x = x, .batch = input->batch, .tokens = input->tokens}, x);
  predict(run, m, input, x, y);
  run->arena->used = mark;
}

const hw_module_type hw_decoder_type = {
    HW_MODULE_TYPE(decoder), .check = check,     .cache_shape = cache_shape,
    .takes_ids = true,       .has_logits = true, .has_head_mask = true,
};

hw_status hw_decoder_create(const hw_decoder_config *config, hw_module **module) {
  return hw_module_create(NULL, &hw_decoder_type, config, module);
}
