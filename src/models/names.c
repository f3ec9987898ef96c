#include "models/names.h"

/* Alias lists end with a NULL name. Parts that a block does not have are passed over. */
static const hw_alias gpt2[] = {
    {"ln1", "ln_1", false}, {"attn.qkv_proj", "attn.c_attn", true}, {"attn.out_proj", "attn.c_proj", true},
    {"ln2", "ln_2", false}, {"ffn.fc1", "mlp.c_fc", true},          {"ffn.fc2", "mlp.c_proj", true},
    {NULL, NULL, false},
};

static const hw_alias gpt_neox[] = {
    {"ln1", "input_layernorm", false},
    {"ln2", "post_attention_layernorm", false},
    {"attn.qkv_proj", "attention.query_key_value", false},
    {"attn.out_proj", "attention.dense", false},
    {"ffn.fc1", "mlp.dense_h_to_4h", false},
    {"ffn.fc2", "mlp.dense_4h_to_h", false},
    {NULL, NULL, false},
};

#define LLAMA_PARTS                                                                                                   \
  {"attn.W_query", "self_attn.q_proj", false}, {"attn.W_key", "self_attn.k_proj", false},                             \
      {"attn.W_value", "self_attn.v_proj", false}, {"attn.out_proj", "self_attn.o_proj", false},                      \
      {"attn.q_norm", "self_attn.q_norm", false}, {"attn.k_norm", "self_attn.k_norm", false},                         \
      {"ffn.gate", "mlp.gate_proj", false}, {"ffn.fc1", "mlp.up_proj", false}, {"ffn.fc2", "mlp.down_proj", false}, { \
    "ln1", "input_layernorm", false                                                                                   \
  }

static const hw_alias llama[] = {
    LLAMA_PARTS,
    {"ln2", "post_attention_layernorm", false},
    {NULL, NULL, false},
};

static const hw_alias gemma3[] = {
    LLAMA_PARTS,
    {"after1", "post_attention_layernorm", false},
    {"ln2", "pre_feedforward_layernorm", false},
    {"after2", "post_feedforward_layernorm", false},
    {NULL, NULL, false},
};

#define LLAMA_NAMES \
  6, "model.embed_tokens.weight", "model.positions.weight", "model.layers", "model.norm", "lm_head.weight"

static const hw_alias bert[] = {
    {"attn.W_query", "attention.self.query", false},
    {"attn.W_key", "attention.self.key", false},
    {"attn.W_value", "attention.self.value", false},
    {"attn.out_proj", "attention.output.dense", false},
    {"ln1", "attention.output.LayerNorm", false},
    {"ffn.fc1", "intermediate.dense", false},
    {"ffn.fc2", "output.dense", false},
    {"ln2", "output.LayerNorm", false},
    {NULL, NULL, false},
};

static const hw_alias distilbert[] = {
    {"attn.W_query", "attention.q_lin", false},
    {"attn.W_key", "attention.k_lin", false},
    {"attn.W_value", "attention.v_lin", false},
    {"attn.out_proj", "attention.out_lin", false},
    {"ln1", "sa_layer_norm", false},
    {"ffn.fc1", "ffn.lin1", false},
    {"ffn.fc2", "ffn.lin2", false},
    {"ln2", "output_layer_norm", false},
    {NULL, NULL, false},
};

static const hw_model_names names[] = {
    [HW_NAMES_GPT2] = {12, "transformer.wte.weight", "transformer.wpe.weight", "transformer.h", "transformer.ln_f",
                       "lm_head.weight", gpt2},
    [HW_NAMES_GPT_NEOX] = {9, "gpt_neox.embed_in.weight", "gpt_neox.positions.weight", "gpt_neox.layers",
                           "gpt_neox.final_layer_norm", "embed_out.weight", gpt_neox},
    [HW_NAMES_LLAMA] = {LLAMA_NAMES, llama},
    [HW_NAMES_GEMMA3] = {LLAMA_NAMES, gemma3},
    /* The norm is that of the embeddings; encoder.c has the other names. */
    [HW_NAMES_BERT] = {5, "bert.embeddings.word_embeddings.weight", "bert.embeddings.position_embeddings.weight",
                       "bert.encoder.layer", "bert.embeddings.LayerNorm", NULL, bert},
    [HW_NAMES_ROBERTA] = {8, "roberta.embeddings.word_embeddings.weight",
                          "roberta.embeddings.position_embeddings.weight", "roberta.encoder.layer",
                          "roberta.embeddings.LayerNorm", NULL, bert},
    [HW_NAMES_DISTILBERT] = {11, "distilbert.embeddings.word_embeddings.weight",
                             "distilbert.embeddings.position_embeddings.weight", "distilbert.transformer.layer",
                             "distilbert.embeddings.LayerNorm", NULL, distilbert},
};

const hw_model_names *hw_model_names_of(const hw_model_config *model) { return names + model->names; }
