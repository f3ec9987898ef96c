#include "models/parts.h"

#include "models/names.h"
#include "modules/block.h"
#include "modules/gradients.h"
#include "modules/kept.h"

hw_status hw_model_parts_create(const hw_model_config *model, bool has_head, bool is_causal, hw_model_parts *parts) {
  const hw_norm_config norm = hw_model_norm(model);
  HW_TRY(hw_matrix_create(model->dtype, model->vocab_size, model->d_model, &parts->embedding));
  if (model->positions > 0) {
    HW_TRY(hw_matrix_create(model->dtype, model->positions, model->d_model, &parts->positions));
  }
  if (has_head) {
    HW_TRY(hw_matrix_create(model->dtype, model->vocab_size, model->d_model, &parts->head));
  }
  HW_TRY(hw_module_create(NULL, &hw_norm_type, &norm, &parts->norm));
  HW_TRY(hw_modules_reserve(model->num_layers, hw_model_block_weight_bytes(model), &parts->blocks));
  for (size_t i = 0; i < model->num_layers; i++) {
    HW_TRY(hw_modules_add(&parts->blocks, &hw_model_block_type, &(hw_model_block_config){model, i, is_causal}));
  }
  return HW_OK;
}

void hw_model_parts_release(hw_model_parts *parts) {
  hw_matrix_release(&parts->embedding);
  hw_matrix_release(&parts->positions);
  hw_matrix_release(&parts->head);
  hw_gradient_release(&parts->embedding_gradient);
  hw_gradient_release(&parts->positions_gradient);
  hw_gradient_release(&parts->head_gradient);
  hw_modules_release(&parts->blocks);
  hw_module_destroy(parts->norm);
}

void hw_model_drop(hw_run *run, const hw_module *model, double dropout, float *x, size_t count) {
  const hw_forward_options *o = run->options;
  run->is_read = run->watch != NULL || o->weights != NULL || o->trace != NULL || o->cache != NULL ||
                 o->head_mask != NULL || o->replace_count > 0 || o->start != NULL || o->residuals != NULL;
  hw_drop(run, model, dropout, x, count);
}

void hw_model_visit_embedding(hw_visit *visit, const hw_model_config *model, hw_model_parts *parts) {
  const char *name = hw_model_name(model, hw_model_names_of(model)->embedding);
  hw_visit_matrix(visit, name, &parts->embedding, &parts->embedding_gradient, HW_DRAWN_NOT);
}

void hw_model_visit_positions(hw_visit *visit, const hw_model_config *model, hw_model_parts *parts) {
  if (model->positions > 0) {
    const char *name = hw_model_name(model, hw_model_names_of(model)->positions);
    hw_visit_matrix(visit, name, &parts->positions, &parts->positions_gradient, HW_DRAWN_NOT);
  }
}

/* Only a head of its own has panels. */
static bool has_head(const hw_model_parts *parts) { return parts->head.panels != NULL; }

void hw_model_visit_head(hw_visit *visit, const char *name, hw_model_parts *parts) {
  if (has_head(parts)) {
    hw_visit_matrix(visit, name, &parts->head, &parts->head_gradient, HW_DRAWN_NOT);
  }
}

const hw_matrix *hw_model_head(const hw_model_parts *parts) {
  return has_head(parts) ? &parts->head : &parts->embedding;
}

hw_matrix hw_model_head_gradient(const hw_model_parts *parts) {
  return has_head(parts) ? hw_gradient_matrix(&parts->head_gradient, &parts->head)
                         : hw_gradient_matrix(&parts->embedding_gradient, &parts->embedding);
}
