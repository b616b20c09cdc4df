/** Colours, and the panel itself, in both places where it may be. The build puts tokens of `show.css` in. */
const HOST = `
:host { all: initial !important; display: contents !important; }
:host([embedded]) { display: block !important; height: 100% !important; }
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
  width: min(460px, 100%);
  height: 100%;
  overflow: hidden;
  background: var(--card);
  border: 1px solid var(--edge);
  box-shadow: 0 14px 44px #0005;
}
.below { width: 100%; height: min(420px, 60vh); }
@media (max-width: 700px) { .right { width: 100%; height: min(420px, 60vh); } .dock { display: none; } }
.pill { inset: auto 12px 12px auto; width: auto; height: auto; border-radius: 99px; }
.pill button { padding: 4px 14px; border: 0; border-radius: 99px; }
:host([embedded]) section { position: static; width: 100%; height: 100%; border-radius: 14px; box-shadow: none; }
`;

const BASE = `
* { box-sizing: border-box; margin: 0; padding: 0; list-style: none; }
:focus-visible { outline: 2px solid var(--brand); outline-offset: -2px; }
h2, h3, b { font-size: 14px; font-weight: 600; }
button, select, input { font: inherit; color: inherit; }
button, select {
  min-height: 28px;
  padding: 2px 8px;
  border: 1px solid var(--edge);
  border-radius: 7px;
  background: var(--card);
}
button:hover { border-color: currentColor; }
.buttons, header { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
.pad { padding: 10px 14px; }
.soft, dt { color: var(--soft); }
.rest { color: var(--soft); }
.wire { color: var(--brand); }
.trouble { color: var(--late); }
.ok { color: var(--ok); }
.wrong { color: var(--wrong); }
.ahead { color: var(--edge); }
rect { fill: currentColor; }
`;

const PARTS = `
header { flex-wrap: nowrap; padding: 8px 8px 8px 14px; border-bottom: 1px solid var(--line); }
header span { flex: 1; text-align: right; }
header span, .line span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.close { border-color: transparent; font-size: 18px; }
dl { display: flex; flex-wrap: wrap; gap: 4px 10px; padding: 10px 14px; white-space: nowrap; }
dl div { display: flex; flex: 1; flex-direction: column-reverse; }
dd { font-size: 19px; font-weight: 600; line-height: 1.2; }
.reason {
  display: flex;
  justify-content: space-between;
  gap: 12px;
  margin: 0 10px 8px;
  padding: 6px 10px;
  border-left: 3px solid;
  border-radius: 6px;
  background: var(--ground);
}
.calm { border-color: var(--edge); }
.reason p:first-child, .reason b { color: var(--ink); overflow-wrap: anywhere; }
.reason b { white-space: nowrap; }
[role='tablist'] { display: flex; padding: 0 8px; border-bottom: 1px solid var(--line); }
[role='tab'] { border: solid transparent; border-width: 0 0 2px; border-radius: 0; background: none; color: var(--soft); }
[aria-selected='true'] { color: var(--ink); border-color: var(--brand); }
[role='tabpanel'] { flex: 1; min-height: 0; overflow: auto; }
ol li { border-bottom: 1px solid var(--line); content-visibility: auto; contain-intrinsic-size: auto 44px; }
.line {
  display: grid;
  grid-template-columns: minmax(0, 1fr) auto;
  gap: 4px 10px;
  width: 100%;
  padding: 6px 14px 8px;
  border: 0;
  border-radius: 0;
  text-align: left;
}
.line span { max-width: 60vw; }
svg { grid-column: 1 / 3; width: 100%; height: 5px; border-radius: 3px; }
.key { display: flex; flex-wrap: wrap; gap: 2px 14px; padding: 6px 14px; }
.key i { display: inline-block; width: 10px; height: 5px; margin-right: 5px; border-radius: 2px; background: currentColor; vertical-align: 2px; }
rect.rest, i.rest { opacity: 0.5; }
.details { padding: 2px 14px 10px; }
.details li { display: grid; grid-template-columns: 1fr 8ch 13ch; border: 0; color: var(--soft); text-align: right; }
.details li :first-child { color: var(--ink); text-align: left; overflow-wrap: anywhere; }
pre {
  max-height: 190px;
  margin: 8px 0;
  padding: 8px 10px;
  overflow: auto;
  border-radius: 8px;
  background: var(--ground);
  font: 12px/1.5 ui-monospace, monospace;
}
.names { display: flex; flex-wrap: wrap; gap: 4px; margin-top: 4px; }
.names li { padding: 0 7px; border-radius: 6px; background: var(--ground); overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
th, td, caption {
  padding: 4px 14px;
  border-bottom: 1px solid var(--line);
  font-weight: 400;
  text-align: left;
  overflow-wrap: anywhere;
  vertical-align: top;
}
td:last-child { color: var(--soft); text-align: right; white-space: nowrap; }
.faults li { display: grid; grid-template-columns: 136px 1fr; gap: 12px; align-items: center; padding: 4px 14px; }
[aria-pressed='true'], .frame p { background: var(--wrong); color: var(--card); }
footer { padding: 8px 10px; border-top: 1px solid var(--line); }
.frame { inset: 0; border: 4px solid var(--wrong); pointer-events: none; }
.frame p {
  display: flex;
  gap: 12px;
  align-items: center;
  width: fit-content;
  margin: 0 auto;
  padding: 4px 6px 6px 14px;
  border-radius: 0 0 10px 10px;
  pointer-events: auto;
}
.frame button { color: var(--ink); }
`;

/** A style sheet that needs no element: that would need a nonce, or the page's policy would forbid it. */
export const createSheet = (): CSSStyleSheet => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(HOST + BASE + PARTS);
  return sheet;
};
