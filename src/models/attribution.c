/* Direct logit attribution: what each part of a decoder writes to the residual stream along a token's unembedding. */
#include <string.h>

#include "models/models.h"
#include "models/residual.h"

/* What a run measures and computes of. */
typedef struct attribution {
  const hw_decoder *decoder;
  const hw_attribution *call;
} attribution;

/* The watched token's rows, and room for sums. */
typedef struct rows {
  hw_residual residual;
  float *normed;     /* [d_model]: of the residual stream at the end */
  float *logits;     /* [vocab_size] */
  float *row;        /* [d_model] */
  double *direction; /* [d_model]: after the last norm, along which parts are measured */
} rows;

static rows take_rows(const hw_run *run, const hw_decoder *m, size_t position) {
  const hw_model_config *model = &m->config.model;
  return (rows){
      .residual = hw_residual_take(run, m, model->num_layers, position),
      .normed = hw_run_take_floats(run, 1, model->d_model),
      .logits = hw_run_take_floats(run, 1, model->vocab_size),
      .row = hw_run_take_floats(run, 1, model->d_model),
      .direction = hw_arena_take(run->arena, model->d_model, sizeof(double)),
  };
}

static float dot(const float *x, const double *direction, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; x != NULL && i < count; i++) {
    sum += (double)x[i] * direction[i];
  }
  return (float)sum;
}

/* Adds a token's unembedding. A capped logit's share of the uncapped one is held fixed, as the scales of norms are. Returns
 * what rounding adds to an uncapped logit: products with 8-bit weights round the row. */
static double add_token(const hw_decoder *m, const rows *r, uint32_t token, double sign) {
  const size_t d_model = m->config.model.d_model;
  double logit = 0.0;
  hw_matrix_row(hw_model_head(&m->parts), token, false, r->row);
  for (size_t i = 0; i < d_model; i++) {
    logit += (double)r->row[i] * (double)r->normed[i];
  }
  const bool is_capped = (float)m->config.logit_softcap != 0.0F;
  const double share = is_capped && logit != 0.0 ? (double)r->logits[token] / logit : 1.0;
  for (size_t i = 0; i < d_model; i++) {
    r->direction[i] += sign * share * (double)r->row[i];
  }
  const bool is_rounded = hw_matrix_rounds(hw_model_head(&m->parts));
  return is_rounded && !is_capped ? sign * ((double)r->logits[token] - logit) : 0.0;
}

/* What rows of the parts have along the direction. */
static void measure(const rows *r, size_t first, size_t count, size_t d_model, float *shares) {
  for (size_t i = 0; i < count; i++) {
    shares[i] = dot(r->residual.rows + (first + i) * d_model, r->direction, d_model);
  }
}

/* What the total changes by with a unit of each of the heads' outputs. */
static void measure_directions(hw_run *run, const attribution *a, const rows *r, const float *last) {
  const hw_decoder *m = a->decoder;
  const hw_model_config *model = &m->config.model;
  const size_t width = hw_size_multiply(model->num_heads, model->head_dim);
  const size_t mark = run->arena->used;
  float *units = hw_run_take_floats(run, width, model->d_model);
  for (size_t layer = 0; layer < model->num_layers; layer++) {
    hw_residual_units(run, m, &r->residual, layer, units);
    hw_layer_norm_linear(run, m->parts.norm, last, units, width);
    for (size_t i = 0; !hw_run_measures(run) && i < width; i++) {
      a->call->directions[layer * width + i] = dot(units + i * model->d_model, r->direction, model->d_model);
    }
  }
  run->arena->used = mark;
}

static void share_out(const hw_decoder *m, const hw_attribution *call, const rows *r) {
  const hw_model_config *model = &m->config.model;
  const size_t heads = model->num_layers * model->num_heads;
  double total = (double)r->logits[call->target];
  memset(r->direction, 0, model->d_model * sizeof(double));
  double rounding = add_token(m, r, call->target, 1.0);
  if (call->has_against) {
    rounding += add_token(m, r, call->against, -1.0);
    total -= (double)r->logits[call->against];
  }
  measure(r, 0, heads, model->d_model, call->heads);
  measure(r, heads, model->num_layers, model->d_model, call->mlps);
  measure(r, r->residual.count - 2, 2, model->d_model, call->rest);
  call->rest[1] += dot(hw_layer_norm_bias(m->parts.norm), r->direction, model->d_model) + (float)rounding;
  call->rest[2] = (float)total;
}

static void forward(hw_run *run, const void *job) {
  const attribution *a = job;
  const hw_decoder *m = a->decoder;
  const hw_attribution *call = a->call;
  const size_t d_model = m->config.model.d_model;
  const hw_input input = {.ids = call->ids, .batch = 1, .tokens = call->tokens};
  float *x = hw_run_take_floats(run, call->tokens, d_model);
  const rows r = take_rows(run, m, call->position);
  run->watch = &r.residual.watch;
  hw_decoder_run_blocks(run, m, &input, x);
  run->watch = NULL;
  const float *last = hw_floats_from(x, call->position * d_model);
  hw_layer_norm_push(run, m->parts.norm, last, 1, r.normed);
  hw_decoder_predict(run, m, &(hw_rows){r.normed, d_model, 1}, r.logits);
  hw_residual_split(run, m, call->ids, &r.residual);
  hw_layer_norm_linear(run, m->parts.norm, last, r.residual.rows, r.residual.count);
  if (!hw_run_measures(run)) {
    share_out(m, call, &r);
  }
  if (call->directions != NULL) {
    measure_directions(run, a, &r, last);
  }
}

hw_status hw_decoder_attribution(hw_context *context, const hw_module *decoder, const hw_attribution *call) {
  if (decoder == NULL || decoder->type != &hw_decoder_type || call == NULL || call->heads == NULL ||
      call->mlps == NULL || call->rest == NULL) {
    return HW_ERROR_VALUE;
  }
  const hw_model_config *model = &((const hw_decoder *)decoder)->config.model;
  const hw_input input = {.ids = call->ids, .batch = 1, .tokens = call->tokens};
  const hw_forward_options options = {.head_mask = call->head_mask};
  HW_TRY(hw_module_check(decoder, &input, NULL, &options));
  if (call->position >= call->tokens || call->target >= model->vocab_size ||
      (call->has_against && call->against >= model->vocab_size)) {
    return HW_ERROR_VALUE;
  }
  return hw_run_forward(context, &options, NULL, forward, &(attribution){(const hw_decoder *)decoder, call});
}
