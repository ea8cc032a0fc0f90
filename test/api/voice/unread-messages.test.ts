import assert from "node:assert/strict";
import { once } from "node:events";
import { WebSocket } from "ws";
import { WebLeg } from "../../../api/voice/web-leg.js";
import type { Ending } from "../../../engine/conversation/call-end.js";
import { testFronts } from "../http/backend/both-fronts.js";
import { RecordingDoor } from "../http/backend/recording-door.js";

const UNREAD_BYTES_MAX = 1024 * 1024;
const route = new RecordingDoor(UNREAD_BYTES_MAX);

testFronts(
  "a client that reads nothing is closed 1013 before its messages fill the memory",
  (front) => front.webSocket("/ws/voice", route),
  async ({ port }) => {
    const client = new WebSocket(`ws://127.0.0.1:${port}/ws/voice`, { perMessageDeflate: false });
    const closed = new Promise<number>((resolve) => client.once("close", resolve));
    const [socket] = await Promise.all([route.opened(), once(client, "open")]);
    client.pause();
    const leg = new WebLeg(socket);
    const endings: Ending[] = [];
    leg.connect({
      hear: () => undefined,
      played: () => undefined,
      write: () => undefined,
      end(ending) {
        endings.push(ending);
        leg.end(ending);
      },
    });
    const text = "never-ending ".repeat(1_000);
    const message = { type: "error", reason: "internalError", message: text } as const;
    while (leg.isOpen) {
      assert.ok(socket.getBufferedAmount() <= UNREAD_BYTES_MAX);
      leg.send(message);
    }
    assert.deepEqual(
      endings.map(({ reason }) => reason),
      ["callerTooSlow"],
    );
    client.resume();
    assert.equal(await closed, 1013);
  },
);
