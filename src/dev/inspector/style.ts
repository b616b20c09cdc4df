/** Where the panel stands, and its colours: the build puts tokens of `show.css` in. */
const HOST = `
:host { all: initial !important; display: contents !important; }
section, .frame {
  {{tokens}}
  position: fixed;
  z-index: 2147483647;
  color: var(--ink);
  font: 13px/1.45 system-ui, sans-serif;
  font-variant-numeric: tabular-nums;
}
section {
  display: flex;
  flex-direction: column;
  inset: auto 0 0 auto;
  width: 100%;
  height: min(420px, 60vh);
  overflow: hidden;
  overflow-wrap: anywhere;
  background: var(--card);
  border: 1px solid var(--edge);
  box-shadow: 0 14px 44px #0005;
}
@media (min-width: 701px) { .right { width: 460px; height: 100%; } }
@media (max-width: 700px) { .dock { display: none; } }
.pill { inset: auto 12px 12px auto; width: auto; height: auto; border-radius: 99px; }
.pill button { padding: 4px 14px; border: 0; border-radius: 99px; }
.embedded { position: static; height: 100%; border-radius: 14px; box-shadow: none; }
.frame { inset: 0; border: 4px solid var(--wrong); pointer-events: none; }
.frame p { width: fit-content; margin: 0 auto; padding: 4px 14px; pointer-events: auto; }
.frame button { margin-left: 12px; color: var(--ink); }
`;

const BASE = `
* { box-sizing: border-box; margin: 0; padding: 0; list-style: none; }
:focus-visible { outline: 2px solid var(--brand); outline-offset: -2px; }
h2, h3, b { font-size: 14px; font-weight: 600; }
button, select, input { font: inherit; color: inherit; }
button, select { min-height: 28px; padding: 2px 8px; border: 1px solid var(--edge); border-radius: 6px; background: var(--card); }
button:hover { border-color: currentColor; }
table { width: 100%; border-collapse: collapse; }
header, ol li, th, td, caption { border-bottom: 1px solid var(--line); }
th, td, caption { padding: 4px 14px; font-weight: 400; text-align: left; vertical-align: top; }
td:last-child { text-align: right; white-space: nowrap; }
.buttons, header, dl, .key, .names { display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: center; }
.line, .details li, .faults li { display: grid; grid-template-columns: minmax(0, 1fr) fit-content(65%); gap: 4px 10px; }
pre, .reason, .names li { padding: 4px 10px; border-radius: 6px; background: var(--ground); }
.soft, .rest, dt, td:last-child, [role='tab'], .details li { color: var(--soft); }
.wire { color: var(--brand); }
.trouble { color: var(--late); }
.ok { color: var(--ok); }
.wrong { color: var(--wrong); }
.ahead { color: var(--edge); }
rect { fill: currentColor; }
`;

const PARTS = `
header { flex-wrap: nowrap; }
header span { flex: 1; text-align: right; }
header span, .line span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.close { border-color: transparent; font-size: 18px; }
header, footer, dl, .pad, .key, .details { padding: 8px 14px; }
dl { white-space: nowrap; }
dl div { display: flex; flex: 1; flex-direction: column-reverse; }
dd { font-size: 19px; font-weight: 600; line-height: 1.2; }
.reason { display: flex; gap: 12px; margin: 0 10px 8px; border-left: 3px solid; }
.calm { border-color: var(--edge); }
.reason div { flex: 1; }
.reason b { white-space: nowrap; }
.reason p:first-child, b, [aria-selected='true'], .details li :first-child { color: var(--ink); }
[role='tablist'] { padding: 0 8px; border-bottom: 1px solid var(--line); }
[role='tab'] { border: solid transparent; border-width: 0 0 2px; border-radius: 0; }
[aria-selected='true'] { border-color: var(--brand); }
[role='tabpanel'] { flex: 1; min-height: 0; overflow: auto; }
ol li { content-visibility: auto; contain-intrinsic-size: auto 44px; }
.line { width: 100%; padding: 6px 14px 8px; border: 0; border-radius: 0; text-align: left; }
svg { grid-column: 1 / 3; width: 100%; height: 5px; border-radius: 3px; }
.key i { display: inline-block; width: 10px; height: 5px; margin: 0 5px 2px 0; background: currentColor; }
rect.rest, i.rest { opacity: 0.5; }
.details li { grid-template-columns: 1fr 8ch 12ch; border: 0; }
pre { max-height: 190px; margin: 8px 0; overflow: auto; font: 12px/1.5 ui-monospace, monospace; }
.faults li { grid-template-columns: 136px 1fr; align-items: center; padding: 4px 14px; }
[aria-pressed='true'], .frame p { background: var(--wrong); color: var(--card); }
footer { border-top: 1px solid var(--line); }
`;

/** A style sheet that needs no element: that would need a nonce, or the page's policy would forbid it. */
export const createSheet = (): CSSStyleSheet => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(HOST + BASE + PARTS);
  return sheet;
};
