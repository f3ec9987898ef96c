/* The blocks of a stack, for models that call them by other names. */
#ifndef HW_MODULES_TRANSFORMER_STACK_H
#define HW_MODULES_TRANSFORMER_STACK_H

#include "modules/module.h"

hw_module *hw_transformer_stack_block(const hw_module *module, size_t index);

#endif
