import { HeadwiseError } from './error.js';

/** Ends an answer that is not read: it would keep its connection. @param {Pick<Response, 'body'>} response */
export const discard = ({ body }) => body?.cancel().catch(() => undefined);

/** What a server said, in words. @param {Response} response */
export const answerOf = ({ status, statusText }) =>
  `the server answered ${`${status} ${statusText}`.trim()}`;

/** That, and what kind of file it sent. @param {Response} response */
export const answerWithType = (response) =>
  `${answerOf(response)} with ${response.headers.get('content-type') ?? 'no content type'}`;

/** @param {Pick<Response, 'body' | 'bodyUsed'>} response @param {string} name @throws {HeadwiseError} ERR_VALUE */
export function checkUnread({ bodyUsed, body }, name) {
  if (bodyUsed || body?.locked) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `${name}: the Response was read before; expected a new one`,
    );
  }
}
