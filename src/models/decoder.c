/* Language models: a config says which. */
#include "models/decoder.h"

#include <string.h>

#include "models/models.h"
#include "models/names.h"
#include "modules/asked.h"
#include "modules/block.h"
#include "modules/gradients.h"
#include "modules/kept.h"
#include "ops/attention.h"
#include "ops/embedding.h"
#include "ops/pointwise.h"
#include "ops/rotary.h"

/* ---- Life ---- */

/* One array for all that the config points to: frequencies, then rotaries, then layers. */
static hw_status copy_lists(hw_decoder *m) {
  hw_model_config *model = &m->config.model;
  size_t pairs = 0;
  for (size_t i = 0; i < model->rotary_count; i++) {
    pairs += model->rotary[i].pairs;
  }
  const size_t layers = model->layers == NULL ? 0 : model->num_layers;
  const size_t bytes = hw_size_add(hw_size_multiply(pairs, sizeof(double)),
                                   hw_size_add(hw_size_multiply(model->rotary_count, sizeof(hw_rotary_config)),
                                               hw_size_multiply(layers, sizeof(hw_layer_config))));
  if (bytes == 0) {
    return HW_OK;
  }
  double *frequencies = hw_allocate(bytes);
  m->lists = frequencies;
  if (frequencies == NULL) {
    return HW_ERROR_MEMORY;
  }
  hw_rotary_config *rotary = (hw_rotary_config *)(frequencies + pairs);
  for (size_t i = 0; i < model->rotary_count; i++) {
    const size_t count = model->rotary[i].pairs;
    memcpy(frequencies, model->rotary[i].frequencies, count * sizeof(double));
    rotary[i] = (hw_rotary_config){frequencies, count, model->rotary[i].factor};
    frequencies += count;
  }
  model->rotary = rotary;
  if (layers > 0) {
    model->layers = memcpy(rotary + model->rotary_count, model->layers, layers * sizeof(hw_layer_config));
  }
  return HW_OK;
}

static hw_status create(hw_module *module) {
  hw_decoder *m = (hw_decoder *)module;
  const hw_model_config *model = &m->config.model;
  HW_TRY(hw_model_check(model));
  if (model->names > HW_NAMES_GEMMA3 || model->norm_place == HW_NORM_POST ||
      !hw_softcap_is_valid((float)m->config.logit_softcap)) {
    return HW_ERROR_VALUE;
  }
  m->base.layers = model->num_layers;
  m->base.heads = model->num_heads;
  HW_TRY(copy_lists(m));
  return hw_model_parts_create(model, !m->config.ties_head, true, &m->parts);
}

static void release(hw_module *module) {
  hw_decoder *m = (hw_decoder *)module;
  hw_model_parts_release(&m->parts);
  hw_release(m->lists);
}

static void visit(hw_module *module, hw_visit *visit) {
  hw_decoder *m = (hw_decoder *)module;
  const hw_model_config *model = &m->config.model;
  const hw_model_names *names = hw_model_names_of(model);
  hw_model_visit_embedding(visit, model, &m->parts);
  hw_model_visit_positions(visit, model, &m->parts);
  hw_visit_modules(visit, hw_model_name(model, names->blocks), &m->parts.blocks, names->parts);
  hw_visit_child(visit, hw_model_name(model, names->norm), m->parts.norm);
  hw_model_visit_head(visit, names->head, &m->parts);
}

static hw_cache_shape cache_shape(const hw_module *module) {
  const hw_model_config *model = &((const hw_decoder *)module)->config.model;
  return (hw_cache_shape){
      .layers = model->num_layers,
      .heads = model->num_key_value_heads,
      .head_dim = model->head_dim,
      .capacity = model->context_length,
  };
}

static const hw_linear *out_proj(const hw_module *module, size_t layer) {
  return hw_modules_out_proj(&((const hw_decoder *)module)->parts.blocks, layer);
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  const hw_model_config *model = &((const hw_decoder *)module)->config.model;
  if (input->tokens > model->context_length) {
    return HW_ERROR_SHAPE;
  }
  const bool in_order =
      input->logits_last || (input->logits_start <= input->logits_end && input->logits_end <= input->tokens);
  return in_order && hw_ids_fit(input->ids, input, model->vocab_size) &&
                 hw_ids_fit(options->position_ids, input, model->context_length)
             ? HW_OK
             : HW_ERROR_VALUE;
}

/* ---- Logits ---- */

static void run_whole(hw_run *run, const hw_module *module, const hw_input *input, float *x) {
  hw_decoder_run_blocks(run, (const hw_decoder *)module, input, x);
}

/* The backward of it, without a cache: d, the gradient of x, is overwritten. */
static void run_whole_backward(hw_run *run, hw_module *module, const hw_input *input, float *d);

hw_predictor hw_decoder_predictor(const hw_decoder *decoder) {
  return (hw_predictor){
      .parts = &decoder->parts,
      .norm = decoder->parts.norm,
      .softcap = (float)decoder->config.logit_softcap,
      .run = run_whole,
      .run_backward = run_whole_backward,
  };
}

void hw_decoder_predict(const hw_run *run, const hw_decoder *decoder, const hw_rows *x, float *logits) {
  const hw_predictor predictor = hw_decoder_predictor(decoder);
  hw_predict(run, &predictor, x, logits);
}

/* ---- Forward ---- */

static size_t asked_rows(const hw_input *input) { return input->batch * hw_asked_tokens(input); }

/* The logits of the asked-for tokens, whose rows are the first of x, by one product: the vocabulary's matrix is read once. x is
 * overwritten. */
static void predict(hw_run *run, const hw_decoder *m, const hw_input *input, float *x, float *logits) {
  const size_t d_model = m->config.model.d_model;
  const size_t rows = asked_rows(input);
  if (rows == 0) {
    return;
  }
  hw_layer_norm_push(run, m->parts.norm, x, rows, x);
  hw_decoder_predict(run, m, &(hw_rows){x, d_model, rows}, logits);
}

/* Where the tokens are: as given, or after those of a cache. */
static hw_places places_of(const hw_run *run, const hw_decoder *m, const hw_input *input) {
  const hw_key_value_cache *cache = run->options->cache;
  return (hw_places){
      .ids = run->options->position_ids,
      .first = cache == NULL ? 0 : cache->length,
      .firsts = cache != NULL && cache->is_ragged ? cache->lengths : NULL,
      .last = m->config.model.context_length - 1,
      .batch = input->batch,
      .tokens = input->tokens,
  };
}

/* Their angles, for all layers; until the arena's `used` is set back. */
static void turn_places(hw_run *run, const hw_model_config *model, const hw_places *places, hw_angles *angles) {
  for (size_t i = 0; i < model->rotary_count; i++) {
    angles[i] = hw_angles_take(run, model->rotary + i, places);
  }
  run->angles = angles;
}

/* x, of so many floats: the residual stream where the forward begins. */
static void embed(const hw_run *run, const hw_decoder *m, const hw_input *input, const hw_places *places, float *x,
                  size_t count) {
  const float *start = run->options->start;
  if (start == NULL) {
    hw_embedding_forward(run, &m->parts.embedding, input->ids, input->batch * input->tokens, x);
    hw_predict_scale(run, x, (float)m->config.model.embedding_scale, x, count);
    if (m->config.model.positions > 0) {
      hw_positions_forward(run, &m->parts.positions, places, x);
    }
  } else if (!hw_run_measures(run)) {
    memcpy(x, start, count * sizeof(float));
  }
}

/* Whether the last layer may leave out the tokens whose logits are not asked for: nothing else needs them. What dropout draws
 * does not depend on what is asked for. */
static bool is_narrow(const hw_run *run, const hw_decoder *m, const hw_input *input) {
  const bool drops = m->base.training && m->config.model.dropout > 0.0;
  return hw_asked_tokens(input) < input->tokens && !hw_run_records(run) && !drops && run->options->residuals == NULL;
}

void hw_decoder_run_blocks(hw_run *run, const hw_decoder *decoder, const hw_input *input, float *x) {
  const hw_model_config *model = &decoder->config.model;
  const size_t mark = run->arena->used;
  const size_t count = hw_size_multiply(hw_input_rows(input), model->d_model);
  const hw_places places = places_of(run, decoder, input);
  hw_angles angles[HW_MOST_ROTARIES];
  hw_input in = *input;
  in.x = x;
  embed(run, decoder, input, &places, x, count);
  hw_model_drop(run, &decoder->base, model->dropout, x, count);
  turn_places(run, model, &places, angles);
  hw_blocks_run(run, &decoder->parts.blocks, &in, x);
  run->angles = NULL;
  run->arena->used = mark;
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const hw_decoder *m = (const hw_decoder *)module;
  const size_t mark = run->arena->used;
  const size_t d_model = m->config.model.d_model;
  float *x = hw_run_take_floats(run, hw_input_rows(input), d_model);
  run->only_asked = is_narrow(run, m, input);
  hw_decoder_run_blocks(run, m, input, x);
  if (!run->only_asked) {
    hw_copy_asked(run, input, x, d_model, d_model, x);
  }
  predict(run, m, input, x, y);
  run->arena->used = mark;
}

/* ---- Backward ---- */

static void run_whole_backward(hw_run *run, hw_module *module, const hw_input *input, float *d) {
  hw_decoder *decoder = (hw_decoder *)module;
  const hw_model_config *model = &decoder->config.model;
  const size_t mark = run->arena->used;
  const size_t rows = hw_input_rows(input);
  hw_matrix embedding = hw_gradient_matrix(&decoder->parts.embedding_gradient, &decoder->parts.embedding);
  hw_angles angles[HW_MOST_ROTARIES];
  const hw_places places = places_of(run, decoder, input);
  turn_places(run, model, &places, angles);
  hw_blocks_run_backward(run, &decoder->parts.blocks, input, d, d);
  hw_drop_backward(run, d, hw_size_multiply(rows, model->d_model));
  if (model->positions > 0) {
    hw_matrix positions = hw_gradient_matrix(&decoder->parts.positions_gradient, &decoder->parts.positions);
    hw_positions_backward(run, &positions, &places, d);
  }
  hw_predict_scale(run, d, (float)model->embedding_scale, d, rows * model->d_model);
  hw_embedding_backward(run, &embedding, input->ids, rows, d);
  run->angles = NULL;
  run->arena->used = mark;
}

/* Puts the asked-for tokens' rows where they belong, in place, and zeros in the others. */
static void scatter(const hw_input *input, size_t d_model, float *d) {
  const size_t asked = hw_asked_tokens(input) * d_model;
  const size_t all = input->tokens * d_model;
  for (size_t b = input->batch; b > 0; b--) {
    const size_t before = hw_first_asked(input, b - 1) * d_model;
    float *sequence = d + (b - 1) * all;
    memmove(sequence + before, d + (b - 1) * asked, asked * sizeof(float));
    memset(sequence + before + asked, 0, (all - before - asked) * sizeof(float));
    memset(sequence, 0, before * sizeof(float));
  }
}

/* The gradient of the asked-for tokens before the last norm, in the first rows of d. */
static void predict_backward(hw_run *run, const hw_decoder *m, const hw_input *input, const float *d_logits, float *d) {
  const hw_predictor predictor = hw_decoder_predictor(m);
  const size_t rows = asked_rows(input);
  if (rows > 0) {
    hw_predict_backward(run, &predictor, rows, d_logits, d);
  }
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  (void)dx;
  hw_decoder *m = (hw_decoder *)module;
  const size_t mark = run->arena->used;
  float *d = hw_run_take_floats(run, hw_input_rows(input), m->config.model.d_model);
  predict_backward(run, m, input, dy, d);
  if (!hw_run_measures(run)) {
    scatter(input, m->config.model.d_model, d);
  }
  run_whole_backward(run, module, input, d);
  run->arena->used = mark;
}

const hw_module_type hw_decoder_type = {
    HW_MODULE_TYPE(hw_decoder), .backward = backward,  .check = check,        .cache_shape = cache_shape,
    .out_proj = out_proj,       .takes_ids = true,     .has_logits = true,    .has_head_mask = true,
    .takes_lengths = true,      .has_residuals = true, .draws_nothing = true, .has_position_ids = true,
};

hw_status hw_decoder_create(const hw_decoder_config *config, hw_module **module) {
  return hw_module_create(NULL, &hw_decoder_type, config, module);
}
