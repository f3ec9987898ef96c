/** The element's own style. It takes font and colours from where it stands; README.md lists what may be set. @type {string} */
export const style = `
:host {
  --label-ch: 4;
  --accent: var(--attention-accent, light-dark(#2456b8, #8db4ff));
  --soft: var(--attention-soft, light-dark(#555d6b, #a4acb9));
  display: grid;
  grid-template-columns: 1.3rem calc(var(--label-ch) * 0.56em + 0.4em) minmax(0, 1fr);
  font-size: 0.8rem;
  max-width: 36rem;
}
:host([hidden]), [hidden] { display: none; }
* { box-sizing: border-box; }
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
  grid-row: 3;
  writing-mode: vertical-rl;
  transform: rotate(180deg);
}
.labels { position: relative; line-height: 1; }
.labels span {
  position: absolute;
  white-space: nowrap;
  overflow: hidden;
  text-overflow: ellipsis;
}
.labels.numbers { color: var(--soft); }
.columns { grid-column: 3; height: calc(var(--label-ch) * 0.56em + 0.4em); }
.columns span {
  left: calc(var(--at) * 100%);
  bottom: 0.3em;
  max-height: 100%;
  writing-mode: vertical-rl;
  transform: translateX(-50%) rotate(180deg);
  line-height: 1.2;
}
.columns.level { height: 1.5em; }
.columns.level span { writing-mode: horizontal-tb; transform: translateX(-50%); }
.rows { grid-column: 2; grid-row: 3; }
.rows span {
  top: calc(var(--at) * 100%);
  right: 0.4em;
  max-width: 100%;
  transform: translateY(-50%);
  line-height: 1.2;
}
.map-field {
  grid-column: 3;
  grid-row: 3;
  position: relative;
  aspect-ratio: var(--aspect, 1);
  cursor: crosshair;
  touch-action: manipulation;
}
.map-field:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
canvas { display: block; width: 100%; height: 100%; }
.cell-cursor, .row-pin {
  position: absolute;
  pointer-events: none;
  min-width: 4px;
  min-height: 4px;
}
.cell-cursor { box-shadow: inset 0 0 0 2px #fff, 0 0 0 1.5px #000; }
.row-pin {
  left: 0;
  right: 0;
  box-shadow: 0 0 0 1.5px Canvas, 0 0 0 3.5px var(--accent);
}
.map-tip {
  grid-column: 1 / -1;
  min-height: 1.6em;
  margin-top: 0.4em;
  padding-left: 1.3rem;
  font-size: 0.8rem;
  font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere;
}
`;
