import type { SpeechRequest, SpokenWord } from "../../../engine/vendors/contracts.js";
import { textToSpeech } from "../../../engine/vendors/registry.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { Changes } from "../../doubles/changes.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { never } from "./sandboxed-vendors.js";
import { type ScriptedPeer, ScriptedSocketServer } from "./scripted-socket-server.js";

export interface ScriptedSentence {
  readonly spoken: Promise<void>;
  readonly peer: ScriptedPeer;
  readonly chunks: Uint8Array[];
  readonly words: SpokenWord[];
  /** Changes of what was heard. */
  readonly changes: Changes;
}

/** A TTS client, and a scripted server at the other end of its socket. */
export class ScriptedSpeech {
  readonly clock = new VirtualClock();
  readonly server = new ScriptedSocketServer();
  readonly connections = new Connections({ clock: this.clock, allowPrivateAddresses: false });
  readonly #vendor: string;

  constructor(vendor: string) {
    this.#vendor = vendor;
  }

  /** Requests a sentence on its own socket, and waits until this many frames of it have arrived. */
  async ask(
    request: SpeechRequest,
    frames: number,
    { settings = {}, protocol = "http:", signal = never() } = {},
  ): Promise<ScriptedSentence> {
    const changes = new Changes();
    const index = this.server.peers.length;
    const [chunks, words]: [Uint8Array[], SpokenWord[]] = [[], []];
    const onWords = (more: readonly SpokenWord[]) => void words.push(...more);
    const take = (audio: Uint8Array) => {
      chunks.push(audio);
      changes.tell();
    };
    const ways = { settings, protocol, signal };
    const spoken = this.speak({ ...request, onWords }, ways, take);
    spoken.catch(() => undefined);
    const peer = await this.server.peer(index);
    await this.server.changes.until("the sentence", () => peer.texts.length === frames);
    return { spoken, peer, chunks, words, changes };
  }

  /** Asks for a sentence, which may get no socket. */
  speak(
    request: SpeechRequest,
    { settings = {}, protocol = "http:", signal = never() } = {},
    onChunk: (audio: Uint8Array) => void = () => undefined,
  ): Promise<void> {
    const baseUrl = this.server.url.replace("ws:", protocol);
    const given = { baseUrl, apiKey: "the-key", settings, clientOwned: false };
    const context = { clock: this.clock, connections: this.connections };
    return textToSpeech(this.#vendor, given, context).synthesize(request, onChunk, signal);
  }

  async close(): Promise<void> {
    await this.connections.close();
    await this.server.close();
  }
}
