/*
 * What all modules share. A module is one file: a struct that begins with hw_module and its config, and the type that says
 * how it is made, which parameters it has and how its forward runs.
 */
#ifndef HW_MODULES_MODULE_H
#define HW_MODULES_MODULE_H

#include "modules/parameter.h"
#include "ops/key_value_cache.h"
#include "ops/linear.h"

typedef struct hw_visit hw_visit;

typedef struct hw_module_type {
  size_t bytes;        /* of the struct */
  size_t config_bytes; /* of its config */
  size_t config_offset;
  /* Checks the config and makes the parts. After an error the parts that were made are released. */
  hw_status (*create)(hw_module *module);
  void (*release)(hw_module *module);
  /* Shows every parameter and child, in the order of torch's state dict. */
  void (*visit)(hw_module *module, hw_visit *visit);
  /* Whether the input fits, apart from what hw_module_forward checks of every module; NULL: it does. */
  hw_status (*check)(const hw_module *module, const hw_input *input, const hw_forward_options *options);
  /* Runs on an input that fits; while the run is measured the pointers may be NULL. */
  void (*forward)(hw_run *run, const hw_module *module, const hw_input *input, float *y);
  /* The shape of the module's caches but for the batch; NULL: it has none. */
  hw_cache_shape (*cache_shape)(const hw_module *module);
  bool takes_ids;
  bool has_logits; /* the output is of the tokens that the input says; there may be none */
  bool has_head_mask;
} hw_module_type;

struct hw_module {
  const hw_module_type *type;
  bool training;
  size_t layers; /* of attention, which have weights and traces; 0: none */
};

/* The first three fields of a type whose struct has its config under that name. */
#define HW_MODULE_STRUCT(type) \
  .bytes = sizeof(type), .config_bytes = sizeof(((type *)NULL)->config), .config_offset = offsetof(type, config)

/* config: the type's, which is copied. context NULL: nothing is drawn. */
hw_status hw_module_create(hw_context *context, const hw_module_type *type, const void *config, hw_module **module);

static inline void hw_module_run(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  module->type->forward(run, module, input, y);
}

/* Whether later keys are hidden, in a module that is causal by itself or not. */
bool hw_forward_is_causal(const hw_forward_options *options, bool module_is_causal);

/* ---- Visits ---- */

/* Another name for a part of a module, as other libraries call it. */
typedef struct hw_alias {
  const char *name;  /* attn.qkv_proj */
  const char *alias; /* attn.c_attn */
  bool is_transposed;
} hw_alias;

struct hw_visit {
  void (*parameter)(hw_visit *visit, const hw_parameter *parameter);
  void (*module)(hw_visit *visit, hw_module *module);
  char name[HW_NAME_BYTES]; /* of what is shown */
  size_t length;
  const hw_alias *alias; /* NULL, or which part alone is shown: its name begins behind the first alias_start bytes */
  size_t alias_start;
  bool done; /* set by a callback: nothing more is shown */
};

/* A walk over a module and all below it. */
void hw_visit_module(hw_visit *visit, hw_module *module);

/* What a module's visit calls. `index` is appended to the child's name unless it is SIZE_MAX. */
void hw_visit_child(hw_visit *visit, const char *name, size_t index, hw_module *child);

/* The same, part by part in the order of the aliases, which end with a NULL name. */
void hw_visit_child_by_aliases(hw_visit *visit, const char *name, size_t index, hw_module *child,
                               const hw_alias *aliases);
void hw_visit_parameter(hw_visit *visit, const char *name, const hw_parameter *parameter);

/* Weight and bias of rows [first_row, first_row + rows), drawn as torch.nn.Linear(in_features, rows) draws them. */
void hw_visit_linear(hw_visit *visit, const char *name, hw_linear *linear, size_t first_row, size_t rows);

#endif
