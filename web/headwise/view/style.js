import { GROUND, HATCH } from './paint.js';

/** The element's own style. It takes font and colours from where it stands; README.md lists what may be set. @type {string} */
export const style = `
:host {
  --accent: var(--attention-accent, light-dark(#2456b8, #8db4ff));
  --soft: var(--attention-soft, light-dark(#555d6b, #a4acb9));
  display: block;
  font-size: 0.8rem;
  max-width: 36rem;
}
:host([hidden]), [hidden] { display: none; }
* { box-sizing: border-box; }
/* As wide as the element, however the page lays that out. */
.frame {
  display: grid;
  grid-template-columns: auto auto minmax(0, 1fr);
  flex: 1;
  width: 100%;
  direction: ltr;
  writing-mode: horizontal-tb;
  /* Tokens that differ look different. */
  font-variant-caps: normal;
  letter-spacing: normal;
  text-indent: 0;
  text-transform: none;
  word-spacing: normal;
}
/* Its height tells of the font's size, and the ends of its transitions of colours that have changed. */
.ruler {
  grid-column: 1 / -1;
  height: 1em;
  margin-bottom: -1em;
  visibility: hidden;
  forced-color-adjust: none;
  color: ${GROUND[0]};
  caret-color: ${HATCH[0]};
  background-color: light-dark(#000, #fff);
  transition: color 1ms, caret-color 1ms, background-color 1ms;
}
.axis {
  color: var(--soft);
  font-size: 0.75rem;
  line-height: 1.3rem;
  text-align: center;
  white-space: nowrap;
}
.key-axis { grid-column: 3; }
:host([compact]) .key-axis { grid-column: 1 / -1; text-align: right; }
.query-axis {
  grid-column: 1;
  grid-row: 4;
  width: 1.3rem;
  contain: size;
  overflow: hidden;
  writing-mode: vertical-rl;
  text-orientation: sideways;
  transform: rotate(180deg);
}
:host([zoomable]) .key-axis {
  grid-column: 1 / 3;
  grid-row: 3;
  padding-right: 0.4em;
  text-align: right;
  line-height: 1.3;
  white-space: pre-line;
}
:host([zoomable]) .query-axis { display: none; }
.labels {
  --room: calc(var(--label-ch, 4) * 0.56em + 0.4em);
  position: relative;
  line-height: 1;
}
.labels span {
  position: absolute;
  white-space: nowrap;
  overflow: hidden;
  text-overflow: ellipsis;
}
.labels.numbers span:not(.strong) { color: var(--soft); }
.labels .strong { font-weight: 600; }
.columns { grid-column: 3; grid-row: 3; align-self: end; height: var(--room); }
.columns span {
  left: var(--at);
  bottom: 0.3em;
  max-height: 100%;
  writing-mode: vertical-rl;
  text-orientation: sideways;
  transform: translateX(-50%) rotate(180deg);
  line-height: 1.2;
}
.columns.level { height: 1.5em; }
.columns.flat span { writing-mode: horizontal-tb; transform: translateX(-50%); }
.rows { grid-column: 2; grid-row: 4; width: var(--room); }
.rows span {
  top: var(--at);
  right: 0.4em;
  max-width: calc(100% - 0.4em);
  transform: translateY(-50%);
  line-height: 1.2;
}
.map-field {
  grid-column: 3;
  grid-row: 4;
  position: relative;
  aspect-ratio: var(--aspect, 1);
  cursor: crosshair;
  touch-action: manipulation;
}
:host([zoomable]) .map-field { touch-action: pan-y; }
:host([zoomable]) .map-field.closer { touch-action: none; }
.map-field:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
canvas { display: block; width: 100%; height: 100%; contain: size; contain-intrinsic-size: 30rem; }
.marks {
  position: absolute;
  inset: 0;
  clip-path: inset(-8px);
  pointer-events: none;
  forced-color-adjust: none;
}
.marks div { position: absolute; inset: 0; min-width: 1px; min-height: 1px; }
.cell-cursor {
  outline: 1px solid #fff;
  box-shadow: 0 0 0 2px rgb(0 0 0 / 55%), inset 0 0 0 1px rgb(0 0 0 / 55%);
}
.cell-cursor.thin { outline: none; box-shadow: 0 0 0 1px rgb(255 255 255 / 45%); }
.row-pin { box-shadow: 0 0 0 1.5px Canvas, 0 0 0 3.5px var(--accent); }
.row-pin.thin { box-shadow: none; }
.row-pin.thin::before, .row-pin.thin::after {
  content: '';
  position: absolute;
  background: var(--accent);
}
.row-pin.thin.row::before { inset: -2px auto -2px -8px; width: 7px; }
.row-pin.thin.row::after { inset: -2px -8px -2px auto; width: 7px; }
.row-pin.thin.column::before { inset: -8px -2px auto; height: 7px; }
.row-pin.thin.column::after { inset: auto -2px -8px; height: 7px; }
.map-tip {
  position: absolute;
  z-index: 1;
  left: var(--x);
  top: var(--y);
  width: max-content;
  max-width: max(100%, 8rem);
  margin: 0.9em 0;
  translate: calc(-1 * var(--x));
  padding: 0.15em 0.5em;
  border: 1px solid var(--soft);
  border-radius: 0.35em;
  background: var(--attention-ground, light-dark(#ffffff, #14171c));
  font-size: 0.8rem;
  font-variant-numeric: tabular-nums;
  line-height: 1.3;
  text-align: start;
  white-space: normal;
  overflow-wrap: anywhere;
  pointer-events: none;
}
.map-tip.above { top: auto; bottom: calc(100% - var(--y)); }
.map-tip.away { visibility: hidden; }
`;
