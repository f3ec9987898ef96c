/* Modules of attention, and what becomes of their heads' outputs. */
#ifndef HW_MODULES_HEAD_OUTPUTS_H
#define HW_MODULES_HEAD_OUTPUTS_H

#include "modules/multi_head_attention.h"
#include "ops/attention.h"

/* Queries and keys may have norms. */
enum { HW_NORMS = HW_VALUE };

typedef struct hw_attention_module {
  hw_module base;
  hw_model_attention_config config;
  hw_linear qkv_proj; /* rows of W_query, W_key, W_value one after another, unless they are interleaved */
  hw_linear out_proj; /* if there is one */
  hw_module *norms[HW_NORMS];
} hw_attention_module;

static inline size_t hw_head_dim_of(const hw_attention_module *m) {
  return m->config.base.d_out / m->config.base.num_heads;
}

static inline size_t hw_heads_of(const hw_attention_module *m, size_t projection) {
  return projection == HW_QUERY ? m->config.base.num_heads : m->config.key_heads;
}

/* Rows of qkv_proj before those of a projection. */
static inline size_t hw_projection_start(const hw_attention_module *m, size_t projection) {
  const size_t head_dim = hw_head_dim_of(m);
  if (m->config.is_interleaved) {
    return projection * head_dim;
  }
  return projection == HW_QUERY ? 0 : m->config.base.d_out + (projection - HW_KEY) * m->config.key_heads * head_dim;
}

/* Where the heads' outputs go: to the tape, to y, or to what the output projection will read. */
void hw_head_outputs_place(const hw_run *run, const hw_attention_module *m, float *y, hw_attention *attention);

/* What comes after attention: the heads' factors, replaced outputs and the projection. y: as of the module's forward, or all
 * columns of a wrapper, of which heads that have a place write their own. */
void hw_head_outputs_project(const hw_run *run, const hw_attention_module *m, const hw_input *input,
                             hw_attention *attention, float *y);

/* d_output [rows, d_out], the gradient of the heads' outputs, from dy; of a head that has a place, from its columns. */
void hw_head_outputs_unproject(const hw_run *run, hw_attention_module *m, const hw_attention *attention,
                               const float *dy, float *d_output);

#endif
