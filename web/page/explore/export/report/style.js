/** How a report looks: light and dark as its reader's system, and on paper. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #14171c);
  --raised: light-dark(#f7f8fa, #1b1f26);
  --ink: light-dark(#1a1e26, #e8eaee);
  --soft: light-dark(#555d6b, #a4acb9);
  --line: light-dark(#dfe3e9, #323945);
  --accent: light-dark(#2456b8, #8db4ff);
  --mask: light-dark(#eceef1, #262b33);
  --for: light-dark(#b35806, #fdb863);
  --against: light-dark(#542788, #b2abd2);
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif;
  background: var(--ground);
  color: var(--ink);
}
main { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .75rem; }
h2 { font-size: 1.125rem; margin: 0 0 .4rem; }
h3 { font-size: 1rem; margin: .8rem 0 .2rem; }
section { margin-top: 2rem; }
p { margin: 0 0 .6rem; max-width: 48rem; }
a, summary { color: var(--accent); }
summary { cursor: pointer; margin-top: .5rem; }
.note, dt, thead th, tbody th { color: var(--soft); font-weight: 400; }
.address { overflow-wrap: anywhere; font-size: .8rem; }
.text { line-height: 1.9; }
.token { white-space: pre-wrap; color: var(--ink); }
.text .token { padding: .1rem .15rem; border-radius: .2rem; margin-right: .15rem; background: var(--raised); }
.text .asked { outline: 1px solid var(--accent); font-weight: 600; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: .2rem 2rem; margin: 0; }
dl div { display: flex; gap: .6rem; }
dt { flex: none; width: 7rem; }
dd { margin: 0; }
.room { overflow-x: auto; max-width: 100%; padding: 2px; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem .15rem 0; text-align: right; white-space: nowrap; }
tbody th, thead th:first-child, .word { text-align: left; }
.cell { position: relative; width: 20rem; min-width: 4.5rem; }
.cell + td { padding-left: .6rem; }
.sum .cell { background: linear-gradient(var(--soft), var(--soft)) var(--zero) 0 / 1px 100% no-repeat; }
.bar { position: absolute; top: .3rem; bottom: .3rem; min-width: 1px; background: var(--for); }
.bar.against { background: var(--against); }
.bar.whole { background: var(--accent); }
tfoot th { text-align: left; }
tfoot { border-top: 1px solid var(--line); font-weight: 600; }
.grid { border-collapse: separate; border-spacing: 2px; font-size: .8rem; }
.grid td { padding: .2rem .4rem; border-radius: .2rem; background: color-mix(in srgb, var(--for) calc(.44 * var(--share)), var(--raised)); }
.grid td.against { background: color-mix(in srgb, var(--against) calc(.44 * var(--share)), var(--raised)); }
.grid .chosen { outline: 2px solid var(--accent); }
.map svg { max-width: 100%; height: auto; }
@media (forced-colors: active) {
  .cell, .bar, .grid td { forced-color-adjust: none; }
}
@media print {
  :root { color-scheme: light; font-size: 11pt; }
  main { max-width: none; margin: 0; }
  section, tr { break-inside: avoid; }
  .room { overflow: visible; }
  .grid { font-size: 7pt; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
