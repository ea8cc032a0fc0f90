import { NO_ENTRY } from "../client/agent-call.js";
import { BrowserCall, type BrowserCallOptions } from "../client/browser/browser-call.js";
import { CallError } from "../client/call-error.js";
import { requireTool, type ToolHandler } from "../client/page-tools.js";
import { warnDeveloper } from "./developer-warning.js";
import { element } from "./element.js";
import { Panel } from "./panel.js";
import { WORDS } from "./widget-words.js";

/** A constructed style sheet: a page's Content-Security-Policy does not block it and needs no entry for it. */
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

/**
 * `<parley-agent>`: `agent` (its id, if it is public), `token-url` (an address of the page's own site that responds
 * with a client token as text), `mode` (`floating` or `inline`), `theme` (`light` or `dark`; by default the system's),
 * `heading`.
 */
export class AgentElement extends HTMLElement {
  /** The default server, unless an element's `server` attribute names another. */
  static home: string = location.origin;

  /** A function that gets the page's token, instead of `token-url`. */
  token: BrowserCallOptions["token"];
  readonly #tools = new Map<string, ToolHandler>();
  #call: BrowserCall | undefined;
  #panel: Panel | undefined;
  #launcher: HTMLButtonElement | undefined;

  connectedCallback(): void {
    if (this.#panel !== undefined) return;
    const isInline = this.getAttribute("mode") === "inline";
    const panel = new Panel(this.getAttribute("heading") ?? WORDS.heading, isInline, {
      start: () => void this.#start(),
      hangUp: () => this.#call?.hangUp(),
      mute: (isMuted) => this.#call?.setMuted(isMuted),
      write: (text) => this.#call?.write(text) ?? false,
      // A repeated failure is shown like the first one.
      microphone: () =>
        void this.#call?.sound.useMicrophone().catch((error) => panel.failed(error)),
      close: () => this.#show(false),
    });
    const launcher = element(
      "button",
      { class: "launcher", type: "button", "aria-expanded": "false" },
      WORDS.open,
    );
    launcher.addEventListener("click", () => this.#show(true));
    panel.root.addEventListener("keydown", ({ key }) => {
      if (key === "Escape" && !isInline) this.#show(false);
    });
    panel.root.hidden = !isInline;
    launcher.hidden = isInline;
    this.#panel = panel;
    this.#launcher = launcher;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(WIDGET_STYLE);
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet];
    root.append(panel.root, launcher);
  }

  /**
   * Handles the agent's tool of this name and of type `client`, in this page, in this call and all later ones. Throws a
   * CallError as `AgentCall.tool` does.
   */
  tool(name: string, handler: ToolHandler): void {
    requireTool(name, this.#tools);
    this.#tools.set(name, handler);
    this.#call?.tool(name, handler);
  }

  /** The call ends when the page removes the element. */
  disconnectedCallback(): void {
    queueMicrotask(() => {
      if (!this.isConnected) this.#call?.hangUp();
    });
  }

  #show(isOpen: boolean): void {
    const panel = this.#panel;
    const launcher = this.#launcher;
    if (panel === undefined || launcher === undefined) return;
    panel.root.hidden = !isOpen;
    launcher.hidden = isOpen;
    launcher.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) panel.focus();
    else launcher.focus();
  }

  async #start(): Promise<void> {
    const panel = this.#panel;
    if (panel === undefined) return;
    panel.begin();
    const agentId = this.getAttribute("agent") ?? undefined;
    const server = this.getAttribute("server") ?? AgentElement.home;
    const call = new BrowserCall({
      server,
      agentId,
      token: this.#token(),
      isMicrophoneNeeded: false,
    });
    this.#call = call;
    for (const [name, handler] of this.#tools) call.tool(name, handler);
    call.on("state", (state) => {
      panel.state(state);
      const isOver = state === "ended";
      if (this.#launcher) this.#launcher.textContent = isOver ? WORDS.open : WORDS.openInCall;
    });
    let hasBegun = false;
    call.on("connected", ({ agentName }) => {
      hasBegun = true;
      if (!this.hasAttribute("heading")) panel.agentName(agentName);
    });
    call.on("words", (words) => panel.words(words));
    call.on("levels", ({ caller, agent }) => panel.level(Math.max(caller, agent)));
    call.on("fault", (fault) => {
      warnDeveloper(console, fault);
      panel.failed(fault);
    });
    call.on("mended", (code) => panel.mended(code));
    call.on("ended", (end) => {
      if (!hasBegun && end.code === NO_ENTRY) {
        warnDeveloper(console, new CallError("refused", WORDS.notAllowed), end.reason);
      }
      panel.ended(end);
    });
    // The error was already reported as a fault.
    await call.start().catch(() => {});
  }

  #token(): BrowserCallOptions["token"] {
    const address = this.getAttribute("token-url");
    if (this.token !== undefined || address === null) return this.token;
    return async () => {
      const answer = await fetch(address, { method: "POST" });
      if (!answer.ok)
        throw new Error(`the page's token-url responded with status ${answer.status}`);
      return (await answer.text()).trim();
    };
  }
}
