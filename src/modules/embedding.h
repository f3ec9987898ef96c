/* Embedding's table, for models that look positions up in it. */
#ifndef HW_MODULES_EMBEDDING_H
#define HW_MODULES_EMBEDDING_H

#include "modules/module.h"

/* [num_embeddings, embedding_dim] */
const float *hw_embedding_table(const hw_module *module);

#endif
