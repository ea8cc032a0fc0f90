import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { withPassages } from "../../../engine/conversation/passages-note.js";
import type { ChatFault } from "../../../engine/sandbox/faults.js";
import {
  type ChatMessage,
  type CompletionRequest,
  type LanguageModel,
  VendorError,
  type VendorFault,
} from "../../../engine/vendors/contracts.js";
import { languageModel } from "../../../engine/vendors/registry.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import {
  eventually,
  never,
  type SandboxedVendors,
  startSandboxedVendors,
} from "./sandboxed-vendors.js";

const VENDORS = [
  { vendor: "openai", knob: "openai" },
  { vendor: "groq", knob: "groq" },
  { vendor: "ollama", knob: "ollama" },
  // Stands for all that speak OpenAI's protocol.
  { vendor: "mistral", knob: "openai" },
] as const;

const TOOLS = ["find_order", "hold", "hangup"].map((name) => ({
  name,
  description: `To ${name}`,
  parameters: { type: "object", properties: { order: { type: "string" } } },
}));

function asking(said: string, maxTokens = 200): CompletionRequest {
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: said },
  ] as const;
  return { modelId: "some-model", messages, temperature: 0.4, maxTokens };
}

for (const { vendor, knob } of VENDORS) {
  describe(`language model: ${vendor}`, () => {
    let clock: VirtualClock;
    let vendors: SandboxedVendors;
    let model: LanguageModel;

    before(async () => {
      clock = new VirtualClock();
      vendors = await startSandboxedVendors(clock);
    });

    beforeEach(() => {
      vendors.sandbox.faults[knob] = {};
      model = languageModel(vendor, vendors.settingsFor(vendor), vendors.context);
    });

    after(() => vendors.close());

    async function tokensOf(said: string): Promise<string[]> {
      const tokens: string[] = [];
      await model.complete(asking(said), (text) => tokens.push(text), never());
      return tokens;
    }

    async function askedWithTools(messages: readonly ChatMessage[]) {
      const tokens: string[] = [];
      const request = { ...asking(""), messages, tools: TOOLS };
      const completion = await model.complete(request, (text) => tokens.push(text), never());
      return { tokens, completion };
    }

    async function failureUnder(fault: ChatFault): Promise<VendorError> {
      vendors.sandbox.faults[knob] = { fault };
      const error: unknown = await tokensOf("say one two three four five six").catch((e) => e);
      assert.ok(error instanceof VendorError, String(error));
      assert.equal(error.vendor, vendor);
      return error;
    }

    it("hands over the reply piece by piece, in order", async () => {
      const tokens = await tokensOf("say The table is booked for two.");
      assert.equal(tokens.join(""), "The table is booked for two.");
      assert.ok(tokens.length > 2);
    });

    it("answers from passages that stand with the caller's last words, behind the history", async () => {
      const note =
        'Passages:\n{"document":"hours.md","text":"The shop closes at four on Saturdays."}';
      const messages = withPassages(
        [
          ...asking("Hello there.").messages,
          { role: "assistant", content: "Good day." },
          { role: "user", content: "When does the shop close on Saturdays?" },
        ],
        note,
      );
      const { tokens } = await askedWithTools(messages);
      assert.equal(tokens.join(""), "The shop closes at four on Saturdays.");
    });

    it("reports why the reply ended and how many tokens it took", async () => {
      const whole = await model.complete(asking("say one two three"), () => undefined, never());
      assert.equal(whole.finishReason, "stop");
      assert.ok(whole.promptTokens > 0 && whole.completionTokens > 0);
      const cut = await model.complete(asking("say one two three", 2), () => undefined, never());
      assert.equal(cut.finishReason, "length");
      assert.equal(cut.completionTokens, 2);
    });

    it("reads characters that are cut between chunks, comments and empty pieces", async () => {
      vendors.sandbox.faults[knob] = { fault: "fragmented" };
      const text = "Grüße, 你好 und 🎉 zum Schluß.";
      const tokens = await tokensOf(`say ${text}`);
      assert.equal(tokens.join(""), text);
      assert.ok(!tokens.includes(""));
    });

    it("takes an empty reply and one of 10,000 words", async () => {
      vendors.sandbox.faults[knob] = { fault: "emptyReply" };
      assert.deepEqual(await tokensOf("hello"), []);
      vendors.sandbox.faults[knob] = { fault: "longReply" };
      assert.equal((await tokensOf("hello")).join("").split(" ").length, 10_000);
    });

    const isOllama = vendor === "ollama";

    if (!isOllama) {
      it("hands over no thoughts that stand before the reply, and counts what they cost", async () => {
        vendors.sandbox.faults[knob] = { fault: "thinksAloud" };
        assert.equal((await tokensOf("say one two three")).join(""), "one two three");
        const { toolCalls } = (await askedWithTools([{ role: "user", content: "use hold" }]))
          .completion;
        assert.equal(toolCalls?.[0]?.name, "hold");
        const short = await model.complete(asking("say one", 5), () => undefined, never());
        assert.equal(short.finishReason, "length");
        assert.ok(short.completionTokens > 0);
      });
    }

    describe("with tools", () => {
      it("a reply of nothing but tool calls is a whole reply", async () => {
        const said = 'use find_order with {"order":"Grüße, 12"} and use hold';
        const { tokens, completion } = await askedWithTools([{ role: "user", content: said }]);
        assert.deepEqual(tokens, []);
        assert.ok(completion.completionTokens > 0);
        assert.deepEqual(
          completion.toolCalls?.map(({ name, argumentsJson }) => [name, JSON.parse(argumentsJson)]),
          [
            ["find_order", { order: "Grüße, 12" }],
            ["hold", {}],
          ],
        );
        const ids = new Set(completion.toolCalls?.map(({ id }) => id));
        assert.equal(ids.size, 2);
      });

      it("words come before the calls that follow them", async () => {
        const { tokens, completion } = await askedWithTools([{ role: "user", content: "goodbye" }]);
        assert.equal(tokens.join(""), "Thank you for calling, goodbye.");
        assert.equal(completion.toolCalls?.[0]?.name, "hangup");
      });

      it("a reply without tools has none", async () => {
        const { completion } = await askedWithTools([{ role: "user", content: "say yes" }]);
        assert.deepEqual(completion.toolCalls, []);
      });

      it("the vendor accepts its calls and their results, and continues with them", async () => {
        const asked = { role: "user", content: "use find_order and use hold" } as const;
        const { completion } = await askedWithTools([asked]);
        const toolCalls = completion.toolCalls ?? [];
        const results = toolCalls.map(
          ({ id, name }) => ({ role: "tool", toolCallId: id, content: `${name} is done` }) as const,
        );
        const answer = { role: "assistant", content: "", toolCalls } as const;
        const { tokens } = await askedWithTools([asked, answer, ...results]);
        assert.equal(
          tokens.join(""),
          "The tool says: find_order is done. The tool says: hold is done.",
        );
      });

      it("calls are read however they are cut", async () => {
        vendors.sandbox.faults[knob] = { fault: "fragmented" };
        const said = 'use find_order with {"order":"🎉 ü"}';
        const { completion } = await askedWithTools([{ role: "user", content: said }]);
        const [call] = completion.toolCalls ?? [];
        assert.deepEqual(JSON.parse(call?.argumentsJson ?? ""), { order: "🎉 ü" });
      });

      for (const [fault, expected] of [
        ["disconnectMidStream", "disconnected"],
        ["endWithoutDone", "disconnected"],
        ["garbageJson", "badAnswer"],
      ] as const) {
        it(`half a call is none: ${fault}`, async () => {
          vendors.sandbox.faults[knob] = { fault };
          const said = 'use find_order with {"order":"a long one, in many pieces"}';
          await assert.rejects(askedWithTools([{ role: "user", content: said }]), {
            fault: expected,
          });
        });
      }
    });

    const refusals: [ChatFault, VendorFault, boolean][] = [
      ["unauthorized", "unauthorized", false],
      ["forbidden", "refused", false],
      ["badRequest", "refused", false],
      ["notFound", "notFound", false],
      ["rateLimited", isOllama ? "unavailable" : "rateLimited", true],
      ["quotaExceeded", isOllama ? "unavailable" : "quotaExceeded", isOllama],
      ["serverError", "unavailable", true],
      ["overloaded", "unavailable", true],
      ["disconnectBeforeFirstByte", "disconnected", true],
      ["disconnectMidStream", "disconnected", true],
      ["garbageJson", "badAnswer", true],
      ["errorMidStream", vendor === "groq" ? "badAnswer" : "unavailable", true],
      ["endWithoutDone", "disconnected", true],
    ];
    for (const [fault, expected, retryable] of refusals) {
      it(`fails as ${expected} on ${fault}`, async () => {
        const error = await failureUnder(fault);
        assert.equal(error.fault, expected, error.message);
        assert.equal(error.retryable, retryable);
        assert.doesNotMatch(error.message, /test-key|one two/);
      });
    }

    it("gives up on a vendor that never begins to answer", async () => {
      vendors.sandbox.faults[knob] = { fault: "stallBeforeFirstByte" };
      const timersBefore = clock.pendingTimerCount;
      const requests = vendors.sandbox.journal.length;
      const completion = tokensOf("hello");
      await vendors.changes.until("the request", () => vendors.sandbox.journal.length > requests);
      clock.advance(180_000);
      await assert.rejects(completion, { fault: "timeout", retryable: true });
      assert.equal(clock.pendingTimerCount, timersBefore);
    });

    it("gives up on a reply that stalls, after handing over what had come", async () => {
      vendors.sandbox.faults[knob] = { fault: "stallMidStream" };
      const tokens: string[] = [];
      const onToken = (token: string) => {
        tokens.push(token);
        vendors.changes.tell();
      };
      const completion = model.complete(asking("say a b c d e f"), onToken, never());
      await vendors.changes.until("five tokens", () => tokens.length === 5);
      clock.advance(30_000);
      await assert.rejects(completion, { fault: "timeout" });
      assert.equal(tokens.join(""), "a b c d e");
    });

    it("asks nothing when it was aborted before it began", async () => {
      const requests = vendors.sandbox.journal.length;
      const completion = model.complete(asking("hello"), () => undefined, AbortSignal.abort());
      await assert.rejects(completion, { fault: "aborted" });
      assert.equal(vendors.sandbox.journal.length, requests);
    });

    describe("with no connection from before", () => {
      before(async () => {
        await vendors.close();
        vendors = await startSandboxedVendors(clock);
      });

      it("stops at once when aborted: nothing more is called and the connection is broken", async () => {
        vendors.sandbox.faults[knob] = { tokenIntervalMs: 1 };
        const ending = new AbortController();
        const tokens: string[] = [];
        const completion = model.complete(
          asking("count to 500"),
          (text) => {
            tokens.push(text);
            if (tokens.length === 3) ending.abort();
          },
          ending.signal,
        );
        await assert.rejects(completion, { fault: "aborted", retryable: false });
        await vendors.changes.until(
          "the connection to close",
          () => vendors.sandbox.openConnections === 0,
        );
        assert.equal(tokens.length, 3);
      });

      it("uses one warm connection for one reply after another", async () => {
        const origin = new URL(vendors.sandbox.urls[vendor]).origin;
        const { connections } = vendors.context;
        model.warm();
        for (const word of ["one", "two", "three"]) {
          await eventually(() => connections.hasIdle(origin, false), "an idle connection");
          await tokensOf(`say ${word}`);
          assert.equal(vendors.sandbox.openConnections, 1);
        }
      });
    });

    it("lets an error of the listener through as it is", async () => {
      const broken = new RangeError("a bug of ours");
      const completion = model.complete(
        asking("hello"),
        () => {
          throw broken;
        },
        never(),
      );
      await assert.rejects(completion, broken);
    });
  });
}
