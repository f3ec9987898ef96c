#include <string.h>

#include "modules/kept.h"
#include "modules/layer_norm.h"
#include "modules/modules.h"
#include "ops/pointwise.h"

typedef struct transformer_block {
  hw_module base;
  hw_transformer_block_config config;
  hw_module *ln1;
  hw_module *ln2; /* NULL if the block is attention only */
  hw_module *attn;
  hw_module *ffn; /* likewise */
} transformer_block;

size_t hw_transformer_block_weight_bytes(const hw_transformer_block_config *config) {
  const size_t attn = hw_size_multiply(4, config->d_model);
  const size_t ffn = config->attention_only ? 0 : hw_size_multiply(2, config->d_ff);
  return hw_size_multiply(hw_size_multiply(hw_size_add(attn, ffn), config->d_model), sizeof(float));
}

static hw_status create(hw_module *module) {
  transformer_block *m = (transformer_block *)module;
  const hw_transformer_block_config *config = &m->config;
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
  const hw_layer_norm_config norm = {config->d_model, config->eps == 0.0 ? HW_LAYER_NORM_EPS : config->eps};
  m->base.layers = 1;
  m->base.heads = config->num_heads;
  HW_TRY(hw_multi_head_attention_create(NULL, &attn, &m->attn));
  HW_TRY(hw_layer_norm_create(NULL, &norm, &m->ln1));
  if (config->attention_only) {
    return HW_OK;
  }
  HW_TRY(hw_feed_forward_create(NULL, &ffn, &m->ffn));
  return hw_layer_norm_create(NULL, &norm, &m->ln2);
}

static void release(hw_module *module) {
  transformer_block *m = (transformer_block *)module;
  hw_module_destroy(m->ln1);
  hw_module_destroy(m->ln2);
  hw_module_destroy(m->attn);
  hw_module_destroy(m->ffn);
}

static void visit(hw_module *module, hw_visit *visit) {
  transformer_block *m = (transformer_block *)module;
  const bool has_ffn = !m->config.attention_only;
  hw_visit_child(visit, "ln1", m->ln1, NULL);
  if (has_ffn) {
    hw_visit_child(visit, "ln2", m->ln2, NULL);
  }
  hw_visit_child(visit, "attn", m->attn, NULL);
  if (has_ffn) {
    hw_visit_child(visit, "ffn", m->ffn, NULL);
  }
}

static const hw_linear *out_proj(const hw_module *module, size_t layer) {
  const hw_module *attn = ((const transformer_block *)module)->attn;
  return attn->type->out_proj(attn, layer);
}

/* ---- Forward ---- */

static void drop(const hw_run *run, const transformer_block *m, float *branch, size_t count) {
  const double dropout = m->base.training ? m->config.dropout : 0.0;
  if (hw_run_records(run)) {
    const hw_dropped dropped = hw_dropped_push(run, dropout, hw_kept_words(count));
    hw_dropped_draw(run, &dropped, branch, count);
  } else {
    hw_dropout_forward(run, dropout, branch, count);
  }
}

/*
 * y = x + dropout(part(norm(x))), or norm(x + dropout(part(x))). The part's input is not kept: on the tape, before what the part
 * keeps, lies what it is made from again.
 *
 *   norm_first:  | ln1's rows | attn … | ln2's rows | ffn … |
 *   else:        | x | attn … | ln1's rows | ffn … | ln2's rows |
 */
static void add_part(hw_run *run, const transformer_block *m, const hw_module *norm, const hw_module *part,
                     const hw_input *x, float *branch, float *y) {
  hw_input in = *x;
  const size_t rows = hw_size_multiply(x->batch, x->tokens);
  const size_t count = rows * m->config.d_model;
  if (m->config.norm_first) {
    hw_layer_norm_push(run, norm, x->x, rows, branch);
    in.x = branch;
  }
  const size_t mark = hw_tape_mark(run);
  hw_module_run(run, part, &in, branch);
  drop(run, m, branch, count);
  if (hw_run_records(run)) {
    hw_push_number(run, (double)mark);
  }
  hw_add_forward(run, x->x, branch, y, count);
  if (!m->config.norm_first) {
    hw_layer_norm_push(run, norm, y, rows, y);
  }
}

static void keep_input(const hw_run *run, const hw_input *input, size_t d_model) {
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  float *kept = hw_tape_push_floats(run, rows, d_model);
  if (!hw_run_measures(run)) {
    memcpy(kept, input->x, rows * d_model * sizeof(float));
  }
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const transformer_block *m = (const transformer_block *)module;
  const size_t mark = run->arena->used;
  float *branch = hw_run_take_floats(run, hw_size_multiply(input->batch, input->tokens), m->config.d_model);
  hw_input in_y = *input;
  in_y.x = y;
  if (hw_run_records(run) && !m->config.norm_first) {
    keep_input(run, input, m->config.d_model);
  }
  add_part(run, m, m->ln1, m->attn, input, branch, y);
  if (!m->config.attention_only) {
    add_part(run, m, m->ln2, m->ffn, &in_y, branch, y);
  }
  run->arena->used = mark;
}

/* ---- Backward ---- */

/* One of the two parts on its way back. */
typedef struct half {
  hw_module *norm;
  hw_module *part;
  hw_module *before; /* the norm whose output the part was given; NULL: the block's input, which was kept */
  const hw_input *shape;
  size_t rows;
  size_t count; /* of floats of a branch */
} half;

/* The part's input again. Returns how far the tape reaches below what it was made from. */
static size_t restore_input(const hw_run *run, const half *h, size_t d_model, size_t mark, hw_normalized *normalized,
                            float *again) {
  hw_arena *tape = run->tape.kept;
  const size_t used = tape->used;
  tape->used = mark;
  if (h->before != NULL) {
    *normalized = hw_layer_norm_pop(run, h->before, h->rows);
    hw_layer_norm_restore(run, h->before, normalized, h->rows, again);
  } else {
    const float *x = hw_tape_pop_floats(run, h->rows, d_model);
    if (!hw_run_measures(run)) {
      memcpy(again, x, h->count * sizeof(float));
    }
  }
  const size_t below = tape->used;
  tape->used = used;
  return below;
}

/* d, the gradient of the output, becomes that of the input. */
static void backward_half(hw_run *run, const transformer_block *m, const half *h, float *d) {
  const size_t mark = run->arena->used;
  const size_t d_model = m->config.d_model;
  float *again = hw_run_take_floats(run, h->rows, d_model);
  float *d_part = hw_run_take_floats(run, h->rows, d_model);
  hw_normalized normalized;
  if (!m->config.norm_first) {
    normalized = hw_layer_norm_pop(run, h->norm, h->rows);
    hw_layer_norm_pull(run, h->norm, &normalized, d, h->rows, false, d);
  }
  const size_t input_end = (size_t)hw_pop_number(run);
  const hw_dropped dropped = hw_dropped_pop(run, hw_kept_words(h->count));
  const size_t below = restore_input(run, h, d_model, input_end, &normalized, again);
  const float *d_branch = d;
  if (dropped.dropout > 0.0) {
    hw_dropped_apply(run, &dropped, d, d_part, h->count);
    d_branch = d_part;
  }
  hw_input in = *h->shape;
  in.x = again;
  hw_module_run_backward(run, h->part, &in, d_branch, d_part);
  if (m->config.norm_first) {
    hw_layer_norm_pull(run, h->norm, &normalized, d_part, h->rows, true, d);
    run->tape.kept->used = below;
  } else {
    hw_add_forward(run, d, d_part, d, h->count);
    run->tape.kept->used = h->before == NULL ? below : input_end;
  }
  run->arena->used = mark;
}

/* dx may be dy. */
static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  transformer_block *m = (transformer_block *)module;
  const size_t mark = run->arena->used;
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  const size_t count = rows * m->config.d_model;
  float *d = dx == NULL ? hw_run_take_floats(run, rows, m->config.d_model) : dx;
  const half ffn = {m->ln2, m->ffn, m->config.norm_first ? m->ln2 : m->ln1, input, rows, count};
  const half attn = {m->ln1, m->attn, m->config.norm_first ? m->ln1 : NULL, input, rows, count};
  if (d != dy && !hw_run_measures(run)) {
    memcpy(d, dy, count * sizeof(float));
  }
  if (!m->config.attention_only) {
    backward_half(run, m, &ffn, d);
  }
  backward_half(run, m, &attn, d);
  run->arena->used = mark;
}

const hw_module_type hw_transformer_block_type = {
    HW_MODULE_TYPE(transformer_block),
    .backward = backward,
    .out_proj = out_proj,
    .has_head_mask = true,
};

hw_status hw_transformer_block_create(hw_context *context, const hw_transformer_block_config *config,
                                      hw_module **module) {
  return hw_module_create(context, &hw_transformer_block_type, config, module);
}
