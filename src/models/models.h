/* The types of all models. */
#ifndef HW_MODELS_MODELS_H
#define HW_MODELS_MODELS_H

#include "modules/module.h"

extern const hw_module_type hw_decoder_type;
extern const hw_module_type hw_encoder_type;

#endif
