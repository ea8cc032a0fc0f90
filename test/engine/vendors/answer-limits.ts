import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, it } from "node:test";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import type { VendorContext, VendorSettings } from "../../../engine/vendors/vendor-settings.js";
import { Changes } from "../../doubles/changes.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { ScriptedWebServer } from "./scripted-web-server.js";

const ANSWER_MAX_BYTES = 8 * 1024 * 1024;

export interface LimitedAnswer {
  readonly what: string;
  /** Sends the request to the vendor, and reports each piece of its response. */
  readonly ask: (
    given: VendorSettings,
    context: VendorContext,
    onPiece: () => void,
  ) => Promise<unknown>;
  readonly limits: {
    readonly firstByteMs: number;
    readonly betweenBytesMs: number;
    readonly totalMs: number;
  };
  readonly piece: string;
  /** A character that says nothing where it makes up a line. */
  readonly skipped: string;
  readonly end: string;
  /** Undefined where an answer is not read in lines. */
  readonly lineMaxChars: number | undefined;
}

/** The tests of how long and how large an answer over HTTP may be. */
export function describeAnswerLimits({
  what,
  ask,
  limits,
  piece,
  skipped,
  end,
  lineMaxChars,
}: LimitedAnswer): void {
  describe(`how long and how large ${what} may be`, () => {
    let clock: VirtualClock;
    let server: ScriptedWebServer;
    let connections: Connections;
    let pieces: number;
    let changes: Changes;

    beforeEach(async () => {
      clock = new VirtualClock();
      server = new ScriptedWebServer();
      await server.start();
      connections = new Connections({ clock, allowPrivateAddresses: false });
      pieces = 0;
      changes = new Changes();
    });

    afterEach(async () => {
      await connections.close();
      await server.close();
    });

    function answer(): Promise<unknown> {
      const given = { baseUrl: server.url, apiKey: "key", settings: {}, clientOwned: false };
      const answered = ask(given, { clock, connections }, () => {
        pieces += 1;
        changes.tell();
      });
      answered.catch(() => undefined);
      return answered;
    }

    /** The response of a scripted vendor, with its first `count` pieces. */
    async function slowAnswer() {
      let response: ServerResponse | undefined;
      server.answer = (given) => {
        response = given;
      };
      const answered = answer();
      await server.changes.until("the request", () => response);
      const say = async () => {
        const before = pieces;
        response?.write(piece);
        await changes.until("the piece", () => pieces > before);
      };
      return { answered, say };
    }

    /** It is awaited until this much time has passed, and no longer. */
    async function endsAfter(timeMs: number, answered: Promise<unknown>): Promise<void> {
      clock.advance(timeMs - 1);
      assert.ok(clock.pendingTimerCount > 0, "it was given up too soon");
      clock.advance(1);
      assert.equal(clock.pendingTimerCount, 0, "it is waited for too long");
      await assert.rejects(answered, { fault: "timeout" });
    }

    it("the first byte has this time limit", async () => {
      const { answered } = await slowAnswer();
      await endsAfter(limits.firstByteMs, answered);
    });

    it("the next byte has this time limit", async () => {
      const { answered, say } = await slowAnswer();
      clock.advance(limits.firstByteMs - 1);
      await say();
      await endsAfter(limits.betweenBytesMs, answered);
    });

    it("the whole has this time limit, though data keeps arriving", async () => {
      const { answered, say } = await slowAnswer();
      const stepMs = limits.betweenBytesMs - 1;
      let leftMs = limits.totalMs;
      for (await say(); leftMs > stepMs; leftMs -= stepMs) {
        clock.advance(stepMs);
        await say();
      }
      await endsAfter(leftMs, answered);
    });

    /** An answer of which everything but the end says nothing. */
    function padded(sizeBytes: number): string {
      const line = `${skipped.repeat(1_023)}\n`;
      const padding = line.repeat(sizeBytes / line.length + 1);
      return padding.slice(padding.length - (sizeBytes - end.length)) + end;
    }

    it("it is cut when it is larger than 8 MiB", async () => {
      server.answer = (response) => response.end(padded(ANSWER_MAX_BYTES));
      await answer();
      server.answer = (response) => response.end(padded(ANSWER_MAX_BYTES + 1));
      await assert.rejects(answer(), { fault: "badAnswer", message: /too large/ });
    });

    if (lineMaxChars === undefined) return;

    it("it is cut when a line of it is too long", async () => {
      const line = (length: number) => `${skipped.repeat(length)}\n${end}`;
      server.answer = (response) => response.end(line(lineMaxChars));
      await answer();
      server.answer = (response) => response.end(line(lineMaxChars + 1));
      await assert.rejects(answer(), { fault: "badAnswer" });
    });
  });
}
