import assert from "node:assert/strict";
import {
  PhoneCaller,
  type PhoneCallerEvent,
  type PhoneCallerOptions,
} from "../../engine/sandbox/telephone/phone-caller.js";
import type { CancelTimer } from "../../engine/time/clock.js";
import { Changes } from "../doubles/changes.js";
import { PatientClock } from "../doubles/patient-clock.js";
import type { Customer, TestServer } from "./test-server.js";

const FRAME_MS = 20;
/** The reply of the sandbox's LLM to "count to 9". */
export const COUNT = Array.from({ length: 9 }, (_, n) => `Number ${n + 1}.`).join(" ");

export function webhookUrl(
  server: Pick<TestServer, "url">,
  { apiKey }: Pick<Customer, "apiKey">,
  query: Readonly<Record<string, string>> = {},
): string {
  const fields = new URLSearchParams({ api_key: apiKey, ...query });
  return `${server.url}/api/telephony/voice?${fields.toString()}`;
}

export function streamUrl(server: Pick<TestServer, "url">, vendor?: string): string {
  const base = `${server.url.replace("http", "ws")}/ws/telephony/stream`;
  return vendor === undefined ? base : `${base}/${vendor}`;
}

/** Makes a telephone call to the customer's agent through the webhook. */
export function ring(
  server: TestServer,
  customer: Customer,
  options: PhoneCallerOptions = {},
): Promise<PhoneCaller> {
  return PhoneCaller.call({ webhookUrl: webhookUrl(server, customer), ...options });
}

/** Resolves when the caller has heard all of the words to the end of a sentence. */
export async function heard(caller: PhoneCaller, words: string): Promise<void> {
  while (!caller.playedText().includes(words))
    await caller.until(({ type }) => type === "markEchoed");
}

export const cleared = ({ type }: PhoneCallerEvent): boolean => type === "clear";

export interface PhoneClose {
  readonly code: number;
  readonly reason: string;
}

export async function closeOfPhone(caller: PhoneCaller, timeoutMs?: number): Promise<PhoneClose> {
  const isClose = ({ type }: PhoneCallerEvent) => type === "closed";
  const close = caller.events.find(isClose) ?? (await caller.until(isClose, timeoutMs));
  assert.ok(close.type === "closed");
  return { code: close.code, reason: close.reason };
}

/** A patient clock that tells whether the audio pacer still runs; nothing else uses such short delays. */
export class PacerWatch extends PatientClock {
  readonly changes = new Changes();
  #waiting = 0;

  get isPacing(): boolean {
    return this.#waiting > 0;
  }

  override after(delayMs: number, action: () => void): CancelTimer {
    if (delayMs > FRAME_MS) return super.after(delayMs, action);
    this.#waiting += 1;
    let isOver = false;
    const end = () => {
      if (!isOver) this.#waiting -= 1;
      isOver = true;
      this.changes.tell();
    };
    const cancel = super.after(delayMs, () => {
      end();
      action();
    });
    return () => {
      end();
      cancel();
    };
  }
}

/** Fails if a call, a slot, a paced stream or an STT stream is left. */
async function assertNothingLeft(server: TestServer, clock: PacerWatch): Promise<void> {
  await server.settled();
  await clock.changes.until("the pacer to stand still", () => !clock.isPacing);
  await server.changes.until("the recognizer's streams to be closed", () => {
    const entries = server.sandbox.journal.filter(({ vendor }) => vendor === "deepgram");
    const count = (kind: string) => entries.filter((entry) => entry.kind === kind).length;
    return count("opened") === count("closed") ? true : undefined;
  });
}

/** For the end of a file: does `assertNothingLeft`, and stops the server whether that succeeds or not. */
export async function closeServer(server: TestServer, clock: PacerWatch): Promise<void> {
  try {
    await assertNothingLeft(server, clock);
  } finally {
    await server.stop();
  }
}
