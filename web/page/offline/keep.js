/** What happens when nobody waits: the other rooms are fetched, and the page is kept for times without a network. */

/** After the page has loaded, so that its first picture comes first. */
const DELAY_MS = 2000;

/** @returns {Promise<void>} when the page has loaded and is idle */
async function idle() {
  if (document.readyState !== 'complete') {
    await new Promise((resolve) => addEventListener('load', resolve, { once: true }));
  }
  await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
  // Safari has no such call.
  if ('requestIdleCallback' in globalThis) {
    await new Promise((resolve) => requestIdleCallback(resolve, { timeout: DELAY_MS }));
  }
}

/** Visitors who asked their browser to save data get what they open, no more. */
const savesData = () =>
  /** @type {{ connection?: { saveData?: boolean } }} */ (navigator).connection?.saveData === true;

/** @param {readonly (() => Promise<unknown>)[]} rooms each imports one */
export async function keepAll(rooms) {
  if (!import.meta.env.PROD || savesData()) return;
  await idle();
  try {
    for (const fetchRoom of rooms) await fetchRoom();
    // Not there in pages that were opened without HTTPS.
    await navigator.serviceWorker?.register(new URL('service-worker.js', document.baseURI));
  } catch {
    // Nobody asked for it: a room that is opened says itself what fails.
  }
}
