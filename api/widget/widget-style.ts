/** As a constructed sheet: a page's content policy has no say in it, and needs none. */
export const WIDGET_STYLE = `
:host {
  --accent: var(--parley-accent, #0f766e);
  --on-accent: var(--parley-on-accent, #fff);
  --ground: var(--parley-ground, #fff);
  --text: var(--parley-text, #1c2b2a);
  --faint: var(--parley-faint, #566766);
  --line: var(--parley-line, #cfd9d8);
  --fault: var(--parley-fault, #b42318);
  --radius: var(--parley-radius, 8px);
  font: 14px/1.5 system-ui, sans-serif; color: var(--text); display: block;
}
:host([theme="dark"]) {
  --accent: var(--parley-accent, #2dd4bf); --on-accent: var(--parley-on-accent, #06201d);
  --ground: var(--parley-ground, #14201f); --text: var(--parley-text, #e6efee);
  --faint: var(--parley-faint, #9db0ae); --line: var(--parley-line, #33474a);
  --fault: var(--parley-fault, #ff9c92);
}
@media (prefers-color-scheme: dark) {
  :host(:not([theme="light"])) {
    --accent: var(--parley-accent, #2dd4bf); --on-accent: var(--parley-on-accent, #06201d);
    --ground: var(--parley-ground, #14201f); --text: var(--parley-text, #e6efee);
    --faint: var(--parley-faint, #9db0ae); --line: var(--parley-line, #33474a);
    --fault: var(--parley-fault, #ff9c92);
  }
}
:host(:not([mode="inline"])) { position: fixed; inset: auto 16px 16px auto; z-index: 2147483000; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
button {
  font: inherit; color: inherit; background: none; border: 1px solid var(--line);
  border-radius: var(--radius); padding: 8px 16px; min-height: 40px; cursor: pointer;
}
button:focus-visible, input:focus-visible, .log:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
button.main, button.launcher { background: var(--accent); color: var(--on-accent); border-color: transparent; }
button.launcher { border-radius: 999px; box-shadow: 0 2px 8px #0004; display: block; margin-inline-start: auto; }
button[aria-pressed="true"] { background: var(--text); color: var(--ground); }
.panel {
  background: var(--ground); border: 1px solid var(--line); border-radius: var(--radius);
  display: flex; flex-direction: column; max-height: min(560px, calc(100vh - 32px));
}
:host(:not([mode="inline"])) .panel { width: min(360px, calc(100vw - 32px)); box-shadow: 0 4px 24px #0003; }
header, footer { display: flex; gap: 8px; align-items: center; padding: 8px 16px; }
header { border-bottom: 1px solid var(--line); }
h2 { font-size: 16px; margin: 0; flex: 1; overflow-wrap: anywhere; }
header button { border: 0; padding: 8px; min-width: 40px; }
.log { flex: 1; min-height: 120px; overflow-y: auto; padding: 8px 16px; }
.log p { margin: 0 0 8px; overflow-wrap: anywhere; white-space: pre-wrap; }
.log p b { display: block; font-size: 12px; font-weight: 600; color: var(--faint); }
.log p.guess { color: var(--faint); }
.log s { color: var(--faint); }
.quiet { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.state { padding: 0 16px; margin: 0; color: var(--faint); min-height: 24px; display: flex; gap: 8px; align-items: center; }
.meter { width: 48px; height: 4px; border-radius: 2px; background: var(--line); overflow: hidden; }
.meter i { display: block; height: 100%; background: var(--accent); transform-origin: left; transform: scaleX(var(--level, 0)); }
.fault { padding: 0 16px; margin: 8px 0 0; }
.fault p { color: var(--fault); margin: 0 0 8px; overflow-wrap: anywhere; }
form { display: flex; gap: 8px; padding: 8px 16px 0; }
input {
  font: inherit; color: inherit; background: none; border: 1px solid var(--faint);
  border-radius: var(--radius); padding: 8px; min-height: 40px; min-width: 0; flex: 1;
}
input::placeholder { color: var(--faint); opacity: 1; }
footer { flex-wrap: wrap; }
footer button { flex: 1; }
`;
