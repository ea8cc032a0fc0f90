import { NO_ENTRY } from "../client/agent-call.js";
import type { CallEnd, CallState, Words } from "../client/call-events.js";
import { CallFault, type FaultCode } from "../client/call-fault.js";
import { element } from "./element.js";
import { FaultNote } from "./fault-note.js";
import { STATE_WORDS, WORDS, WRITTEN_STATE_WORDS } from "./widget-words.js";
import { WordsLog } from "./words-log.js";
import { WriteForm } from "./write-form.js";

export interface PanelActions {
  readonly start: () => void;
  readonly hangUp: () => void;
  readonly mute: (isMuted: boolean) => void;
  /** Whether the words were sent. */
  readonly write: (text: string) => boolean;
  /** Tries to have a microphone again. */
  readonly microphone: () => void;
  readonly close: () => void;
}

/** Talk, and words as text. */
export class Panel {
  readonly root: HTMLElement;
  readonly #log = new WordsLog();
  readonly #heading: HTMLElement;
  readonly #words = element("span", { role: "status" }, STATE_WORDS.idle);
  readonly #level = element("i");
  readonly #meter = element("span", { class: "meter", "aria-hidden": "true" }, this.#level);
  readonly #fault: FaultNote;
  readonly #form: WriteForm;
  readonly #main = element("button", { class: "main", type: "button" }, WORDS.start);
  readonly #mute = element("button", { type: "button", "aria-pressed": "false" }, WORDS.mute);
  #state: CallState = "idle";
  #hasBegun = false;

  constructor(heading: string, isInline: boolean, actions: PanelActions) {
    this.#heading = element("h2", { id: "heading", dir: "auto" }, heading);
    this.#fault = new FaultNote(actions.microphone);
    this.#form = new WriteForm(actions.write);
    const close = element("button", { type: "button", "aria-label": WORDS.close }, "✕");
    close.addEventListener("click", actions.close);
    close.hidden = isInline;
    this.#main.addEventListener("click", () => {
      if (this.#isInCall) actions.hangUp();
      else actions.start();
    });
    this.#mute.addEventListener("click", () => {
      const isMuted = this.#mute.getAttribute("aria-pressed") !== "true";
      this.#mute.setAttribute("aria-pressed", String(isMuted));
      actions.mute(isMuted);
    });
    this.root = element(
      "section",
      { class: "panel", role: isInline ? "region" : "dialog", "aria-labelledby": "heading" },
      element("header", {}, this.#heading, close),
      this.#log.root,
      element("p", { class: "state" }, this.#meter, this.#words),
      this.#fault.root,
      this.#form.root,
      element("footer", {}, this.#main, this.#mute),
    );
    this.#show();
  }

  get #isInCall(): boolean {
    return this.#state !== "idle" && this.#state !== "ended";
  }

  focus(): void {
    this.#main.focus();
  }

  begin(): void {
    this.#hasBegun = false;
    this.#log.clear();
    this.#fault.clear();
    this.#mute.setAttribute("aria-pressed", "false");
  }

  state(state: CallState): void {
    this.#hasBegun ||= state === "listening";
    this.#state = state;
    this.#show();
  }

  /** Says why the agent's side ended it, unless a fault has said so. */
  ended({ code, reason }: CallEnd): void {
    this.#fault.settle();
    // What the server says of keys is for who wrote the page, and stands in the connection's close.
    if (!this.#hasBegun && code === NO_ENTRY) {
      this.#fault.show(new CallFault("refused", WORDS.notAllowed));
    }
    if (!this.#hasBegun) this.#words.textContent = WORDS.notBegun;
    else if (code !== 1000 && reason !== "" && !this.#fault.isShown) {
      this.#words.textContent = `${STATE_WORDS.ended} (${reason})`;
    }
  }

  agentName(name: string): void {
    this.#heading.textContent = name;
  }

  words(words: Words): void {
    this.#log.show(words);
    // What the server complained of did not keep it from understanding.
    if (words.speaker === "caller") this.mended("server");
  }

  level(level: number): void {
    this.#level.style.setProperty("--level", level.toFixed(2));
  }

  failed(fault: unknown): void {
    const wasDeaf = this.#fault.isDeaf;
    this.#fault.show(fault);
    this.#show();
    if (!wasDeaf && this.#fault.isDeaf && this.#hasBegun) this.#form.focus();
  }

  mended(code: FaultCode): void {
    this.#fault.mended(code);
    this.#show();
  }

  #show(): void {
    const isDeaf = this.#fault.isDeaf;
    this.#words.textContent = (isDeaf ? WRITTEN_STATE_WORDS : STATE_WORDS)[this.#state];
    this.#main.textContent = this.#isInCall ? WORDS.hangUp : WORDS.start;
    this.#mute.hidden = !this.#isInCall || isDeaf;
    this.#meter.hidden = !this.#isInCall;
    this.#form.root.hidden = !this.#isInCall || !this.#hasBegun;
  }
}
