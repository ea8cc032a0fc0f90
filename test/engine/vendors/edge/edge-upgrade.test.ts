import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { MP3 } from "../../../../engine/audio/audio-format.js";
import { edgeToken } from "../../../../engine/vendors/edge/edge.js";
import { textToSpeech } from "../../../../engine/vendors/registry.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedSpeech } from "../scripted-speech.js";

const REQUEST = { text: "Hi.", modelId: "m", speed: 1, language: "en", format: MP3 };
const TOKEN = "6A5AA1D4EAFF4E9FB37E23D68491D6F4";
const HOUR_MS = 3_600_000;

describe("a connection to Edge", () => {
  let scripted: ScriptedSpeech;

  beforeEach(async () => {
    scripted = new ScriptedSpeech("edge");
    await scripted.server.start();
  });

  afterEach(() => scripted.close());

  /** The first upgrades are answered so; later ones are taken, or not answered at all. */
  function refuse(...answers: readonly string[]): void {
    const left = [...answers];
    const { server } = scripted;
    server.onUpgrade = (socket) => {
      const answer = left.shift();
      socket.end(`HTTP/1.1 ${answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      if (left.length === 0) server.onUpgrade = undefined;
      server.changes.tell();
    };
  }

  it("is opened as the browser does, with a token of the present time", async () => {
    const { peer } = await scripted.ask(REQUEST, 2, { protocol: "ws:" });
    const { searchParams } = new URL(peer.request.url ?? "", "ws://edge");
    assert.match(searchParams.get("ConnectionId") ?? "", /^[0-9a-f]{32}$/);
    assert.deepEqual(
      ["TrustedClientToken", "Sec-MS-GEC", "Sec-MS-GEC-Version"].map((name) =>
        searchParams.get(name),
      ),
      [TOKEN, edgeToken(scripted.clock.epochMs(), TOKEN), "1-143.0.3650.75"],
    );
    const { headers } = peer.request;
    assert.deepEqual(
      [headers.pragma, headers["cache-control"], headers.origin, headers["accept-language"]],
      [
        "no-cache",
        "no-cache",
        "chrome-extension://jdiccldimpdaibmpdkjnbmckianbfold",
        "en-US,en;q=0.9",
      ],
    );
    assert.match(
      headers["user-agent"] ?? "",
      /Chrome\/143\.0\.0\.0 Safari\/537\.36 Edg\/143\.0\.0\.0$/,
    );
  });

  it("is requested again by the service's own time, if the refusal contains it", async () => {
    const theirsMs = scripted.clock.epochMs() + HOUR_MS;
    refuse(`403 Forbidden\r\nDate: ${new Date(theirsMs).toUTCString()}`);
    const { peer } = await scripted.ask(REQUEST, 2, { protocol: "ws:" });
    const { searchParams } = new URL(peer.request.url ?? "", "ws://edge");
    assert.equal(searchParams.get("Sec-MS-GEC"), edgeToken(theirsMs, TOKEN));
    assert.match(peer.texts[0] ?? "", new RegExp(`^X-Timestamp:${hourOf(theirsMs)}`));
    assert.match(peer.texts[1] ?? "", new RegExp(`X-Timestamp:${hourOf(theirsMs)}`));
  });

  it("is requested once if there is no time", async () => {
    for (const date of ["", "\r\nDate: noon"]) {
      const { upgradeCount } = scripted.server;
      refuse(`403 Forbidden${date}`);
      const { spoken } = await asked();
      await assert.rejects(spoken, { fault: "unauthorized", message: "edge answered 403" });
      assert.equal(scripted.server.upgradeCount, upgradeCount + 1);
    }
  });

  it("is not opened to a private address for an organization's own provider", async () => {
    const { clock, connections, server } = scripted;
    const given = { baseUrl: server.url, apiKey: undefined, settings: {}, clientOwned: true };
    const speech = textToSpeech("edge", given, { clock, connections });
    const speaking = speech.synthesize(REQUEST, () => undefined, never());
    await assert.rejects(speaking, { fault: "refused", message: /private_address$/ });
    assert.equal(server.upgradeCount, 0);
  });

  it("carries sound, and what else it carries is not heard", async () => {
    const { peer, spoken, chunks } = await scripted.ask(REQUEST, 2, { protocol: "ws:" });
    for (const [path, bytes] of [
      ["turn.start", [9]],
      ["audio", [1, 2]],
    ] as const) {
      const header = `Path:${path}\r\n`;
      const length = Buffer.of(0, header.length);
      peer.socket.send(Buffer.concat([length, Buffer.from(header), Buffer.from(bytes)]));
    }
    peer.socket.send("Path:response\r\n\r\n{}");
    peer.socket.send("Path:turn.end\r\n\r\n{}");
    await spoken;
    assert.deepEqual(Buffer.concat(chunks), Buffer.of(1, 2));
  });

  it("times out after ten seconds", async () => {
    const { server, clock } = scripted;
    server.onUpgrade = () => server.changes.tell();
    const { spoken } = await asked();
    clock.advance(9_999);
    assert.equal(clock.pendingTimerCount, 1);
    clock.advance(1);
    await assert.rejects(spoken, { fault: "timeout", message: "edge: no connection in time" });
  });

  /** A sentence that will get no connection, once it has requested one. */
  async function asked(): Promise<{ readonly spoken: Promise<void> }> {
    const { server } = scripted;
    const before = server.upgradeCount;
    const spoken = scripted.speak(REQUEST, { protocol: "ws:" });
    spoken.catch(() => undefined);
    await server.changes.until("the upgrade", () => server.upgradeCount > before);
    return { spoken };
  }
});

function hourOf(epochMs: number): string {
  const [, day, month, year, time] = new Date(epochMs).toUTCString().split(/,? /);
  return `\\w+ ${month} ${day} ${year} ${time?.slice(0, 2)}:`;
}
