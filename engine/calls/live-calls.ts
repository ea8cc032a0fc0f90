import type { Ending } from "../conversation/call-end.js";
import type {
  CallControl,
  ControlCommand,
  ControlOutcome,
} from "../conversation/control-command.js";
import type { AnswererVerdict } from "../conversation/events.js";

/** What the registry needs of a call. */
export interface LiveCall {
  readonly callId: string;
  end(ending: Ending): void;
  /** The telephony vendor says who has answered. Left out while the call is not open. */
  answeredBy?(verdict: AnswererVerdict): void;
  /** Left out while the call is not open. */
  control?(command: ControlCommand): ControlOutcome;
}

/** The calls of this process, from opening to the end of their last effect. */
export class LiveCalls {
  readonly #calls = new Map<string, LiveCall>();
  readonly #onCall: () => void;
  #onEmpty: (() => void)[] = [];
  #wereEnded = false;

  /** `onCall` is called for every call that is opened. */
  constructor(onCall: () => void = () => {}) {
    this.#onCall = onCall;
  }

  get count(): number {
    return this.#calls.size;
  }

  has(callId: string): boolean {
    return this.#calls.has(callId);
  }

  find(callId: string): LiveCall | undefined {
    return this.#calls.get(callId);
  }

  /** `elsewhere` where this process does not have the call. */
  control({ callId, command }: CallControl): ControlOutcome {
    const call = this.#calls.get(callId);
    return call === undefined ? "elsewhere" : (call.control?.(command) ?? "opening");
  }

  add(call: LiveCall): void {
    this.#calls.set(call.callId, call);
    this.#onCall();
  }

  remove(callId: string): void {
    this.#calls.delete(callId);
    if (this.#calls.size > 0) return;
    const waiting = this.#onEmpty;
    this.#onEmpty = [];
    for (const resolve of waiting) resolve();
  }

  /** Whether `endAll` has ended calls: their callers still have to receive the reason. */
  get wereEnded(): boolean {
    return this.#wereEnded;
  }

  endAll(ending: Ending): void {
    const calls = Array.from(this.#calls.values());
    if (calls.length > 0) this.#wereEnded = true;
    for (const call of calls) call.end(ending);
  }

  /** Resolves when no call is left. */
  empty(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }
}
