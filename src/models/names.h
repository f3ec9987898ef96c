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

#endif
