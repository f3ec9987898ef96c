#include "modules/embedding.h"

#include <string.h>

#include "modules/modules.h"

typedef struct embedding {
  hw_module base;
  hw_embedding_config config;
  float *weight;
} embedding;

static hw_status create(hw_module *module) {
  embedding *m = (embedding *)module;
  const size_t count = hw_size_multiply(m->config.num_embeddings, m->config.embedding_dim);
  if (count == 0) {
    return HW_ERROR_SHAPE;
  }
  m->weight = hw_allocate_zeroed(hw_size_multiply(count, sizeof(float)));
  return m->weight == NULL ? HW_ERROR_MEMORY : HW_OK;
}

static void release(hw_module *module) { hw_release(((embedding *)module)->weight); }

static void visit(hw_module *module, hw_visit *visit) {
  embedding *m = (embedding *)module;
  hw_visit_parameter(visit, "weight",
                     &(hw_parameter){
                         .rank = 2,
                         .rows = m->config.num_embeddings,
                         .columns = m->config.embedding_dim,
                         .array = m->weight,
                         .drawn = HW_DRAWN_NORMAL,
                     });
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  (void)options;
  const embedding *m = (const embedding *)module;
  for (size_t i = 0; i < input->batch * input->tokens; i++) {
    if (input->ids[i] >= m->config.num_embeddings) {
      return HW_ERROR_VALUE;
    }
  }
  return HW_OK;
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const embedding *m = (const embedding *)module;
  const size_t dim = m->config.embedding_dim;
  for (size_t i = 0; !hw_run_measures(run) && i < input->batch * input->tokens; i++) {
    memcpy(y + i * dim, m->weight + input->ids[i] * dim, dim * sizeof(float));
  }
}

const float *hw_embedding_table(const hw_module *module) { return ((const embedding *)module)->weight; }

const hw_module_type hw_embedding_type = {
    HW_MODULE_STRUCT(embedding), .create = create,  .release = release, .visit = visit, .check = check,
    .forward = forward,          .takes_ids = true,
};

hw_status hw_embedding_create(hw_context *context, const hw_embedding_config *config, hw_module **module) {
  return hw_module_create(context, &hw_embedding_type, config, module);
}
