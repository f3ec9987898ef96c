/* Direct logit attribution: what each part of a decoder writes to the residual stream along a token's unembedding. */
#include <string.h>

#include "models/decoder.h"
#include "models/models.h"
#include "modules/block.h"

/* What a run measures and computes of. */
typedef struct attribution {
  const hw_decoder *decoder;
  const hw_attribution *call;
} attribution;

/* The watched token's rows, and room for sums. */
typedef struct rows {
  hw_watch watch;
  float *last;       /* [d_model]: the residual stream at the end */
  float *normed;     /* [d_model] */
  float *logits;     /* [vocab_size] */
  float *projected;  /* [layers, d_model]: of attention, before a norm behind it; NULL without such norms */
  float *row;        /* a row of any matrix */
  double *direction; /* [d_model]: in the residual stream, along which parts are measured */
  double *own;       /* [d_model]: the same before the norm behind a layer's attention */
  double *shares;    /* [num_heads] */
} rows;

static double dot(const float *x, const double *direction, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) {
    sum += (double)x[i] * direction[i];
  }
  return sum;
}

static const hw_block *block_of(const hw_decoder *m, size_t layer) { return (const hw_block *)m->blocks.all[layer]; }

static size_t width_of(const hw_model_config *model) { return hw_size_multiply(model->num_heads, model->head_dim); }

static rows take_rows(hw_run *run, const hw_decoder *m, size_t position) {
  const hw_model_config *model = &m->config.model;
  const size_t d_model = model->d_model;
  const size_t width = width_of(model);
  const bool has_after = model->norm_place == HW_NORM_BOTH;
  return (rows){
      .watch = {position, hw_run_take_floats(run, model->num_layers, width),
                hw_run_take_floats(run, hw_size_multiply(2, model->num_layers), d_model)},
      .normed = hw_run_take_floats(run, 1, d_model),
      .logits = hw_run_take_floats(run, 1, model->vocab_size),
      .projected = has_after ? hw_run_take_floats(run, model->num_layers, d_model) : NULL,
      .row = hw_run_take_floats(run, 1, d_model > width ? d_model : width),
      .direction = hw_arena_take(run->arena, d_model, sizeof(double)),
      .own = hw_arena_take(run->arena, d_model, sizeof(double)),
      .shares = hw_arena_take(run->arena, model->num_heads, sizeof(double)),
  };
}

/* Adds a token's unembedding. A capped logit's share of the uncapped one is held fixed, as the scales of norms are. Returns
 * what rounding adds to an uncapped logit: products with 8-bit weights round the row. */
static double add_token(const hw_decoder *m, const rows *r, uint32_t token, double sign) {
  const size_t d_model = m->config.model.d_model;
  double logit = 0.0;
  hw_matrix_row(hw_decoder_head(m), token, false, r->row);
  for (size_t i = 0; i < d_model; i++) {
    logit += (double)r->row[i] * (double)r->normed[i];
  }
  const bool is_capped = m->config.logit_softcap != 0.0;
  const double share = is_capped && logit != 0.0 ? (double)r->logits[token] / logit : 1.0;
  for (size_t i = 0; i < d_model; i++) {
    r->direction[i] += sign * share * (double)r->row[i];
  }
  const bool is_rounded = hw_matrix_rounds(hw_decoder_head(m));
  return is_rounded && !is_capped ? sign * ((double)r->logits[token] - logit) : 0.0;
}

/* The shares of a layer's heads; returns that of the projection's bias and of the norm behind. */
static double share_heads(const hw_decoder *m, const rows *r, size_t layer, float *heads) {
  const hw_model_config *model = &m->config.model;
  const hw_block *block = block_of(m, layer);
  const hw_linear *out = hw_modules_out_proj(&m->blocks, layer);
  const float *outputs = r->watch.heads + layer * width_of(model);
  double bias = 0.0;
  memcpy(r->own, r->direction, model->d_model * sizeof(double));
  memset(r->shares, 0, model->num_heads * sizeof(double));
  if (block->after1 != NULL) {
    bias = hw_layer_norm_direction(block->after1, r->projected + layer * model->d_model, r->own);
  }
  for (size_t i = 0; i < model->d_model; i++) {
    hw_matrix_row(&out->weight, i, false, r->row);
    for (size_t j = 0; j < width_of(model); j++) {
      r->shares[j / model->head_dim] += r->own[i] * (double)r->row[j] * (double)outputs[j];
    }
    bias += out->bias == NULL ? 0.0 : r->own[i] * (double)out->bias[i];
  }
  /* Products with 8-bit weights round rows: what attention wrote differs a little from the sum of its heads. */
  double rest = dot(r->watch.branches + 2 * layer * model->d_model, r->direction, model->d_model) - bias;
  for (size_t head = 0; head < model->num_heads; head++) {
    rest -= r->shares[head];
  }
  for (size_t head = 0; head < model->num_heads; head++) {
    heads[head] = (float)(r->shares[head] + rest / (double)model->num_heads);
  }
  return bias;
}

static double share_embedding(const hw_decoder *m, const hw_attribution *call, const rows *r) {
  const hw_model_config *model = &m->config.model;
  hw_matrix_row(&m->embedding, call->ids[call->position], false, r->row);
  for (size_t i = 0; i < model->d_model; i++) {
    r->row[i] *= (float)model->embedding_scale;
  }
  if (model->positions > 0) {
    hw_matrix_row(&m->positions, call->position, true, r->row);
  }
  return dot(r->row, r->direction, model->d_model);
}

static void share_out(const hw_decoder *m, const hw_attribution *call, const rows *r) {
  const hw_model_config *model = &m->config.model;
  double total = (double)r->logits[call->target];
  memset(r->direction, 0, model->d_model * sizeof(double));
  double biases = add_token(m, r, call->target, 1.0);
  if (call->has_against) {
    biases += add_token(m, r, call->against, -1.0);
    total -= (double)r->logits[call->against];
  }
  biases += hw_layer_norm_direction(m->norm, r->last, r->direction);
  for (size_t layer = 0; layer < model->num_layers; layer++) {
    const float *mlp = r->watch.branches + (2 * layer + 1) * model->d_model;
    call->mlps[layer] = model->d_ff > 0 ? (float)dot(mlp, r->direction, model->d_model) : 0.0F;
    biases += share_heads(m, r, layer, call->heads + layer * model->num_heads);
  }
  call->rest[0] = (float)share_embedding(m, call, r);
  call->rest[1] = (float)biases;
  call->rest[2] = (float)total;
}

static void forward(hw_run *run, const void *job) {
  const attribution *a = job;
  const hw_decoder *m = a->decoder;
  const hw_attribution *call = a->call;
  const size_t d_model = m->config.model.d_model;
  const hw_input input = {.ids = call->ids, .batch = 1, .tokens = call->tokens};
  float *x = hw_run_take_floats(run, call->tokens, d_model);
  rows r = take_rows(run, m, call->position);
  run->watch = &r.watch;
  hw_decoder_run_blocks(run, m, &input, x);
  run->watch = NULL;
  r.last = hw_floats_from(x, call->position * d_model);
  hw_layer_norm_push(run, m->norm, r.last, 1, r.normed);
  hw_decoder_predict(run, m, &(hw_rows){r.normed, d_model, 1}, r.logits);
  for (size_t layer = 0; m->config.model.norm_place == HW_NORM_BOTH && layer < m->config.model.num_layers; layer++) {
    const size_t width = width_of(&m->config.model);
    const hw_rows outputs = {hw_floats_from(r.watch.heads, layer * width), width, 1};
    float *projected = hw_floats_from(r.projected, layer * d_model);
    hw_linear_forward(run, hw_modules_out_proj(&m->blocks, layer), &outputs, projected, d_model);
  }
  if (!hw_run_measures(run)) {
    share_out(m, call, &r);
  }
}

hw_status hw_decoder_attribution(hw_context *context, const hw_module *decoder, const hw_attribution *call) {
  if (decoder == NULL || decoder->type != &hw_decoder_type || call == NULL || call->heads == NULL ||
      call->mlps == NULL || call->rest == NULL) {
    return HW_ERROR_VALUE;
  }
  const hw_model_config *model = &((const hw_decoder *)decoder)->config.model;
  const hw_input input = {.ids = call->ids, .batch = 1, .tokens = call->tokens};
  HW_TRY(hw_module_check(decoder, &input, NULL, &(hw_forward_options){0}));
  if (call->position >= call->tokens || call->target >= model->vocab_size ||
      (call->has_against && call->against >= model->vocab_size)) {
    return HW_ERROR_VALUE;
  }
  return hw_run_forward(context, NULL, NULL, forward, &(attribution){(const hw_decoder *)decoder, call});
}
