/* The names of parameters in Hugging Face's state dicts. */
#ifndef HW_MODELS_NAMES_H
#define HW_MODELS_NAMES_H

#include "modules/module.h"

/* Of one architecture. Each but the head's begins with the prefix. */
typedef struct hw_model_names {
  size_t prefix; /* bytes of transformer. or the like */
  const char *embedding;
  const char *positions;
  const char *blocks;
  const char *norm; /* the last */
  const char *head;
  const hw_alias *parts; /* of blocks */
} hw_model_names;

const hw_model_names *hw_model_names_of(const hw_model_config *model);

/* One of them as the model has it: without the prefix if it is bare. */
static inline const char *hw_model_name(const hw_model_config *model, const char *name) {
  return name + (model->is_bare ? hw_model_names_of(model)->prefix : 0);
}

#endif
