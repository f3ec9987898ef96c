#include "models/residual.h"

#include <assert.h>
#include <string.h>

static size_t width_of(const hw_model_config *model) { return hw_size_multiply(model->num_heads, model->head_dim); }

hw_residual hw_residual_take(const hw_run *run, const hw_decoder *decoder, size_t layers, size_t position) {
  const hw_model_config *model = &decoder->config.model;
  const size_t count = hw_size_add(hw_size_multiply(layers, hw_size_add(model->num_heads, 1)), 2);
  return (hw_residual){
      .watch =
          {
              .row = position,
              .heads = hw_run_take_floats(run, layers, width_of(model)),
              .branches = hw_run_take_floats(run, hw_size_multiply(2, layers), model->d_model),
          },
      .layers = layers,
      .count = count,
      .rows = hw_run_take_floats(run, count, model->d_model),
  };
}

/* What each of a layer's heads writes, [num_heads, d_model], by the output projection without its bias. */
static void project(const hw_decoder *m, const hw_linear *out, const float *outputs, float *row, float *heads) {
  const hw_model_config *model = &m->config.model;
  assert(outputs != NULL);
  for (size_t i = 0; i < model->d_model; i++) {
    hw_matrix_row(&out->weight, i, false, row);
    for (size_t head = 0; head < model->num_heads; head++) {
      double sum = 0.0;
      for (size_t j = head * model->head_dim; j < (head + 1) * model->head_dim; j++) {
        sum += (double)row[j] * (double)outputs[j];
      }
      heads[head * model->d_model + i] = (float)sum;
    }
  }
}

/* What heads do not write of what was written [d_model]: biases, and what rounding added. */
static void find_rest(const hw_model_config *model, const float *written, const float *heads, float *rest) {
  for (size_t i = 0; i < model->d_model; i++) {
    double left = (double)written[i];
    for (size_t head = 0; head < model->num_heads; head++) {
      left -= (double)heads[head * model->d_model + i];
    }
    rest[i] = (float)left;
  }
}

/* biases: room for those of this layer, which are added to the last row. */
static void split_attention(hw_run *run, const hw_decoder *m, const hw_residual *r, size_t layer, float *biases) {
  const hw_model_config *model = &m->config.model;
  const size_t d_model = model->d_model;
  const size_t width = width_of(model);
  const hw_linear *out = hw_modules_out_proj(&m->parts.blocks, layer);
  const hw_module *after = hw_decoder_block(m, layer)->after1;
  const size_t mark = run->arena->used;
  const hw_rows outputs = {hw_const_floats_from(r->watch.heads, layer * width), width, 1};
  float *heads = hw_floats_from(r->rows, layer * model->num_heads * d_model);
  float *row = hw_run_take_floats(run, 1, width);
  float *projected = hw_run_take_floats(run, 1, d_model);
  if (!hw_run_measures(run)) {
    project(m, out, outputs.data, row, heads);
    memset(biases, 0, d_model * sizeof(float));
    hw_residual_add(biases, out->bias, d_model);
  }
  if (after != NULL) {
    hw_linear_forward(run, out, &outputs, projected);
    hw_layer_norm_linear(run, after, projected, heads, model->num_heads);
    hw_layer_norm_linear(run, after, projected, biases, 1);
  }
  if (!hw_run_measures(run)) {
    hw_residual_add(biases, after == NULL ? NULL : hw_layer_norm_bias(after), d_model);
    if (hw_matrix_rounds(&out->weight)) {
      find_rest(model, r->watch.branches + 2 * layer * d_model, heads, biases);
    }
    hw_residual_add(r->rows + (r->count - 1) * d_model, biases, d_model);
  }
  run->arena->used = mark;
}

static void split_embedding(const hw_decoder *m, uint32_t id, size_t position, float *row) {
  const hw_model_config *model = &m->config.model;
  hw_matrix_row(&m->parts.embedding, id, false, row);
  for (size_t i = 0; i < model->d_model; i++) {
    row[i] *= (float)model->embedding_scale;
  }
  if (model->positions > 0) {
    hw_matrix_row(&m->parts.positions, position, true, row);
  }
}

void hw_residual_split(hw_run *run, const hw_decoder *decoder, const uint32_t *ids, const hw_residual *residual) {
  const hw_model_config *model = &decoder->config.model;
  const hw_residual *r = residual;
  const size_t d_model = model->d_model;
  const size_t mark = run->arena->used;
  float *biases = hw_run_take_floats(run, 1, d_model);
  if (!hw_run_measures(run)) {
    memset(r->rows + (r->count - 1) * d_model, 0, d_model * sizeof(float));
    split_embedding(decoder, ids[r->watch.row], r->watch.row, r->rows + (r->count - 2) * d_model);
  }
  for (size_t layer = 0; layer < r->layers; layer++) {
    split_attention(run, decoder, r, layer, biases);
  }
  for (size_t layer = 0; !hw_run_measures(run) && layer < r->layers; layer++) {
    float *row = r->rows + (r->layers * model->num_heads + layer) * d_model;
    memset(row, 0, d_model * sizeof(float));
    hw_residual_add(row, model->d_ff > 0 ? r->watch.branches + (2 * layer + 1) * d_model : NULL, d_model);
  }
  run->arena->used = mark;
}

void hw_residual_units(hw_run *run, const hw_decoder *decoder, const hw_residual *residual, size_t layer,
                       float *units) {
  const size_t d_model = decoder->config.model.d_model;
  const size_t width = width_of(&decoder->config.model);
  const hw_linear *out = hw_modules_out_proj(&decoder->parts.blocks, layer);
  const hw_module *after = hw_decoder_block(decoder, layer)->after1;
  const size_t mark = run->arena->used;
  const hw_rows outputs = {hw_const_floats_from(residual->watch.heads, layer * width), width, 1};
  float *row = hw_run_take_floats(run, 1, width);
  float *projected = hw_run_take_floats(run, 1, d_model);
  for (size_t i = 0; !hw_run_measures(run) && i < d_model; i++) {
    hw_matrix_row(&out->weight, i, false, row);
    for (size_t j = 0; j < width; j++) {
      units[j * d_model + i] = row[j];
    }
  }
  if (after != NULL) {
    hw_linear_forward(run, out, &outputs, projected);
    hw_layer_norm_linear(run, after, projected, units, width);
  }
  run->arena->used = mark;
}
