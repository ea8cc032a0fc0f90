import { PCM_16K } from "../../../engine/audio/audio-format.js";
import type { ListenOptions, SpeechStream } from "../../../engine/vendors/contracts.js";
import { speechToText } from "../../../engine/vendors/registry.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { Changes } from "../../doubles/changes.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { RecordingListener } from "./recording-listener.js";
import { never } from "./sandboxed-vendors.js";
import { type ScriptedPeer, ScriptedSocketServer } from "./scripted-socket-server.js";

/** An STT client, and a scripted server at the other end of its socket. */
export class ScriptedRecognition {
  readonly changes = new Changes();
  readonly clock = new VirtualClock();
  readonly server = new ScriptedSocketServer(this.changes);
  readonly listener = new RecordingListener(this.changes);
  readonly #connections = new Connections({ clock: this.clock, allowPrivateAddresses: false });
  readonly #vendor: string;

  constructor(vendor: string) {
    this.#vendor = vendor;
  }

  async open(
    options: Pick<ListenOptions, "modelId"> & Partial<ListenOptions>,
    settings = {},
    signal = never(),
  ): Promise<{ readonly stream: SpeechStream; readonly peer: ScriptedPeer }> {
    const given = { baseUrl: this.server.url, apiKey: "the-key", settings, clientOwned: false };
    const context = { clock: this.clock, connections: this.#connections };
    const index = this.server.peers.length;
    const stream = await speechToText(this.#vendor, given, context).open(
      { language: "en-US", format: PCM_16K, endpointingMs: 200, ...options },
      this.listener,
      signal,
    );
    return { stream, peer: await this.server.peer(index) };
  }

  async close(): Promise<void> {
    await this.#connections.close();
    await this.server.close();
  }
}
