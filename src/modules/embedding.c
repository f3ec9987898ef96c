#include "ops/embedding.h"

#include "modules/gradients.h"
#include "modules/modules.h"

typedef struct embedding {
  hw_module base;
  hw_embedding_config config;
  hw_matrix weight;
  hw_gradient gradient;
} embedding;

static hw_status create(hw_module *module) {
  embedding *m = (embedding *)module;
  return hw_matrix_create(HW_MATRIX_FLOAT32, m->config.num_embeddings, m->config.embedding_dim, &m->weight);
}

static void release(hw_module *module) {
  embedding *m = (embedding *)module;
  hw_matrix_release(&m->weight);
  hw_gradient_release(&m->gradient);
}

static void visit(hw_module *module, hw_visit *visit) {
  embedding *m = (embedding *)module;
  hw_visit_matrix(visit, "weight", &m->weight, &m->gradient, HW_DRAWN_NORMAL);
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  (void)options;
  return hw_ids_fit(input->ids, input, ((const embedding *)module)->config.num_embeddings) ? HW_OK : HW_ERROR_VALUE;
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const embedding *m = (const embedding *)module;
  hw_embedding_forward(run, &m->weight, input->ids, hw_input_rows(input), y);
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  (void)dx;
  embedding *m = (embedding *)module;
  hw_matrix gradient = hw_gradient_matrix(&m->gradient, &m->weight);
  hw_embedding_backward(run, &gradient, input->ids, hw_input_rows(input), dy);
}

const hw_module_type hw_embedding_type = {
    HW_MODULE_TYPE(embedding),
    .backward = backward,
    .check = check,
    .takes_ids = true,
};

HW_MODULE_CREATE(embedding)
