/* How an encoder predicts masked tokens, for its loss. */
#ifndef HW_MODELS_ENCODER_H
#define HW_MODELS_ENCODER_H

#include "models/predictor.h"

/* False: the module is not an encoder, or has no head. */
bool hw_encoder_predictor(const hw_module *module, hw_predictor *predictor);

#endif
