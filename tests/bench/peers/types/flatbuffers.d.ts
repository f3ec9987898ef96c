// The little that the benchmark uses of flatbuffers, which the project does not install.
export class Builder {
  constructor(initialSize: number);
  startVector(elementSize: number, count: number, alignment: number): void;
  endVector(): number;
  createByteVector(bytes: Uint8Array): number;
  addInt32(value: number): void;
  addOffset(offset: number): void;
  startObject(fields: number): void;
  endObject(): number;
  addFieldInt8(slot: number, value: number, defaultValue: number): void;
  addFieldInt32(slot: number, value: number, defaultValue: number): void;
  addFieldFloat32(slot: number, value: number, defaultValue: number): void;
  addFieldOffset(slot: number, offset: number, defaultValue: number): void;
  finish(root: number, identifier: string): void;
  asUint8Array(): Uint8Array;
}
