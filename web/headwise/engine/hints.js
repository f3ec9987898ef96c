/**
 * What a bundler needs. Vite 5 to 7 and Angular put what they made of the package into a folder `deps`, without the files that
 * it names; Next.js gives its server the address that is the browser's.
 * @param {string | undefined} address of a file of the package that did not arrive
 * @returns {string} ends a sentence
 */
export const bundlerHint = (address) =>
  address?.startsWith('/_next/')
    ? "; Next.js needs serverExternalPackages: ['headwise']"
    : address?.includes('/deps/')
      ? "; Vite up to 7 needs optimizeDeps: { exclude: ['headwise'] }, Angular prebundle: { exclude: ['headwise'] }"
      : '';

/** Why nothing beside the package can be found, where a bundle is no ES module. */
export const noAddress = 'this bundle has no import.meta.url, which says where its other files are';

/**
 * Why a Worker does not run.
 * @param {{ message?: string }} failure an Error, or the event that a browser sends
 * @param {string | undefined} address of the file that starts it
 * @param {string} name of its script, beside that file unless a bundler put it elsewhere
 * @returns {string}
 */
export function whyNoWorker({ message }, address, name) {
  if (address === undefined && globalThis.Worker !== undefined) {
    return noAddress;
  }
  const why =
    message ||
    `its script could not be loaded (${name}, expected beside ${address}), or a policy of the page forbids it`;
  const isolated =
    globalThis.crossOriginIsolated && !message
      ? "; a cross-origin isolated page's Workers need Cross-Origin-Embedder-Policy: require-corp"
      : '';
  return why + isolated + bundlerHint(address);
}
