/* A head's matrices: what its circuits are made of. */
#include "models/decoder.h"
#include "models/models.h"

static float gain_of(const hw_module *norm, size_t column) {
  return norm == NULL ? 1.0F : hw_layer_norm_gain(norm, column);
}

/* rows [head_dim, d_model] times the weights of the norms that stand at either end. */
static void scale(const hw_model_config *model, const hw_module *of_rows, const hw_module *of_columns, float *rows) {
  for (size_t i = 0; i < model->head_dim; i++) {
    for (size_t j = 0; j < model->d_model; j++) {
      rows[i * model->d_model + j] *= gain_of(of_rows, i) * gain_of(of_columns, j);
    }
  }
}

hw_status hw_decoder_head_weights(const hw_module *decoder, size_t layer, size_t head, bool with_gains, float *out) {
  if (decoder == NULL || decoder->type != &hw_decoder_type || layer >= decoder->layers || head >= decoder->heads ||
      out == NULL) {
    return HW_ERROR_VALUE;
  }
  const hw_decoder *m = (const hw_decoder *)decoder;
  const hw_model_config *model = &m->config.model;
  const hw_block *block = hw_decoder_block(m, layer);
  const hw_head_parts of = hw_decoder_head_parts(m, layer, head);
  const size_t count = model->head_dim * model->d_model;
  for (size_t i = 0; i < HW_PROJECTIONS; i++) {
    hw_matrix_store(&of.qkv_proj->weight, &of.rows[i], out + i * count, model->d_model, 1);
    if (with_gains) {
      scale(model, i < HW_VALUE ? of.norms[i] : NULL, block->ln1, out + i * count);
    }
  }
  float *written = out + HW_PROJECTIONS * count;
  hw_matrix_store(&hw_modules_out_proj(&m->parts.blocks, layer)->weight, &of.columns, written, 1, model->d_model);
  if (with_gains) {
    scale(model, NULL, block->after1, written);
  }
  return HW_OK;
}
