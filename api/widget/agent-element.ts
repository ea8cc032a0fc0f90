import { BrowserCall, type BrowserCallOptions } from "../client/browser/browser-call.js";
import { demandTool, type ToolHandler } from "../client/page-tools.js";
import { element } from "./element.js";
import { Panel } from "./panel.js";
import { WIDGET_STYLE } from "./widget-style.js";
import { WORDS } from "./widget-words.js";

/**
 * `<parley-agent>`: `agent` (its id, where it is public), `token-url` (an address of the page's own site that answers with a
 * client token as text), `mode` (`floating` or `inline`), `theme` (`light` or `dark`; else the system's), `heading`.
 */
export class AgentElement extends HTMLElement {
  /** Where agents live, unless an element's `server` says otherwise. */
  static home: string = location.origin;

  /** How a page gets its token, in place of `token-url`. */
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
      // What goes wrong again is told as it was before.
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
   * Uses the agent's tool of this name, of the type `client`, in this page, in this call and all later ones. Throws a
   * CallFault as `AgentCall.tool` does.
   */
  tool(name: string, handler: ToolHandler): void {
    demandTool(name, this.#tools);
    this.#tools.set(name, handler);
    this.#call?.tool(name, handler);
  }

  /** A page that takes the element away ends the call. */
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
    call.on("connected", ({ agentName }) => {
      if (!this.hasAttribute("heading")) panel.agentName(agentName);
    });
    call.on("words", (words) => panel.words(words));
    call.on("levels", ({ caller, agent }) => panel.level(Math.max(caller, agent)));
    call.on("fault", (fault) => panel.failed(fault));
    call.on("mended", (code) => panel.mended(code));
    call.on("ended", (end) => panel.ended(end));
    // What went wrong was told as a fault.
    await call.start().catch(() => {});
  }

  #token(): BrowserCallOptions["token"] {
    const address = this.getAttribute("token-url");
    if (this.token !== undefined || address === null) return this.token;
    return async () => {
      const answer = await fetch(address, { method: "POST" });
      if (!answer.ok) throw new Error(`the site's own token could not be had: ${answer.status}`);
      return (await answer.text()).trim();
    };
  }
}
