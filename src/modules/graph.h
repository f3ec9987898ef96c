/* A forward that was recorded. */
#ifndef HW_MODULES_GRAPH_H
#define HW_MODULES_GRAPH_H

#include "modules/module.h"

/* Sums over modules, which only grow. */
typedef struct hw_module_changes {
  uint64_t own;   /* of parameters and checkpointing */
  uint64_t modes; /* of training mode, which a block that runs again draws by */
  bool runs_again;
} hw_module_changes;

struct hw_graph {
  hw_arena kept;              /* what the tape holds, full */
  const hw_module *module;    /* which may be gone */
  hw_module_changes changes;  /* of the module and all inside, as they were */
  hw_input shape;             /* without data */
  hw_forward_options options; /* masks, token types and positions alone, copied into `kept` */
  bool is_loss;
  hw_loss_input loss; /* of a loss, without data */
  size_t serial;      /* of the module */
};

/* In a forward, first: copies what the caller may change after it onto the tape, and points the graph at it: an array of so many
 * bytes, or the arrays of the graph's options. */
void hw_graph_keep(const hw_run *run, const void *data, size_t bytes, const void **kept);
void hw_graph_keep_options(const hw_run *run, hw_graph *graph);

/* Before the forward: those of the caller's options that the module reads and the backward needs. */
void hw_graph_set_options(hw_graph *graph, const hw_forward_options *options);

/* Empty; after an error of hw_gradients_check, or HW_ERROR_MEMORY, *graph is NULL. */
hw_status hw_graph_create(hw_module *module, hw_graph **graph);

#endif
