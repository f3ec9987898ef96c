/* Why a query looks at a key: a head's score, split over what wrote the residual stream at either of them. */
#include <string.h>

#include "models/models.h"
#include "models/residual.h"
#include "ops/rotary.h"

/* What a run measures and computes of. */
typedef struct job {
  const hw_decoder *decoder;
  const hw_qk_attribution *call;
} job;

/* The query or the key, and what each part gives it. */
typedef struct side {
  hw_residual residual;
  size_t projection; /* HW_QUERY or HW_KEY */
  float *whole;      /* [head_dim] */
  float *parts;      /* [residual.count, head_dim]: they add up to it */
} side;

static side take_side(const hw_run *run, const job *j, size_t projection, size_t position) {
  const hw_residual residual = hw_residual_take(run, j->decoder, j->call->layer, position);
  const size_t head_dim = j->decoder->config.model.head_dim;
  return (side){residual, projection, hw_run_take_floats(run, 1, head_dim),
                hw_run_take_floats(run, residual.count, head_dim)};
}

/* Rotates rows to the side's position. */
static void rotate(const hw_run *run, const hw_model_config *model, const side *s, size_t rotary, float *rows,
                   size_t count) {
  const size_t width = model->head_dim;
  const hw_places place = {.first = s->residual.watch.row, .batch = 1, .tokens = 1};
  const hw_strides strides = {.batch = count * width, .head = width, .token = width};
  if (rotary > 0) {
    const size_t mark = run->arena->used;
    const hw_angles angles = hw_angles_take(run, model->rotary + rotary - 1, &place);
    const hw_rotary turned = {angles, 1, count, 1, width};
    hw_rotary_forward(run, &turned, rows, &strides, rows, &strides);
    run->arena->used = mark;
  }
}

/* What rounding adds to products with 8-bit weights belongs to the biases. */
static void add_rounding(const side *s, size_t width) {
  float *biases = s->parts + (s->residual.count - 1) * width;
  for (size_t i = 0; i < width; i++) {
    double rest = (double)s->whole[i];
    for (size_t part = 0; part < s->residual.count; part++) {
      rest -= (double)s->parts[part * width + i];
    }
    biases[i] += (float)rest;
  }
}

/* The head's query or key of the token whose residual stream is x [d_model], before its norm and its position. */
static void project(hw_run *run, const job *j, const side *s, const hw_head_parts *head, const float *x) {
  const size_t d_model = j->decoder->config.model.d_model;
  const hw_matrix_part *part = &head->rows[s->projection];
  const hw_linear *linear = head->qkv_proj;
  const hw_module *norm = hw_decoder_block(j->decoder, j->call->layer)->ln1;
  float *biases = hw_floats_from(s->parts, (s->residual.count - 1) * part->rows);
  const size_t mark = run->arena->used;
  float *normed = hw_run_take_floats(run, 1, d_model);
  float *all = hw_run_take_floats(run, 1, linear->weight.rows);
  hw_layer_norm_push(run, norm, x, 1, normed);
  hw_linear_forward(run, linear, &(hw_rows){normed, d_model, 1}, all);
  hw_layer_norm_linear(run, norm, x, s->residual.rows, s->residual.count);
  if (!hw_run_measures(run)) {
    memcpy(s->whole, all + part->row, part->rows * sizeof(float));
    hw_residual_add(s->residual.rows + (s->residual.count - 1) * d_model, hw_layer_norm_bias(norm), d_model);
  }
  const hw_matrix weight = hw_matrix_copy(run, &linear->weight, part);
  hw_matrix_multiply(run, &weight, &(hw_rows){s->residual.rows, d_model, s->residual.count}, NULL, s->parts);
  if (!hw_run_measures(run)) {
    hw_residual_add(biases, hw_const_floats_from(linear->bias, part->row), part->rows);
  }
  if (!hw_run_measures(run) && hw_matrix_rounds(&linear->weight)) {
    add_rounding(s, part->rows);
  }
  run->arena->used = mark;
}

static void make_side(hw_run *run, const job *j, const side *s, const float *x) {
  const hw_model_config *model = &j->decoder->config.model;
  const hw_head_parts head = hw_decoder_head_parts(j->decoder, j->call->layer, j->call->head);
  const hw_module *norm = head.norms[s->projection];
  const float *row = hw_const_floats_from(x, s->residual.watch.row * model->d_model);
  hw_residual_split(run, j->decoder, j->call->ids, &s->residual);
  project(run, j, s, &head, row);
  if (norm != NULL) {
    hw_layer_norm_linear(run, norm, s->whole, s->parts, s->residual.count);
    hw_layer_norm_push(run, norm, s->whole, 1, s->whole);
  }
  rotate(run, model, s, head.rotary, s->whole, 1);
  rotate(run, model, s, head.rotary, s->parts, s->residual.count);
}

/* scores [x_count, y_count]: scaled products of rows. */
static void multiply(const float *x, size_t x_count, const float *y, size_t y_count, size_t width, double scale,
                     float *scores) {
  for (size_t i = 0; scores != NULL && i < x_count; i++) {
    for (size_t j = 0; j < y_count; j++) {
      double sum = 0.0;
      for (size_t k = 0; k < width; k++) {
        sum += (double)x[i * width + k] * (double)y[j * width + k];
      }
      scores[i * y_count + j] = (float)(scale * sum);
    }
  }
}

static void forward(hw_run *run, const void *given) {
  const job *j = given;
  const hw_qk_attribution *call = j->call;
  const hw_model_config *model = &j->decoder->config.model;
  /* Later tokens and layers change nothing. */
  const size_t last = call->query > call->key ? call->query : call->key;
  const hw_input input = {.ids = call->ids, .batch = 1, .tokens = last + 1};
  hw_decoder below = *j->decoder;
  below.parts.blocks.count = call->layer;
  float *x = hw_run_take_floats(run, input.tokens, model->d_model);
  side query = take_side(run, j, HW_QUERY, call->query);
  const side key = take_side(run, j, HW_KEY, call->key);
  query.residual.watch.next = &key.residual.watch;
  run->watch = &query.residual.watch;
  hw_decoder_run_blocks(run, &below, &input, x);
  run->watch = NULL;
  make_side(run, j, &query, x);
  make_side(run, j, &key, x);
  if (!hw_run_measures(run)) {
    const double scale = hw_decoder_head_parts(j->decoder, call->layer, call->head).scale;
    const size_t count = query.residual.count;
    const size_t width = model->head_dim;
    multiply(query.parts, count, key.whole, 1, width, scale, call->query_parts);
    multiply(query.whole, 1, key.parts, count, width, scale, call->key_parts);
    multiply(query.parts, count, key.parts, count, width, scale, call->pairs);
    multiply(query.whole, 1, key.whole, 1, width, scale, call->score);
  }
}

hw_status hw_decoder_qk_attribution(hw_context *context, const hw_module *decoder, const hw_qk_attribution *call) {
  if (decoder == NULL || decoder->type != &hw_decoder_type || call == NULL || call->query_parts == NULL ||
      call->key_parts == NULL || call->score == NULL) {
    return HW_ERROR_VALUE;
  }
  const hw_input input = {.ids = call->ids, .batch = 1, .tokens = call->tokens};
  const hw_forward_options options = {.head_mask = call->head_mask};
  HW_TRY(hw_module_check(decoder, &input, NULL, &options));
  if (call->layer >= decoder->layers || call->head >= decoder->heads || call->query >= call->tokens ||
      call->key >= call->tokens) {
    return HW_ERROR_VALUE;
  }
  return hw_run_forward(context, &options, NULL, forward, &(job){(const hw_decoder *)decoder, call});
}
