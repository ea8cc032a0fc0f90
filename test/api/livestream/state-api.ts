import type { TestContext } from "node:test";
import {
  type LiveStreamConfig,
  parseLiveStreamConfig,
} from "../../../api/livestream/livestream-config.js";
import {
  LAST_ANSWERS_MAX_MS,
  type LiveStreamServer,
  startLiveStream,
} from "../../../api/livestream/livestream-server.js";
import { frontUnderTest } from "../../doubles/front-under-test.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { LoopbackClient, type Received } from "../http/loopback-client.js";
import { EventListener } from "./event-listener.js";

export interface StateApiSettings extends Partial<LiveStreamConfig> {
  readonly publishKeyLines?: readonly string[];
}

type Fields = Readonly<Record<string, string>>;

/** The state API on its own port, with a stopped clock. */
export class StateApi {
  readonly clock: VirtualClock;
  readonly logger: RecordingLogger;
  readonly client: LoopbackClient;
  readonly port: number;
  readonly #server: LiveStreamServer;

  private constructor(
    parts: Pick<StateApi, "clock" | "logger" | "port">,
    server: LiveStreamServer,
  ) {
    this.clock = parts.clock;
    this.logger = parts.logger;
    this.port = parts.port;
    this.client = new LoopbackClient(parts.port);
    this.#server = server;
  }

  static async start(
    t: TestContext,
    { publishKeyLines, ...settings }: StateApiSettings = {},
  ): Promise<StateApi> {
    const logger = new RecordingLogger();
    const clock = new VirtualClock();
    const server = await startLiveStream({
      config: {
        ...parseLiveStreamConfig({
          HOST: "127.0.0.1",
          LIVESTREAM_PORT: "0",
          HTTP_BACKEND: frontUnderTest.choice,
        }),
        ...settings,
      },
      publishKeyLines,
      log: logger,
      clock,
      newId: () => "00000000-test",
    });
    const api = new StateApi({ clock, logger, port: server.port }, server);
    t.after(() => api.#end());
    return api;
  }

  /** Waits for answers under way until `LAST_ANSWERS_MAX_MS` have passed on the clock. */
  async stop(): Promise<void> {
    this.client.close();
    await this.#server.stop();
  }

  /** Waits for nobody. */
  async #end(): Promise<void> {
    const stopped = this.stop();
    this.clock.advance(LAST_ANSWERS_MAX_MS);
    await stopped;
  }

  hook(path: string, fields: Fields, headers: Fields = {}): Promise<Received> {
    return this.client.send("POST", `/webhook/${path}`, {
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      raw: new URLSearchParams(fields).toString(),
    });
  }

  publish(name: string, fields: Fields = {}): Promise<Received> {
    return this.hook("on-publish", { name, remoteAddr: "203.0.113.10", ...fields });
  }

  unpublish(name: string, fields: Fields = {}): Promise<Received> {
    return this.hook("on-unpublish", { name, remoteAddr: "203.0.113.10", ...fields });
  }

  async streams(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { text } = await this.client.get("/streams");
    return JSON.parse(text).data.streams;
  }

  async keys(): Promise<readonly unknown[]> {
    return (await this.streams()).map(({ streamKey }) => streamKey);
  }

  /** Connects a listener; its first event is the snapshot. */
  async listen(t: TestContext): Promise<EventListener> {
    const listener = await EventListener.open(this.port);
    t.after(() => listener.close());
    return listener;
  }
}
