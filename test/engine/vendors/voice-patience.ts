import assert from "node:assert/strict";
import { it } from "node:test";
import type { SpeechRequest, TextToSpeech } from "../../../engine/vendors/contracts.js";
import type { VirtualClock } from "../../doubles/virtual-clock.js";
import { never, type SandboxedVendors } from "./sandboxed-vendors.js";

export type Stall = "stallBeforeFirstByte" | "stallMidStream";

/** A voice's client, and what stands around it in one test. */
export interface VoiceUnderTest {
  readonly speech: TextToSpeech;
  readonly vendors: SandboxedVendors;
  readonly clock: VirtualClock;
  /** The vendor does so from now on. */
  readonly spoil: (fault: Stall) => void;
  readonly saying: (text: string) => SpeechRequest;
  /** Connections for plain requests that tests before this one have left open. */
  readonly keptConnections?: number;
}

/** The part of the contract about waiting, which holds in every audio format; `voice` is asked for in each test. */
export function itKeepsItsPatience(voice: () => VoiceUnderTest): void {
  it("gives up on a vendor that never begins to speak", async () => {
    const { speech, vendors, clock, spoil, saying } = voice();
    spoil("stallBeforeFirstByte");
    const requests = vendors.sandbox.journal.length;
    const synthesis = speech.synthesize(saying("Hello."), () => undefined, never());
    await vendors.changes.until("the request", () => vendors.sandbox.journal.length > requests);
    clock.advance(10_000);
    await assert.rejects(synthesis, { fault: "timeout", retryable: true });
  });

  it("gives up on speech that stalls", async () => {
    const { speech, vendors, clock, spoil, saying } = voice();
    spoil("stallMidStream");
    let receivedBytes = 0;
    const synthesis = speech.synthesize(
      saying("A sentence that is long enough for several chunks."),
      (audio) => {
        receivedBytes += audio.length;
        vendors.changes.tell();
      },
      never(),
    );
    await vendors.changes.until("the first chunk", () => receivedBytes > 0);
    clock.advance(10_000);
    await assert.rejects(synthesis, { fault: "timeout" });
  });

  it("asks nothing when it was aborted before it began", async () => {
    const { speech, vendors, saying } = voice();
    const requests = vendors.sandbox.journal.length;
    const synthesis = speech.synthesize(saying("Hello."), () => undefined, AbortSignal.abort());
    await assert.rejects(synthesis, { fault: "aborted" });
    assert.equal(vendors.sandbox.journal.length, requests);
  });
}

/** Aborts at the first audio of a long text: nothing more is called, and the connection is broken. */
export async function assertStopsAtOnce({
  speech,
  vendors,
  saying,
  keptConnections = 0,
}: VoiceUnderTest): Promise<void> {
  const ending = new AbortController();
  let calls = 0;
  const synthesis = speech.synthesize(
    saying("A rather long sentence. ".repeat(20)),
    () => {
      calls++;
      ending.abort();
    },
    ending.signal,
  );
  await assert.rejects(synthesis, { fault: "aborted", retryable: false });
  await vendors.changes.until(
    "the connection to close",
    () => vendors.sandbox.openConnections === keptConnections,
  );
  assert.equal(calls, 1);
}
