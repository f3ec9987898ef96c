/* Encoders, as BERT (Devlin et al. 2019): a config says which. */
#include "models/encoder.h"

#include <string.h>

#include "kernels/pack.h"
#include "models/models.h"
#include "models/names.h"
#include "modules/block.h"
#include "modules/gradients.h"
#include "modules/kept.h"
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
  if (model->names < HW_NAMES_BERT || model->norm_place != HW_NORM_POST || !lists || model->embedding_scale != 1.0 ||
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
  hw_visit_child(visit, names->norm, m->head_norm);
  hw_model_visit_head(visit, names->own, &m->parts);
}

static void visit(hw_module *module, hw_visit *visit) {
  encoder *m = (encoder *)module;
  const hw_model_config *model = &m->config.model;
  const hw_model_names *names = hw_model_names_of(model);
  visit->reach = m->config.ties_head ? HW_REACHED_BY_BOTH : HW_REACHED_BY_IDS;
  hw_model_visit_embedding(visit, model, &m->parts);
  visit->reach = HW_REACHED_BY_IDS;
  hw_model_visit_positions(visit, model, &m->parts);
  if (m->config.token_types > 0) {
    const char *types = hw_model_name(model, names_of(m)->types);
    hw_visit_matrix(visit, types, &m->types, &m->types_gradient, HW_DRAWN_NOT);
  }
  hw_visit_child(visit, hw_model_name(model, names->norm), m->parts.norm);
  hw_visit_modules(visit, hw_model_name(model, names->blocks), &m->parts.blocks, names->parts);
  visit->reach = HW_REACHED_BY_ROWS;
  if (m->config.has_head) {
    visit_head(visit, m);
  }
  visit->reach = HW_REACHED_BY_BOTH;
}

/* Of hidden states: logits alone can be asked for. */
static hw_status check_rows(const encoder *m, const hw_input *input, const hw_forward_options *options) {
  const bool is_plain = options->mask.kind == HW_MASK_NONE && options->weights == NULL && options->trace == NULL &&
                        options->head_mask == NULL && options->replace_count == 0 && options->token_types == NULL &&
                        options->causality == HW_CAUSALITY_DEFAULT;
  return m->config.has_head && is_plain && input->lengths == NULL ? HW_OK : HW_ERROR_VALUE;
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  const encoder *m = (const encoder *)module;
  const hw_encoder_config *config = &m->config;
  if (input->x != NULL) {
    return check_rows(m, input, options);
  }
  if (input->tokens > config->model.context_length) {
    return HW_ERROR_SHAPE;
  }
  const bool fit = hw_ids_fit(input->ids, input, config->model.vocab_size) &&
                   hw_ids_fit(options->token_types, input, config->token_types);
  return fit ? HW_OK : HW_ERROR_VALUE;
}

/* ---- Forward ---- */

static hw_places places_of(const encoder *m, const hw_input *input) {
  return (hw_places){.first = m->config.first_position, .batch = input->batch, .tokens = input->tokens};
}

static void add_types(const hw_run *run, const encoder *m, size_t rows, float *x) {
  const uint32_t *types = run->options->token_types;
  for (size_t i = 0; m->config.token_types > 0 && !hw_run_measures(run) && i < rows; i++) {
    const uint32_t type = types == NULL ? 0 : types[i];
    hw_matrix_row(&m->types, type, true, x + i * m->config.model.d_model);
  }
}

/* x [batch, tokens, d_model]: the hidden states. */
static void run_layers(hw_run *run, const encoder *m, const hw_input *input, float *x) {
  const size_t rows = hw_input_rows(input);
  hw_input in = *input;
  in.x = x;
  hw_embedding_forward(run, &m->parts.embedding, input->ids, rows, x);
  const hw_places places = places_of(m, input);
  hw_positions_forward(run, &m->parts.positions, &places, x);
  add_types(run, m, rows, x);
  hw_layer_norm_push(run, m->parts.norm, x, rows, x);
  hw_model_drop(run, &m->base, m->config.model.dropout, x, hw_size_multiply(rows, m->config.model.d_model));
  hw_blocks_run(run, &m->parts.blocks, &in, x);
}

/* y [rows, d_model]: what the head's norm is given. It may be x. */
static void transform(hw_run *run, const encoder *m, size_t rows, const float *x, float *y) {
  const size_t d_model = m->config.model.d_model;
  const size_t mark = run->arena->used;
  float *dense = hw_run_keep_floats(run, rows, d_model);
  hw_linear_forward(run, &m->dense, &(hw_rows){x, d_model, rows}, dense);
  hw_activation_forward(run, m->config.head_activation, dense, y, rows * d_model);
  run->arena->used = mark;
}

static void run_whole(hw_run *run, const hw_module *module, const hw_input *input, float *x) {
  run_layers(run, (const encoder *)module, input, x);
  transform(run, (const encoder *)module, hw_input_rows(input), x, x);
}

/* Of what `transform` gives. */
static hw_predictor predictor_of(const encoder *m) {
  return (hw_predictor){.parts = &m->parts, .norm = m->head_norm, .bias = m->bias, .d_bias = m->bias_gradient.values};
}

/* logits [rows, vocab_size] of hidden states. */
static void predict(hw_run *run, const encoder *m, const hw_input *input, float *logits) {
  const size_t d_model = m->config.model.d_model;
  const size_t rows = hw_input_rows(input);
  const size_t mark = run->arena->used;
  const hw_predictor predictor = predictor_of(m);
  float *x = hw_run_take_floats(run, rows, d_model);
  transform(run, m, rows, input->x, x);
  hw_layer_norm_push(run, m->head_norm, x, rows, x);
  hw_predict(run, &predictor, &(hw_rows){x, d_model, rows}, logits);
  run->arena->used = mark;
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const encoder *m = (const encoder *)module;
  if (hw_module_takes_ids(module, input)) {
    run_layers(run, m, input, y);
  } else {
    predict(run, m, input, y);
  }
}

/* ---- Backward ---- */

/* d, the gradient of the hidden states, is overwritten. */
static void run_layers_backward(hw_run *run, encoder *m, const hw_input *input, float *d) {
  const size_t rows = hw_input_rows(input);
  const uint32_t *token_types = run->options->token_types;
  hw_matrix embedding = hw_gradient_matrix(&m->parts.embedding_gradient, &m->parts.embedding);
  hw_matrix positions = hw_gradient_matrix(&m->parts.positions_gradient, &m->parts.positions);
  hw_matrix types = hw_gradient_matrix(&m->types_gradient, &m->types);
  hw_blocks_run_backward(run, &m->parts.blocks, input, d, d);
  hw_drop_backward(run, d, hw_size_multiply(rows, m->config.model.d_model));
  const hw_normalized normalized = hw_layer_norm_pop(run, m->parts.norm, rows);
  hw_layer_norm_pull(run, m->parts.norm, &normalized, d, rows, false, d);
  hw_embedding_backward(run, &embedding, input->ids, rows, d);
  const hw_places places = places_of(m, input);
  hw_positions_backward(run, &positions, &places, d);
  if (m->config.token_types > 0 && token_types != NULL) {
    hw_embedding_backward(run, &types, token_types, rows, d);
  } else if (m->config.token_types > 0) {
    hw_positions_backward(run, &types, &(hw_places){.batch = rows, .tokens = 1}, d);
  }
}

/* dx from d, the gradient of what the head's norm was given, which is overwritten; dense: what the forward kept, x: what it was
 * given. */
static void transform_backward(hw_run *run, encoder *m, size_t rows, const float *dense, const float *x, float *d,
                               float *dx) {
  const size_t d_model = m->config.model.d_model;
  hw_activation_backward_of(run, m->config.head_activation, dense, d, d, NULL, rows * d_model);
  hw_gradients_of_linear(run, &m->dense, &(hw_rows){x, d_model, rows}, &(hw_rows){d, d_model, rows}, false, dx);
}

static void run_whole_backward(hw_run *run, hw_module *module, const hw_input *input, float *d) {
  encoder *m = (encoder *)module;
  const size_t d_model = m->config.model.d_model;
  const size_t rows = hw_input_rows(input);
  const size_t mark = run->arena->used;
  const float *dense = hw_tape_pop_floats(run, rows, d_model);
  float *x = hw_run_take_floats(run, rows, d_model);
  float *d_hidden = hw_run_take_floats(run, rows, d_model);
  hw_block_restore_output(run, m->parts.blocks.all[m->parts.blocks.count - 1], rows, x);
  transform_backward(run, m, rows, dense, x, d, d_hidden);
  run_layers_backward(run, m, input, d_hidden);
  run->arena->used = mark;
}

static void predict_backward(hw_run *run, encoder *m, const hw_input *input, const float *dy, float *dx) {
  const size_t d_model = m->config.model.d_model;
  const size_t rows = hw_input_rows(input);
  const hw_predictor predictor = predictor_of(m);
  float *d = hw_run_take_floats(run, rows, d_model);
  hw_predict_backward(run, &predictor, rows, dy, d);
  const float *dense = hw_tape_pop_floats(run, rows, d_model);
  transform_backward(run, m, rows, dense, input->x, d, dx);
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  encoder *m = (encoder *)module;
  const size_t d_model = m->config.model.d_model;
  const size_t rows = hw_input_rows(input);
  const size_t mark = run->arena->used;
  if (hw_module_takes_ids(module, input)) {
    float *d = hw_run_take_floats(run, rows, d_model);
    if (!hw_run_measures(run)) {
      memcpy(d, dy, rows * d_model * sizeof(float));
    }
    run_layers_backward(run, m, input, d);
  } else {
    predict_backward(run, m, input, dy, dx);
  }
  run->arena->used = mark;
}

bool hw_encoder_predictor(const hw_module *module, hw_predictor *predictor) {
  const encoder *m = (const encoder *)module;
  if (module->type != &hw_encoder_type || !m->config.has_head) {
    return false;
  }
  *predictor = predictor_of(m);
  predictor->run = run_whole;
  predictor->run_backward = run_whole_backward;
  predictor->needs_targets = true;
  return true;
}

static const hw_linear *out_proj(const hw_module *module, size_t layer) {
  return hw_modules_out_proj(&((const encoder *)module)->parts.blocks, layer);
}

const hw_module_type hw_encoder_type = {
    HW_MODULE_TYPE(encoder), .backward = backward,    .check = check,        .out_proj = out_proj,
    .takes_ids = true,       .takes_rows = true,      .has_head_mask = true, .takes_lengths = true,
    .draws_nothing = true,   .has_token_types = true,
};

hw_status hw_encoder_create(const hw_encoder_config *config, hw_module **module) {
  return hw_module_create(NULL, &hw_encoder_type, config, module);
}
