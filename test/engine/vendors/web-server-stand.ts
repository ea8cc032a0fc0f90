import { afterEach, beforeEach } from "node:test";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { ScriptedWebServer } from "./scripted-web-server.js";

/** What a request to a vendor needs, on a clock that the test moves. */
export interface WebServerStand {
  clock: VirtualClock;
  server: ScriptedWebServer;
  connections: Connections;
}

/** A stand that is new for each test of the suite which asks for it. */
export function webServerStand(allowPrivateAddresses: boolean): WebServerStand {
  const stand = newStand(allowPrivateAddresses);
  beforeEach(async () => {
    Object.assign(stand, newStand(allowPrivateAddresses));
    await stand.server.start();
  });
  afterEach(async () => {
    await stand.connections.close();
    await stand.server.close();
  });
  return stand;
}

function newStand(allowPrivateAddresses: boolean): WebServerStand {
  const clock = new VirtualClock();
  const connections = new Connections({ clock, allowPrivateAddresses });
  return { clock, server: new ScriptedWebServer(), connections };
}
