import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { afterEach, beforeEach, describe, it } from "node:test";
import { MULAW_8K } from "../../../../engine/audio/audio-format.js";
import type { SpokenWord } from "../../../../engine/vendors/contracts.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { openVendorSocket } from "../../../../engine/vendors/transport/socket-vendor.js";
import type { VendorSocket } from "../../../../engine/vendors/transport/web-socket.js";
import { type Said, speakTurn } from "../../../../engine/vendors/tts-socket/tts-socket.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { eventually, never } from "../sandboxed-vendors.js";
import { type ScriptedPeer, ScriptedSocketServer } from "../scripted-socket-server.js";

const WORD = { text: "hi", startMs: 0, endMs: 90 };
const audio = (...bytes: readonly number[]): Said => ({
  kind: "audio",
  bytes: Uint8Array.from(bytes),
});
/** What the vendor's messages mean. */
const MEANINGS: Readonly<Record<string, readonly Said[]>> = {
  sound: [audio(1, 2), { kind: "words", words: [WORD] }, audio(), audio(3)],
  "sound and end": [audio(4), { kind: "done" }, audio(5), { kind: "words", words: [WORD] }],
  end: [{ kind: "done" }],
  failure: [{ kind: "failed", fault: "rateLimited", message: "slow down" }, audio(6)],
};

describe("a sentence on an open socket", () => {
  const clock = new VirtualClock();
  let server: ScriptedSocketServer;
  let connections: Connections;
  let socket: VendorSocket;
  let peer: ScriptedPeer;
  let heard: unknown[];

  beforeEach(async () => {
    server = new ScriptedSocketServer();
    await server.start();
    connections = new Connections({ clock, allowPrivateAddresses: false });
    await open();
    heard = [];
  });

  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  async function open(): Promise<void> {
    const access = {
      context: { clock, connections },
      endpoint: { origin: server.url, path: "" },
      clientOwned: false,
      apiKey: "the-key",
      headers: {},
    };
    const refusalDetail = () => ({ code: undefined, message: undefined });
    const index = server.peers.length;
    socket = await openVendorSocket({ vendor: "acme", refusalDetail }, access, "/", never());
    peer = await server.peer(index);
  }

  function speak(
    signal = never(),
    onLeft?: () => void,
    onChunk: (bytes: Uint8Array) => void = (bytes) => heard.push([...bytes]),
  ): Promise<boolean> {
    const onWords = (words: readonly SpokenWord[]) => void heard.push(...words);
    const spoken = speakTurn({
      vendor: "acme",
      clock,
      socket,
      frames: ["say", "hi"],
      reader: { text: (text) => MEANINGS[text] ?? [], binary: (bytes) => [audio(...bytes)] },
      speech: { text: "hi", modelId: "m", speed: 1, language: "en", format: MULAW_8K, onWords },
      onChunk,
      signal,
      isReused: false,
      onLeft,
    });
    spoken.catch(() => undefined);
    return spoken;
  }

  it("is heard in the order in which it comes, up to its end, and leaves the socket open", async () => {
    const { signal } = new AbortController();
    const spoken = speak(signal);
    await server.changes.until("the sentence", () => peer.texts.length === 2);
    assert.deepEqual(peer.texts, ["say", "hi"]);
    peer.socket.send("sound");
    peer.socket.send(Buffer.of(7));
    peer.socket.send("nothing");
    peer.socket.send("sound and end");
    peer.socket.send("sound");
    await spoken;
    // Who answers has read all that came before.
    peer.socket.ping();
    await once(peer.socket, "pong");
    assert.deepEqual(heard, [[1, 2], WORD, [3], [7], [4]]);
    assert.deepEqual([socket.isOpen, clock.pendingTimerCount], [true, 0]);
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  for (const [messages, error, chunks] of [
    [["end"], { fault: "badAnswer", message: "acme: ended without audio" }, []],
    [["failure"], { fault: "rateLimited", message: "acme: slow down" }, []],
    [["sound", "failure"], { fault: "rateLimited" }, [[1, 2], WORD, [3]]],
  ] as const) {
    it(`fails at ${messages.join(", ")}, and its socket is destroyed, though another could take it`, async () => {
      const spoken = speak(never(), () => heard.push("left"));
      for (const message of messages) peer.socket.send(message);
      await assert.rejects(spoken, error);
      await server.changes.until("the end", () => peer.isClosed);
      assert.deepEqual([heard, clock.pendingTimerCount], [chunks, 0]);
    });
  }

  it("fails with what its listener throws", async () => {
    const broken = new Error("a bug of ours");
    for (const [thrown, error] of [
      [broken, broken],
      ["words", new Error("words")],
    ]) {
      const spoken = speak(never(), undefined, () => {
        throw thrown;
      });
      peer.socket.send("sound");
      await assert.rejects(spoken, error);
      await server.changes.until("the end", () => peer.isClosed);
      await open();
    }
  });

  it("is not requested by a call that has ended, which leaves the socket to its taker", async () => {
    const spoken = speak(AbortSignal.abort(), () => heard.push("left"));
    await assert.rejects(spoken, { fault: "aborted", message: "acme: aborted" });
    assert.deepEqual([heard, socket.isOpen, clock.pendingTimerCount], [["left"], true, 0]);
    assert.deepEqual(peer.texts, []);
  });

  it("destroys the socket of a call that ends if there is no taker", async () => {
    const ending = new AbortController();
    const spoken = speak(ending.signal);
    ending.abort();
    await assert.rejects(spoken, { fault: "aborted" });
    await server.changes.until("the end", () => peer.isClosed);
  });

  it("fails immediately on a closed socket, which is passed to no taker", async () => {
    peer.socket.close(1_000);
    await eventually(() => !socket.isOpen, "the close");
    const spoken = speak(never(), () => heard.push("left"));
    await assert.rejects(spoken, { fault: "disconnected", message: "acme: closed" });
    await assert.rejects(
      speak(AbortSignal.abort(), () => heard.push("left")),
      { fault: "aborted" },
    );
    assert.deepEqual([heard, clock.pendingTimerCount], [[], 0]);
  });
});
