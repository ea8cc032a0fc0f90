import type { CallState, Words } from "../client/call-events.js";
import { element } from "./element.js";
import { STATE_WORDS, WORDS } from "./widget-words.js";
import { WordsLog } from "./words-log.js";

export interface PanelActions {
  readonly start: () => void;
  readonly hangUp: () => void;
  readonly mute: (isMuted: boolean) => void;
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
  readonly #fault = element("p", { class: "fault", role: "alert" });
  readonly #main = element("button", { class: "main", type: "button" }, WORDS.start);
  readonly #mute = element("button", { type: "button", "aria-pressed": "false" }, WORDS.mute);
  #isInCall = false;

  constructor(heading: string, isInline: boolean, actions: PanelActions) {
    this.#heading = element("h2", { id: "heading", dir: "auto" }, heading);
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
      this.#fault,
      element("footer", {}, this.#main, this.#mute),
    );
    this.state("idle");
  }

  focus(): void {
    this.#main.focus();
  }

  begin(): void {
    this.#log.clear();
    this.#fault.textContent = "";
    this.#mute.setAttribute("aria-pressed", "false");
  }

  state(state: CallState): void {
    this.#isInCall = state !== "idle" && state !== "ended";
    this.#words.textContent = STATE_WORDS[state];
    this.#main.textContent = this.#isInCall ? WORDS.hangUp : WORDS.start;
    this.#mute.hidden = !this.#isInCall;
    this.#meter.hidden = !this.#isInCall;
  }

  agentName(name: string): void {
    this.#heading.textContent = name;
  }

  words(words: Words): void {
    this.#log.show(words);
  }

  level(level: number): void {
    this.#level.style.setProperty("--level", level.toFixed(2));
  }

  /** Empty: it is mended. */
  fault(message: string): void {
    this.#fault.textContent = message;
  }
}
