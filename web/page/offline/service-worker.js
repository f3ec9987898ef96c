/**
 * The page's service worker: keeps one build of the page, so that it works without a network after the first visit. A
 * classic script; the build puts `self.headwiseBuild` before it (vite.config.js).
 *
 * Nothing stale is served. Every file but index.html has the hash of its content in its name; index.html comes from the
 * network whenever that answers, and names the files of its own build. A new build waits until no page of the old one is
 * open, and then removes what the old one kept.
 */

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
/** @type {{ version: string, files: string[] }} files: relative to the page */
const { version, files } = /** @type {any} */ (self).headwiseBuild;
const { scope } = worker.registration;

/** Other pages of this host have caches too. */
const PREFIX = `headwise ${scope} `;
const NAME = PREFIX + version;
const INDEX = new URL('index.html', scope).href;
const KEPT = new Set(files.map((file) => new URL(file, scope).href));

/** A network that is slower than this is as good as none. */
const PATIENCE_MS = 4000;

/** @param {string} name */
const isOurs = (name) => name.startsWith(PREFIX);

/** Whether it is the file, and no page that a host or a proxy answers in its place. @param {string} url @param {Response} response */
const isFile = (url, { ok, headers }) =>
  ok && (url.endsWith('.html') || !/^text\/html\b/.test(headers.get('content-type') ?? ''));

/**
 * What an earlier build has left, or else what the network has: a name with a hash always means the same bytes.
 *
 * @param {string} url
 */
async function get(url) {
  if (url === INDEX) return fetch(url, { cache: 'reload' });
  const known = await caches.match(url);
  if (!known) return fetch(url);
  return isFile(url, known) ? known : fetch(url, { cache: 'reload' });
}

async function fill() {
  const cache = await caches.open(NAME);
  for (const url of KEPT) {
    const response = await get(url);
    if (!isFile(url, response)) throw new Error(`${url}: ${response.status}`);
    // A copy is not one of a redirect, which a browser refuses for a page: some hosts lead from index.html to /.
    await cache.put(url, new Response(response.body, response));
  }
}

async function tidy() {
  const names = await caches.keys();
  await Promise.all(
    names.filter((name) => isOurs(name) && name !== NAME).map((name) => caches.delete(name)),
  );
  // The page that is open works without a network from now on, not only after it is loaded again.
  await worker.clients.claim();
}

/** @param {string} url */
const kept = async (url) => (await caches.open(NAME)).match(url);

/**
 * The page itself: from the network, or as it was kept where the network or the server fails.
 *
 * @param {Request} request
 * @returns {Promise<Response>}
 */
async function page(request) {
  const fetched = fetch(request);
  const late = new Promise((_, reject) => setTimeout(reject, PATIENCE_MS));
  try {
    const response = await Promise.race([fetched, late]);
    if (response.status < 500) return response;
  } catch {
    // Without a network it is the same.
  }
  return (await kept(INDEX)) ?? fetched;
}

worker.addEventListener('install', (event) => event.waitUntil(fill()));
worker.addEventListener('activate', (event) => event.waitUntil(tidy()));
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = request.url.replace(/[?#].*$/, '');
  if (request.method !== 'GET') return;
  if (url === scope || url === INDEX) event.respondWith(page(request));
  else if (KEPT.has(url)) event.respondWith(kept(url).then((known) => known ?? fetch(request)));
});
