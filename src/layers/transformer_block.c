#include "layers/transformer_block.h"

#include "layers/feed_forward.h"
#include "layers/layer_norm.h"
#include "layers/multi_head_attention.h"
#include "layers/pointwise.h"

struct hw_transformer_block {
  hw_transformer_block_config config;
  bool training;
  hw_layer_norm *ln1;
  hw_layer_norm *ln2;
  hw_multi_head_attention *attn;
  hw_feed_forward *ffn;
};

static hw_status create_parts(hw_transformer_block *module) {
  const hw_transformer_block_config *config = &module->config;
  const hw_multi_head_attention_config attn = {
      .d_in = config->d_model,
      .d_out = config->d_model,
      .context_length = SIZE_MAX,
      .num_heads = config->num_heads,
      .dropout = config->dropout,
      .qkv_bias = config->attention_bias,
      .out_proj = true,
      .out_bias = config->attention_bias,
      .is_causal = config->is_causal,
      .packed_qkv = true,
  };
  const hw_feed_forward_config ffn = {
      .d_model = config->d_model,
      .d_ff = config->d_ff,
      .dropout = config->dropout,
      .approximate = config->approximate,
  };
  const double eps = config->eps == 0.0 ? HW_LAYER_NORM_EPS : config->eps;
  HW_TRY(hw_multi_head_attention_create(NULL, &attn, &module->attn));
  HW_TRY(hw_feed_forward_create(NULL, &ffn, &module->ffn));
  HW_TRY(hw_layer_norm_create(config->d_model, eps, &module->ln1));
  return hw_layer_norm_create(config->d_model, eps, &module->ln2);
}

hw_status hw_transformer_block_create(hw_context *context, const hw_transformer_block_config *config,
                                      hw_transformer_block **module) {
  *module = NULL;
  hw_transformer_block *created = hw_allocate_zeroed(sizeof(hw_transformer_block));
  if (created == NULL) {
    return HW_ERROR_MEMORY;
  }
  created->config = *config;
  created->training = true;
  const hw_status status = create_parts(created);
  if (status != HW_OK) {
    hw_transformer_block_destroy(created);
    return status;
  }
  if (context != NULL) {
    hw_transformer_block_draw(context, created);
  }
  *module = created;
  return HW_OK;
}

void hw_transformer_block_draw(hw_context *context, hw_transformer_block *module) {
  hw_multi_head_attention_draw(context, module->attn);
  hw_feed_forward_draw(context, module->ffn);
}

void hw_transformer_block_destroy(hw_transformer_block *module) {
  if (module != NULL) {
    hw_layer_norm_destroy(module->ln1);
    hw_layer_norm_destroy(module->ln2);
    hw_multi_head_attention_destroy(module->attn);
    hw_feed_forward_destroy(module->ffn);
    hw_release(module);
  }
}

hw_layer_norm *hw_transformer_block_ln1(hw_transformer_block *module) { return module->ln1; }

hw_layer_norm *hw_transformer_block_ln2(hw_transformer_block *module) { return module->ln2; }

hw_multi_head_attention *hw_transformer_block_attn(hw_transformer_block *module) { return module->attn; }

hw_feed_forward *hw_transformer_block_ffn(hw_transformer_block *module) { return module->ffn; }

void hw_transformer_block_train(hw_transformer_block *module, bool training) {
  module->training = training;
  hw_multi_head_attention_train(module->attn, training);
  hw_feed_forward_train(module->ffn, training);
}

hw_status hw_transformer_block_check(const hw_module_input *input, const hw_forward_options *options) {
  HW_TRY(hw_forward_check(options, input->batch, input->tokens, SIZE_MAX));
  return options->cache == NULL ? HW_OK : HW_ERROR_VALUE;
}

size_t hw_transformer_block_scratch(const hw_context *context, const hw_transformer_block *module,
                                    const hw_module_input *input, const hw_forward_options *options) {
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  const size_t branch = hw_arena_size(hw_size_multiply(rows, module->config.d_model), sizeof(float));
  const size_t attn = hw_multi_head_attention_scratch(context, module->attn, input, options);
  const size_t ffn = hw_feed_forward_scratch(module->ffn, rows);
  return hw_size_add(branch, attn > ffn ? attn : ffn);
}

hw_status hw_transformer_block_trace(const hw_transformer_block *module, const hw_module_input *input,
                                     const hw_forward_options *options) {
  return hw_multi_head_attention_trace(module->attn, input, options);
}

/* A forward under way: every sublayer computes its branch, which is then added to y. */
typedef struct block_run {
  hw_context *context;
  const hw_transformer_block *module;
  size_t rows;
  float *branch; /* [rows, d_model] */
  float *y;
} block_run;

/* y = x + dropout(branch) */
static void add_branch(const block_run *run, const float *x) {
  const size_t count = run->rows * run->module->config.d_model;
  if (run->module->training) {
    hw_generator_dropout(&run->context->generator, run->module->config.dropout, run->branch, count);
  }
  hw_add_run(run->context, x, run->branch, run->y, count);
}

static void attend(const block_run *run, const float *x, const hw_module_input *input,
                   const hw_forward_options *options) {
  const hw_module_input attended = {x, input->batch, input->tokens};
  hw_multi_head_attention_run(run->context, run->module->attn, &attended, run->branch, options);
}

static void feed_forward(const block_run *run, const float *x) {
  hw_feed_forward_run(run->context, run->module->ffn, x, run->rows, run->branch);
}

static void norm(const block_run *run, const hw_layer_norm *layer, const float *x, float *y) {
  hw_layer_norm_run(run->context, layer, x, run->rows, y);
}

void hw_transformer_block_run(hw_context *context, const hw_transformer_block *module, const hw_module_input *input,
                              float *y, const hw_forward_options *options) {
  const size_t mark = context->arena.used;
  const size_t rows = input->batch * input->tokens;
  float *branch = hw_arena_take_floats(&context->arena, rows * module->config.d_model);
  const block_run run = {context, module, rows, branch, y};
  if (module->config.norm_first) {
    norm(&run, module->ln1, input->x, branch);
    attend(&run, branch, input, options);
    add_branch(&run, input->x);
    norm(&run, module->ln2, y, branch);
    feed_forward(&run, branch);
    add_branch(&run, y);
  } else {
    attend(&run, input->x, input, options);
    add_branch(&run, input->x);
    norm(&run, module->ln1, y, y);
    feed_forward(&run, y);
    add_branch(&run, y);
    norm(&run, module->ln2, y, y);
  }
  context->arena.used = mark;
}

hw_status hw_transformer_block_forward(hw_context *context, hw_transformer_block *module, const float *x, size_t batch,
                                       size_t tokens, float *y, const hw_forward_options *options) {
  const hw_forward_options nothing = {0};
  const hw_forward_options *asked = options == NULL ? &nothing : options;
  const hw_module_input input = {x, batch, tokens};
  HW_TRY(hw_transformer_block_check(&input, asked));
  HW_TRY(hw_arena_reserve(&context->arena, hw_transformer_block_scratch(context, module, &input, asked)));
  HW_TRY(hw_transformer_block_trace(module, &input, asked));
  hw_transformer_block_run(context, module, &input, y, asked);
  return HW_OK;
}
