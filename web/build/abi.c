/*
 * The compiler's word on the structs and enumerators that JavaScript shares with the engine: npm run build writes their
 * names into abi_rows.inc, runs this module and writes what it says into web/headwise/engine/abi.js. No part of the engine.
 */
#include <stddef.h>

#include "exports/exports.h"

/* How JavaScript writes a field. */
#define KIND(lvalue) \
  _Generic((lvalue), bool : 'b', float : 'f', double : 'd', int32_t : 'i', uint8_t : '?', uint64_t : '?', default : 'u')

#define FIELD(type, field) {#type, #field, offsetof(type, field), sizeof(type), KIND(((type *)NULL)->field)},
#define VALUE(type, name)  {#type, #name, name, 0, 'e'},

typedef struct abi_row {
  const char *type;
  const char *name;
  uint32_t offset; /* or an enumerator's value */
  uint32_t bytes;  /* of the struct */
  int32_t kind;
} abi_row;

static const abi_row rows[] = {
#include "abi_rows.inc"
};

__attribute__((export_name("abi_rows"))) const abi_row *abi_rows(void);
const abi_row *abi_rows(void) { return rows; }

__attribute__((export_name("abi_row_count"))) uint32_t abi_row_count(void);
uint32_t abi_row_count(void) { return sizeof rows / sizeof *rows; }
