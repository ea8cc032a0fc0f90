import type { SessionEffect } from "./effects.js";
import type { SessionEvent } from "./events.js";
import type { SessionState } from "./state.js";
import { transition } from "./transition.js";

/** Events waiting while effects of an earlier one are performed; a healthy call has a handful. */
const MAILBOX_EVENTS_MAX = 1_024;

export interface EffectPerformer {
  /** Starts what the effect asks for; whatever comes of it comes back as an event. */
  perform(effect: SessionEffect): void;
}

/**
 * Owns one call: takes one event at a time, puts the new state in place, then has its effects performed in order. A
 * fault in here ends this call, not the process: `onCrash` is told once, and later events are dropped.
 */
export class SessionActor {
  #state: SessionState;
  #busy = false;
  #crashed = false;
  readonly #mailbox: SessionEvent[] = [];
  readonly #performer: EffectPerformer;
  readonly #onCrash: (error: unknown) => void;

  constructor(state: SessionState, performer: EffectPerformer, onCrash: (error: unknown) => void) {
    this.#state = state;
    this.#performer = performer;
    this.#onCrash = onCrash;
  }

  get state(): SessionState {
    return this.#state;
  }

  send(event: SessionEvent): void {
    if (this.#crashed) return;
    if (this.#mailbox.length >= MAILBOX_EVENTS_MAX) {
      this.#crash(new Error(`more than ${MAILBOX_EVENTS_MAX} events wait for one call`));
      return;
    }
    this.#mailbox.push(event);
    if (!this.#busy) this.#work();
  }

  #work(): void {
    this.#busy = true;
    try {
      for (let event = this.#mailbox.shift(); event !== undefined; event = this.#mailbox.shift()) {
        const { state, effects } = transition(this.#state, event);
        this.#state = state;
        for (const effect of effects) this.#performer.perform(effect);
      }
    } catch (error) {
      this.#crash(error);
    } finally {
      this.#busy = false;
    }
  }

  #crash(error: unknown): void {
    this.#crashed = true;
    this.#mailbox.length = 0;
    this.#onCrash(error);
  }
}
