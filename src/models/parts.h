/* What decoders and encoders have in common: tables, layers and a norm. */
#ifndef HW_MODELS_PARTS_H
#define HW_MODELS_PARTS_H

#include "modules/module.h"

typedef struct hw_model_parts {
  hw_matrix embedding; /* [vocab_size, d_model] */
  hw_matrix positions; /* [positions, d_model], if they are learned */
  hw_matrix head;      /* [vocab_size, d_model], unless it is the embedding */
  hw_gradient embedding_gradient;
  hw_gradient positions_gradient;
  hw_gradient head_gradient;
  hw_modules blocks;
  hw_module *norm; /* after a decoder's layers, or after an encoder's embeddings */
} hw_model_parts;

/* A head of its own is made if `has_head`. The config has been checked. After an error the parts that were made are there. */
hw_status hw_model_parts_create(const hw_model_config *model, bool has_head, bool is_causal, hw_model_parts *parts);
void hw_model_parts_release(hw_model_parts *parts);

/* Dropout of what the blocks are given, x [count]; the blocks' own follows. A run for attribution, or with options by which heads
 * are looked at or changed, or with a cache, drops nothing. */
void hw_model_drop(hw_run *run, const hw_module *model, double dropout, float *x, size_t count);

void hw_model_visit_embedding(hw_visit *visit, const hw_model_config *model, hw_model_parts *parts);

/* Nothing if they are not learned. */
void hw_model_visit_positions(hw_visit *visit, const hw_model_config *model, hw_model_parts *parts);

/* Nothing if the embedding is the head. */
void hw_model_visit_head(hw_visit *visit, const char *name, hw_model_parts *parts);

/* What makes logits of normed rows, and its gradient, which is there. */
const hw_matrix *hw_model_head(const hw_model_parts *parts);
hw_matrix hw_model_head_gradient(const hw_model_parts *parts);

#endif
