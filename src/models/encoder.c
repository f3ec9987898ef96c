/* Encoders, as BERT (Devlin et al. 2019): a config says which. */
#include <string.h>

#include "kernels/pack.h"
#include "models/models.h"
#include "models/names.h"
#include "models/parts.h"
#include "modules/block.h"
#include "ops/embedding.h"
#include "ops/pointwise.h"

typedef struct encoder {
  hw_module base;
  hw_encoder_config config;
  hw_model_parts parts;
  hw_matrix types; /* [token_types, d_model], if there are any */
  hw_gradient types_gradient;
  /* The head: logits = norm(activation(dense(x)))·Wᵀ + bias; W is of the parts. */
  hw_linear dense;
  hw_module *head_norm;
  float *bias; /* [vocab_size] in whole panels */
  hw_gradient bias_gradient;
} encoder;

/* Names of what decoders do not have. */
typedef struct encoder_names {
  const char *types;
  const char *dense;
  const char *norm;
  const char *bias;
  const char *own;
} encoder_names;

static const encoder_names *names_of(const encoder *m) {
  static const encoder_names bert = {"bert.embeddings.token_type_embeddings.weight", "cls.predictions.transform.dense",
                                     "cls.predictions.transform.LayerNorm", "cls.predictions.bias",
                                     "cls.predictions.decoder.weight"};
  static const encoder_names roberta = {"roberta.embeddings.token_type_embeddings.weight", "lm_head.dense",
                                        "lm_head.layer_norm", "lm_head.bias", "lm_head.decoder.weight"};
  static const encoder_names distilbert = {"distilbert.embeddings.token_type_embeddings.weight", "vocab_transform",
                                           "vocab_layer_norm", "vocab_projector.bias", "vocab_projector.weight"};
  switch (m->config.model.names) {
    case HW_NAMES_ROBERTA:
      return &roberta;
    case HW_NAMES_DISTILBERT:
      return &distilbert;
    default:
      return &bert;
  }
}

/* ---- Life ---- */

static hw_status check_config(const hw_encoder_config *config) {
  const hw_model_config *model = &config->model;
  const bool lists = model->rotary_count == 0 && model->layers == NULL;
  HW_TRY(hw_model_check(model));
  if (model->names < HW_NAMES_BERT || model->norm_place != HW_NORM_POST || !lists ||
      !hw_activation_is_known(config->head_activation)) {
    return HW_ERROR_VALUE;
  }
  const size_t last = hw_size_add(config->first_position, model->context_length);
  return last > model->positions ? HW_ERROR_SHAPE : HW_OK;
}

static hw_status create_head(encoder *m) {
  const hw_model_config *model = &m->config.model;
  const hw_norm_config norm = hw_model_norm(model);
  HW_TRY(hw_linear_init(model->dtype, model->d_model, model->d_model, true, &m->dense));
  HW_TRY(hw_module_create(NULL, &hw_norm_type, &norm, &m->head_norm));
  m->bias = hw_allocate_zeroed(hw_size_multiply(hw_whole_panels(model->vocab_size), sizeof(float)));
  return m->bias == NULL ? HW_ERROR_MEMORY : HW_OK;
}

static hw_status create(hw_module *module) {
  encoder *m = (encoder *)module;
  const hw_model_config *model = &m->config.model;
  HW_TRY(check_config(&m->config));
  m->base.layers = model->num_layers;
  m->base.heads = model->num_heads;
  if (m->config.token_types > 0) {
    HW_TRY(hw_matrix_create(model->dtype, m->config.token_types, model->d_model, &m->types));
  }
  if (m->config.has_head) {
    HW_TRY(create_head(m));
  }
  return hw_model_parts_create(model, m->config.has_head && !m->config.ties_head, false, &m->parts);
}

static void release(hw_module *module) {
  encoder *m = (encoder *)module;
  hw_model_parts_release(&m->parts);
  hw_matrix_release(&m->types);
  hw_gradient_release(&m->types_gradient);
  hw_linear_release(&m->dense);
  hw_module_destroy(m->head_norm);
  hw_release(m->bias);
  hw_gradient_release(&m->bias_gradient);
}

static void visit_head(hw_visit *visit, encoder *m) {
  const encoder_names *names = names_of(m);
  const size_t vocab_size = m->config.model.vocab_size;
  const hw_parameter bias = {
      .rank = 1,
      .rows = vocab_size,
      .columns = 1,
      .array = m->bias,
      .array_count = hw_whole_panels(vocab_size),
      .gradient = &m->bias_gradient,
      .part = 1,
  };
  hw_visit_parameter(visit, names->bias, &bias);
  hw_visit_linear(visit, names->dense, &m->dense);
  hw_visit_child(visit, names->norm, m->head_norm, NULL);
  hw_model_visit_head(visit, names->own, &m->parts);
}

static void visit(hw_module *module, hw_visit *visit) {
  encoder *m = (encoder *)module;
  const hw_model_config *model = &m->config.model;
  const hw_model_names *names = hw_model_names_of(model);
  hw_model_visit_tables(visit, model, &m->parts);
  if (m->config.token_types > 0) {
    const char *types = hw_model_name(model, names_of(m)->types);
    hw_visit_matrix(visit, types, &m->types, &m->types_gradient, false, HW_DRAWN_NOT);
  }
  hw_visit_child(visit, hw_model_name(model, names->norm), m->parts.norm, NULL);
  hw_visit_modules(visit, hw_model_name(model, names->blocks), &m->parts.blocks, names->parts);
  if (m->config.has_head) {
    visit_head(visit, m);
  }
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  const hw_encoder_config *config = &((const encoder *)module)->config;
  if (input->tokens > config->model.context_length) {
    return HW_ERROR_SHAPE;
  }
  const hw_input types = {.ids = options->token_types, .batch = input->batch, .tokens = input->tokens};
  const bool types_fit = options->token_types == NULL || hw_ids_fit(&types, config->token_types);
  return types_fit && hw_ids_fit(input, config->model.vocab_size) ? HW_OK : HW_ERROR_VALUE;
}

/* ---- Forward ---- */

static void add_types(const hw_run *run, const encoder *m, size_t rows, float *x) {
  const uint32_t *types = run->options->token_types;
  for (size_t i = 0; m->config.token_types > 0 && !hw_run_measures(run) && i < rows; i++) {
    const uint32_t type = types == NULL ? 0 : types[i];
    hw_matrix_row(&m->types, type, true, x + i * m->config.model.d_model);
  }
}

/* y [rows, vocab_size] at y_stride. x is overwritten. */
static void predict(hw_run *run, const encoder *m, size_t rows, float *x, float *y, size_t y_stride) {
  const size_t d_model = m->config.model.d_model;
  const size_t mark = run->arena->used;
  const hw_rows hidden = {x, d_model, rows};
  float *between = hw_run_take_floats(run, rows, d_model);
  hw_linear_forward(run, &m->dense, &hidden, between, d_model);
  hw_activation_forward(run, m->config.head_activation, between, between, rows * d_model);
  hw_layer_norm_push(run, m->head_norm, between, rows, between);
  hw_matrix_multiply(run, hw_model_head(&m->parts), &(hw_rows){between, d_model, rows}, m->bias, y, y_stride);
  run->arena->used = mark;
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const encoder *m = (const encoder *)module;
  const hw_model_config *model = &m->config.model;
  const size_t mark = run->arena->used;
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  const size_t width = model->d_model + (m->config.has_head ? model->vocab_size : 0);
  float *x = hw_run_take_floats(run, rows, model->d_model);
  hw_embedding_forward(run, &m->parts.embedding, input->ids, rows, x);
  hw_positions_forward(run, &m->parts.positions, m->config.first_position, input->tokens, rows, x);
  add_types(run, m, rows, x);
  hw_layer_norm_push(run, m->parts.norm, x, rows, x);
  hw_modules_run(run, &m->parts.blocks, &(hw_input){.x = x, .batch = input->batch, .tokens = input->tokens}, x);
  for (size_t i = 0; !hw_run_measures(run) && i < rows; i++) {
    memcpy(y + i * width, x + i * model->d_model, model->d_model * sizeof(float));
  }
  if (m->config.has_head) {
    predict(run, m, rows, x, hw_floats_from(y, model->d_model), width);
  }
  run->arena->used = mark;
}

const hw_module_type hw_encoder_type = {HW_MODULE_TYPE(encoder), .check = check, .takes_ids = true,
                                        .has_head_mask = true};

hw_status hw_encoder_create(const hw_encoder_config *config, hw_module **module) {
  return hw_module_create(NULL, &hw_encoder_type, config, module);
}
