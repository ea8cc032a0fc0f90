import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type Broadcast, StreamRegistry } from "../../../api/livestream/stream-registry.js";

const STREAMS_MAX = 3;

type Step =
  | { readonly kind: "publish"; readonly broadcast: Broadcast }
  | { readonly kind: "unpublish"; readonly streamKey: string; readonly session: string | undefined }
  | { readonly kind: "expire"; readonly nowMs: number };

const streamKey = fc.constantFrom("a", "b", "c", "d", "e");
const session = fc.constantFrom(undefined, "s1", "s2");
const timeMs = fc.integer({ min: 0, max: 20 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({
      streamKey,
      session,
      clientIp: fc.constantFrom(undefined, "1.1.1.1", "2.2.2.2"),
      startedAtMs: timeMs,
      leaseEndsMs: fc.option(timeMs, { nil: undefined }),
    })
    .map((broadcast) => ({ kind: "publish" as const, broadcast: { ...broadcast } })),
  fc.record({ kind: fc.constant("unpublish" as const), streamKey, session }),
  fc.record({ kind: fc.constant("expire" as const), nowMs: timeMs }),
);

/** The rules once more, as a list that is searched: slow, and short enough to be read. */
class Model {
  streams: Broadcast[] = [];

  apply(next: Step): string {
    if (next.kind === "publish") return this.#publish(next.broadcast);
    if (next.kind === "unpublish") return this.#unpublish(next);
    const ended = this.streams.filter((one) => (one.leaseEndsMs ?? Infinity) <= next.nowMs);
    this.streams = this.streams.filter((one) => !ended.includes(one));
    return ended.map((one) => one.streamKey).join();
  }

  #publish(given: Broadcast): string {
    const index = this.streams.findIndex((one) => one.streamKey === given.streamKey);
    const known = this.streams[index];
    if (known === undefined) {
      if (this.streams.length === STREAMS_MAX) return "full";
      this.streams.push(given);
      return "added";
    }
    const isAnother = areDifferent(known.session, given.session);
    this.streams[index] = isAnother
      ? given
      : {
          ...given,
          startedAtMs: known.startedAtMs,
          session: given.session ?? known.session,
          clientIp: given.clientIp ?? known.clientIp,
        };
    return isAnother ? "replaced" : "refreshed";
  }

  #unpublish({ streamKey: key, session: said }: Extract<Step, { kind: "unpublish" }>): string {
    const known = this.streams.find((one) => one.streamKey === key);
    if (known === undefined) return "unknown";
    if (areDifferent(known.session, said)) return "otherSession";
    this.streams = this.streams.filter((one) => one !== known);
    return "removed";
  }
}

/** Whether two of the ids made up here are of different broadcasts; an empty one is of any. */
function areDifferent(one = "", other = ""): boolean {
  return ["s1 s2", "s2 s1"].includes(`${one} ${other}`);
}

function apply(registry: StreamRegistry, next: Step): string {
  switch (next.kind) {
    case "publish":
      return registry.publish(next.broadcast);
    case "unpublish":
      return registry.unpublish(next.streamKey, next.session);
    case "expire":
      return registry.expire(next.nowMs).join();
  }
}

const NOTHING_KNOWN = { qualities: [], hasThumbnail: false, viewers: undefined };

test("the registry does what its rules say, whatever happens in whichever order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const registry = new StreamRegistry(STREAMS_MAX);
      const model = new Model();
      for (const next of steps) {
        assert.equal(apply(registry, next), model.apply(next));
        const ordered = model.streams.toSorted(
          (one, other) =>
            one.startedAtMs - other.startedAtMs || one.streamKey.localeCompare(other.streamKey),
        );
        assert.deepEqual(
          registry.inOrder(),
          ordered.map((broadcast) => ({ ...broadcast, ...NOTHING_KNOWN })),
        );
        assert.equal(registry.size, model.streams.length);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("what is known of a stream stays with one that is refreshed, and goes with one that is replaced", () => {
  const registry = new StreamRegistry(STREAMS_MAX);
  const broadcast = {
    streamKey: "a",
    clientIp: "1.1.1.1",
    session: "s1",
    startedAtMs: 0,
    leaseEndsMs: undefined,
  };
  const qualities = [{ name: "x", width: 1, height: 1, bandwidth: 1, path: "x.m3u8" }];
  const files = { qualities, hasThumbnail: true };
  registry.describe("a", files);
  registry.count("a", 3);
  assert.equal(registry.get("a"), undefined);
  registry.publish(broadcast);
  registry.describe("a", files);
  registry.count("a", 3);
  registry.publish(broadcast);
  assert.deepEqual(registry.get("a"), { ...broadcast, ...files, viewers: 3 });
  const next = { ...broadcast, session: "s2" };
  registry.publish(next);
  assert.deepEqual(registry.get("a"), { ...next, ...NOTHING_KNOWN });
});
