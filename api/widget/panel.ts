import { NO_ENTRY } from "../client/agent-call.js";
import {
  asCallError,
  CallError,
  type CallErrorCode,
  MICROPHONE_ERRORS,
} from "../client/call-error.js";
import type { CallEnd, CallState, Words } from "../client/call-events.js";
import { element } from "./element.js";
import { STATE_WORDS, WORDS, WRITTEN_STATE_WORDS } from "./widget-words.js";

/** Shows the current fault and what the visitor can do about it. */
export class FaultNote {
  readonly #text = element("p", { role: "alert" });
  readonly #retry = element("button", { type: "button" }, WORDS.useMicrophone);
  readonly root = element("div", { class: "fault" }, this.#text, this.#retry);
  /** Unresolved faults, the newest last. */
  readonly #open = new Map<CallErrorCode, string>();

  constructor(onRetry: () => void) {
    this.#retry.addEventListener("click", onRetry);
    this.clear();
  }

  get isShown(): boolean {
    return this.#open.size > 0;
  }

  /** Whether the agent has no microphone to listen to. */
  get isDeaf(): boolean {
    return [...this.#open.keys()].some((code) => MICROPHONE_ERRORS.has(code));
  }

  show(fault: unknown): void {
    const { code, message } = asCallError(fault, "soundFailed", WORDS.unknownFault);
    this.#open.delete(code);
    this.#open.set(
      code,
      MICROPHONE_ERRORS.has(code) ? `${message} ${WORDS.writeInstead}` : message,
    );
    this.#render();
  }

  /** A microphone that works resolves every microphone fault. */
  mended(mended: CallErrorCode): void {
    const isOfMicrophone = MICROPHONE_ERRORS.has(mended);
    for (const code of this.#open.keys()) {
      if (code === mended || (isOfMicrophone && MICROPHONE_ERRORS.has(code))) {
        this.#open.delete(code);
      }
    }
    this.#render();
  }

  /** The call is over: the fault stays readable, but there is no action to offer. */
  settle(): void {
    this.#retry.hidden = true;
  }

  clear(): void {
    this.#open.clear();
    this.#render();
  }

  #render(): void {
    const [newest] = [...this.#open].slice(-1);
    const text = newest?.[1] ?? "";
    if (this.#text.textContent !== text) this.#text.textContent = text;
    this.#retry.hidden = newest === undefined || !MICROPHONE_ERRORS.has(newest[0]);
    this.root.hidden = newest === undefined;
  }
}

/** The panel keeps this many lines, more than a person reads in it. */
const LINES_MAX = 200;

/** The transcript, line by line. A screen reader announces a line only when it is final. */
export class WordsLog {
  readonly root = element("div", {
    class: "log",
    role: "log",
    "aria-label": WORDS.log,
    tabindex: "0",
  });
  readonly #lines = new Map<number, HTMLElement>();

  show({ id, speaker, kind, text, unheard }: Words): void {
    const line = this.#lines.get(id) ?? this.#newLine(id);
    const isOpen = kind === "guess" || kind === "said";
    line.className = kind === "guess" ? "guess" : "";
    line.setAttribute("aria-hidden", String(isOpen));
    const parts: (Node | string)[] = [element("b", {}, WORDS[speaker]), text];
    if (unheard !== "") {
      const note = element("span", { class: "quiet" }, ` (${WORDS.unheard}) `);
      parts.push(" ", element("s", {}, note, unheard));
    }
    line.replaceChildren(...parts);
    this.root.scrollTop = this.root.scrollHeight;
  }

  clear(): void {
    this.#lines.clear();
    this.root.replaceChildren();
  }

  #newLine(id: number): HTMLElement {
    const line = element("p", { dir: "auto" });
    this.#lines.set(id, line);
    this.root.append(line);
    for (const [oldest, old] of this.#lines) {
      if (this.#lines.size <= LINES_MAX) break;
      this.#lines.delete(oldest);
      old.remove();
    }
    return line;
  }
}

/** The server's limit for one message. */
const CHARACTERS_MAX = 1_000;

/** A form to write to the agent instead of speaking. */
export class WriteForm {
  readonly #field = element("input", {
    type: "text",
    maxlength: String(CHARACTERS_MAX),
    "aria-label": WORDS.write,
    placeholder: WORDS.write,
    autocomplete: "off",
    enterkeyhint: "send",
    dir: "auto",
  });
  readonly root = element(
    "form",
    {},
    this.#field,
    element("button", { type: "submit" }, WORDS.send),
  );

  /** `write` returns whether the text was sent; if not, it stays in the form. */
  constructor(write: (text: string) => boolean) {
    this.root.addEventListener("submit", (event) => {
      event.preventDefault();
      if (write(this.#field.value)) this.#field.value = "";
    });
  }

  focus(): void {
    this.#field.focus();
  }
}

export interface PanelActions {
  readonly start: () => void;
  readonly hangUp: () => void;
  readonly mute: (isMuted: boolean) => void;
  /** Returns whether the text was sent. */
  readonly write: (text: string) => boolean;
  /** Tries again to get a microphone. */
  readonly microphone: () => void;
  readonly close: () => void;
}

/** The talk button, and the form for text. */
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

  /** Says why the agent's side ended the call, unless a fault already did. */
  ended({ code, reason }: CallEnd): void {
    this.#fault.settle();
    // The server's message about a refused key is for the page's developer and is in the close reason.
    if (!this.#hasBegun && code === NO_ENTRY) {
      this.#fault.show(new CallError("refused", WORDS.notAllowed));
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
    // The server has understood the caller in spite of the error that it reported.
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

  mended(code: CallErrorCode): void {
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
