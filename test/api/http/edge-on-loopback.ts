import type { Answer } from "../../../api/http/answer/answer.js";
import { openBackend } from "../../../api/http/backend/open-backend.js";
import type { Endpoint } from "../../../api/http/endpoints/endpoint.js";
import { ClientAddresses } from "../../../api/http/request/client-address.js";
import { CorsPolicy } from "../../../api/http/request/cors.js";
import { Router } from "../../../api/http/router.js";
import { HttpServer } from "../../../api/http/server.js";
import { frontUnderTest } from "../../doubles/front-under-test.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { SilentLogger } from "../../doubles/silent-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { LoopbackClient } from "./loopback-client.js";

export interface EdgeSettings {
  readonly corsOrigins?: readonly string[];
  readonly trustedProxies?: readonly string[];
  readonly isDraining?: () => boolean;
}

export function text(body: string): Answer {
  return { status: 200, contentType: "text/plain", body };
}

export function endpoint(parts: Partial<Endpoint> & Pick<Endpoint, "answer">): Endpoint {
  return {
    method: "get",
    path: "/api/thing",
    headerNames: [],
    readsBody: false,
    isQuiet: false,
    ...parts,
  };
}

/** The HTTP layer alone, with endpoints that a test defines. */
export class EdgeOnLoopback {
  readonly server: HttpServer;
  readonly clock: VirtualClock;
  readonly logger: RecordingLogger;
  readonly client: LoopbackClient;
  readonly port: number;

  private constructor(parts: Pick<EdgeOnLoopback, "server" | "clock" | "logger" | "port">) {
    this.server = parts.server;
    this.clock = parts.clock;
    this.logger = parts.logger;
    this.port = parts.port;
    this.client = new LoopbackClient(parts.port);
  }

  static async start(
    endpoints: readonly Endpoint[],
    settings: EdgeSettings = {},
  ): Promise<EdgeOnLoopback> {
    const server = new HttpServer(await openBackend(frontUnderTest.choice, new SilentLogger()));
    const clock = new VirtualClock();
    const logger = new RecordingLogger();
    const edge = new Router({
      server,
      addresses: new ClientAddresses(settings.trustedProxies ?? []),
      cors: new CorsPolicy(settings.corsOrigins ?? []),
      clock,
      logger,
      newId: () => "00000000-test",
      isDraining: settings.isDraining ?? (() => false),
    });
    for (const each of endpoints) edge.add(each);
    return new EdgeOnLoopback({ server, clock, logger, port: await server.listen("127.0.0.1", 0) });
  }

  close(): void {
    this.client.close();
    this.server.close();
  }
}
