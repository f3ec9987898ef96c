/**
 * The dialog in which what is seen is saved: made as soon as it is chosen, so that its size is known before.
 *
 * @import { Format } from './choices.js'
 * @import { Seen } from './settings.js'
 */

import { byId, el } from '../../dom.js';
import { formatBytes } from '../../format.js';
import { newest } from '../newest.js';
import { FORMATS, makeExport, WHATS } from './choices.js';
import { palette } from '../palette.js';

/**
 * @param {HTMLElement} room
 * @param {() => Seen | undefined} seen what is there to be exported
 */
export function connectExport(room, seen) {
  const what = el(
    'select',
    { id: 'export-what' },
    ...WHATS.map(([value, words]) => el('option', { value }, words)),
  );
  const format = el('select', { id: 'export-format' });
  const preview = el('img', { class: 'export-preview', alt: 'Preview', hidden: true });
  const status = el('p', { class: 'message', role: 'status' });
  const save = el('a', { class: 'button', id: 'export-save' }, 'Save');
  const close = el('button', { type: 'button', class: 'quiet' }, 'Close');
  const dialog = el(
    'dialog',
    { class: 'explore-files', 'aria-labelledby': 'export-title' },
    el('h2', { id: 'export-title' }, 'Export'),
    el(
      'div',
      { class: 'row' },
      el('div', { class: 'field' }, el('label', { for: what.id }, 'What'), what),
      el('div', { class: 'field' }, el('label', { for: format.id }, 'As'), format),
    ),
    preview,
    status,
    el(
      'p',
      { class: 'note' },
      'Pictures of long texts are pooled, and say so; numbers are exact. All is made in this tab.',
    ),
    el('div', { class: 'row' }, save, close),
  );
  room.append(dialog);

  let address = '';
  const forget = () => {
    URL.revokeObjectURL(address);
    address = '';
    save.removeAttribute('href');
    preview.hidden = true;
    preview.removeAttribute('src');
  };
  const make = newest(
    async () => {
      forget();
      const there = seen();
      if (!dialog.open || !there) return;
      status.textContent = 'Being made …';
      status.classList.remove('error');
      const wanted = /** @type {Format} */ (format.value);
      const { blob, name, isPicture } = await makeExport(what.value, wanted, there, palette());
      if (!dialog.open) return;
      address = URL.createObjectURL(blob);
      save.href = address;
      save.download = name;
      status.textContent = `${name}: ${formatBytes(blob.size)}`;
      if (isPicture) {
        preview.src = address;
        preview.hidden = false;
      }
    },
    (error) => {
      status.textContent = /** @type {Error} */ (error).message;
      status.classList.add('error');
    },
  );
  const offer = () => {
    const [, , formats] = WHATS.find(([value]) => value === what.value) ?? WHATS[0];
    format.replaceChildren(...formats.map((value) => el('option', { value }, FORMATS[value])));
  };
  what.addEventListener('change', () => {
    offer();
    make();
  });
  format.addEventListener('change', () => make());
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', forget);
  offer();
  byId('explore-export', HTMLButtonElement).addEventListener('click', () => {
    dialog.showModal();
    make();
  });
}
