/** Whether the window is as narrow as a phone's: the styles' own bound. */

import { signal } from './signals.js';

const query = matchMedia('(max-width: 44rem)');

export const isNarrow = signal(query.matches);

query.addEventListener('change', ({ matches }) => (isNarrow.value = matches));
