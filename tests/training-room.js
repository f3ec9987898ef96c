// The Train room in Node, with Workers that answer when the test tells them to.
import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { DEFAULTS, Store } from '../web/page/state.js';
import { Training } from '../web/page/train/training.js';
import { FakeWorker } from './fakes.js';

/** @import { TrainState } from '../web/page/train/settings.js' */
/** @import { Snapshot } from '../web/page/train/trainer.js' */

Object.assign(globalThis, {
  Worker: FakeWorker,
  matchMedia: () => new EventTarget(),
  requestAnimationFrame: setTimeout,
});

beforeEach(() => FakeWorker.reset());

export const rest = () => new Promise((resolve) => setTimeout(resolve, 10));

/** What a Worker says of its model at a step. @param {number} step @param {Partial<Snapshot>} [more] @returns {Snapshot} */
export const snapshot = (step, more) => ({
  ...{ step, accuracy: 0, maps: new Uint8Array(4), says: new Uint8Array(4), written: '' },
  scores: Float32Array.of(0, 0, 0),
  ...{ muted: [], wasMuted: false },
  ...more,
});

/** Lets a Worker start. @param {FakeWorker} [worker] default: the newest one @param {number} [step] */
export async function start(worker = FakeWorker.last, step = 0) {
  worker.answer('start', { first: snapshot(step), muted: [] });
  await rest();
}

/** @param {Partial<TrainState>} [train] */
export const newRoom = (train) =>
  new Training(new Store({ ...DEFAULTS, room: 'train', train: { ...DEFAULTS.train, ...train } }));

/** A room whose runs are paused before their first step. @param {Partial<TrainState>} [train] */
export async function pausedRoom(train) {
  const room = newRoom(train);
  room.play();
  await Promise.all(FakeWorker.all.map((worker) => start(worker)));
  assert.deepEqual([room.isPlaying.value, room.runs.value.length], [false, FakeWorker.all.length]);
  return room;
}

/** Lets a Worker do the steps that it was asked for. @param {number} step the last one @param {FakeWorker} [worker] default: the newest one */
export async function doStep(step, worker = FakeWorker.last) {
  await rest();
  worker.answer('advance', [{ losses: [1], snapshot: snapshot(step) }]);
  await rest();
}

export const words = (/** @type {Training} */ room) => room.message.value.words;
