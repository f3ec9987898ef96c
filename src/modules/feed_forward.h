/* Feed-forward networks of models: hw_feed_forward with more settings. */
#ifndef HW_MODULES_FEED_FORWARD_H
#define HW_MODULES_FEED_FORWARD_H

#include "modules/module.h"

/* hw_feed_forward's config and what those of models have besides. hw_feed_forward sets the rest from its own. */
typedef struct hw_model_feed_forward_config {
  hw_feed_forward_config base;
  hw_activation activation; /* stands for base.approximate */
  bool bias;
  bool is_gated; /* fc2(activation(gate(x)) · fc1(x)) (Shazeer 2020) */
  hw_matrix_type dtype;
} hw_model_feed_forward_config;

extern const hw_module_type hw_model_feed_forward_type;

#endif
