import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const FIRST = "I would like to book a table.";
const SECOND = "For four people tonight.";
/** When the caller stops saying the first sentence, and says the second one. */
const FIRST_ENDS_MS = 1_500;
const SECOND_BEGINS_MS = 2_000;
const SECOND_ENDS_MS = 4_000;

const KINDS = ["speechFinal", "utteranceEnd", "turnDecided", "silence"] as const;

for (const lateMs of [500, 1_400, 2_000, 3_000, 4_000]) {
  describe(`words that come ${lateMs} ms late`, () => {
    let call: RecordedCall;

    beforeEach(() => {
      call = new RecordedCall(PLAIN_SETTINGS);
      call.send({ type: "opened", resumed: true });
    });

    function asked(): readonly string[] {
      return call.effects.flatMap((effect) =>
        effect.type === "requestReply" ? [effect.history.at(-1)?.content ?? ""] : [],
      );
    }

    function speaks(fromMs: number, toMs: number): void {
      call.clock.after(fromMs, () => call.hearVoice(true));
      call.clock.after(toMs, () => call.hearVoice(false));
    }

    /** The words and the end of a sentence that ended at `endMs`. */
    function hears(kind: (typeof KINDS)[number], text: string, endMs: number): void {
      const tell = () => {
        const { voiceAgoMs } = call;
        const decides = kind === "turnDecided" ? ({ hasTurnDetection: true } as const) : {};
        call.send({
          type: "transcript",
          text,
          isFinal: true,
          speechFinal: kind === "speechFinal",
          lastWordEndMs: endMs,
          endedAgoMs: lateMs,
          voiceAgoMs,
          ...decides,
        });
        if (kind === "turnDecided") call.send({ type: "callerTurnEnded", voiceAgoMs });
        if (kind !== "utteranceEnd") return;
        const told = { lastWordEndMs: endMs, endedAgoMs: lateMs, voiceAgoMs };
        call.send({ type: "utteranceEnd", ...told });
      };
      call.clock.after(endMs + lateMs, tell);
    }

    for (const kind of KINDS) {
      it(`are answered together with those of the voice that was heard after them, by ${kind}`, () => {
        // A quick recognizer tells the first sentence before the second begins.
        if (lateMs < 1_000) return;
        speaks(0, FIRST_ENDS_MS);
        speaks(SECOND_BEGINS_MS, SECOND_ENDS_MS);
        hears(kind, FIRST, FIRST_ENDS_MS);
        hears(kind, SECOND, SECOND_ENDS_MS);
        call.clock.advance(SECOND_ENDS_MS + lateMs - 1);
        assert.deepEqual(asked(), []);
        call.clock.advance(1_000);
        assert.deepEqual(asked(), [`${FIRST} ${SECOND}`]);
        assert.deepEqual(call.crashes, []);
      });

      it(`are answered alone where the voice after them was a noise, by ${kind}`, () => {
        speaks(0, FIRST_ENDS_MS);
        speaks(SECOND_BEGINS_MS, SECOND_BEGINS_MS + 500);
        hears(kind, FIRST, FIRST_ENDS_MS);
        call.clock.advance(FIRST_ENDS_MS + 2 * lateMs + 3_500);
        assert.deepEqual(asked(), [FIRST]);
      });

      it(`wait for no voice that is never quiet for longer than 8 s, by ${kind}`, () => {
        speaks(0, 60_000);
        hears(kind, FIRST, FIRST_ENDS_MS);
        call.clock.advance(FIRST_ENDS_MS + lateMs + 8_100);
        // A model that tells nothing is asked twice.
        assert.deepEqual([...new Set(asked())], [FIRST]);
      });
    }

    it("are answered at once where nothing was heard after them", () => {
      speaks(0, FIRST_ENDS_MS);
      hears("speechFinal", FIRST, FIRST_ENDS_MS);
      call.clock.advance(FIRST_ENDS_MS + lateMs);
      assert.deepEqual(asked(), [FIRST]);
    });
  });
}
