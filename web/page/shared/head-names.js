/**
 * How heads are named. Layers and heads count from 0.
 *
 * @typedef {{ layer: number, head: number }} HeadName
 */

/** A head by its place in the model. @param {number} i @param {number} heads in a layer @returns {HeadName} */
export const headAt = (i, heads) => ({ layer: Math.floor(i / heads), head: i % heads });

/** `L0H7`: as in the address and in the grid. @param {HeadName} head */
export const shortName = ({ layer, head }) => `L${layer}H${head}`;

/** For titles. @param {HeadName} head */
export const longName = (head) => `Head ${shortName(head)}`;

/** To be read aloud, and to explain the short name. @param {HeadName} head */
export const spokenName = ({ layer, head }) => `Layer ${layer}, head ${head}`;

/** @param {HeadName | null} a @param {HeadName | null} b */
export const isSameHead = (a, b) => a?.layer === b?.layer && a?.head === b?.head;
