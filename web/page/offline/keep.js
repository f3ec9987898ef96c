/** What happens when nobody waits: the other rooms are fetched, and the page is kept for times without a network. */

import { answered } from '../shared/connect.js';

/** After the page has loaded, so that its first picture comes first. */
const DELAY_MS = 1000;

/** @returns {Promise<void>} when the page has loaded, is idle, and no Worker loads or computes for it */
async function idle() {
  if (document.readyState !== 'complete') {
    await new Promise((resolve) => addEventListener('load', resolve, { once: true }));
  }
  await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
  // Safari has no such call.
  if ('requestIdleCallback' in globalThis) {
    await new Promise((resolve) => requestIdleCallback(resolve, { timeout: DELAY_MS }));
  }
  await answered();
}

/** Visitors who asked their browser to save data get what they open, no more. */
const savesData = () =>
  /** @type {{ connection?: { saveData?: boolean } }} */ (navigator).connection?.saveData === true;

/** @param {readonly (() => Promise<unknown>)[]} rooms each imports one */
export async function keepAll(rooms) {
  if (!import.meta.env.PROD || savesData()) return;
  try {
    for (const fetchRoom of rooms) {
      await idle();
      await fetchRoom();
    }
    await idle();
    // Not there in pages that were opened without HTTPS.
    await navigator.serviceWorker?.register(new URL('service-worker.js', document.baseURI));
  } catch {
    // Nobody asked for it: a room that is opened says itself what fails.
  }
}
