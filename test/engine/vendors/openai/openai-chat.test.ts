import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { openAi } from "../../../../engine/vendors/openai/openai.js";
import { AskedServer, SAID } from "../asked-server.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "../sandboxed-vendors.js";

const asked = new AskedServer();

let vendors: SandboxedVendors;
before(async () => {
  vendors = await startSandboxedVendors();
});
after(() => vendors.close());

const bodyFor = (modelId: string, settings = {}) =>
  asked.completionBody(openAi(asked.given(settings), asked.context), modelId);

const Asked = v.object({ reasoning_effort: v.string() });

const COMMON = { messages: SAID, stream: true, stream_options: { include_usage: true } };

test("without a key there is no request to OpenAI", () => {
  assert.throws(() => openAi(asked.given({}, ""), asked.context), {
    vendor: "openai",
    fault: "unauthorized",
    message: "openai: no API key is configured",
  });
});

test("a model that only speaks gets the limit and the temperature as they are", async () => {
  for (const model of [
    "gpt-4o-mini",
    "gpt-5-chat-latest",
    "gpt-4o-2024-08-06",
    "ft:gpt-4.1:acme::x1",
  ]) {
    assert.deepEqual(await bodyFor(model, { reasoningEffort: "high" }), {
      ...COMMON,
      model,
      max_completion_tokens: 200,
      temperature: 0.4,
    });
  }
});

test("a model that thinks first gets room for that, an effort, and no temperature", async () => {
  for (const [model, settings, reasoning_effort] of [
    ["o3", {}, "low"],
    ["o1", { reasoningEffort: "none" }, "low"],
    ["gpt-5-nano", { reasoningEffort: "none" }, "minimal"],
    ["gpt-6-luna", { reasoningEffort: "max" }, "max"],
    ["gpt-6-luna-2026-09-22", { reasoningEffort: "low" }, "low"],
    ["gpt-6.2", { reasoningEffort: "none" }, "low"],
    ["gpt-5.1", { reasoningEffort: "max" }, "high"],
    ["gpt-5", { reasoningEffort: "minimal" }, "minimal"],
    ["gpt-5-mini", { reasoningEffort: "low" }, "low"],
    ["o4-mini", { reasoningEffort: "medium" }, "medium"],
    ["o3", { reasoningEffort: "high" }, "high"],
  ] as const) {
    assert.deepEqual(await bodyFor(model, settings), {
      ...COMMON,
      model,
      max_completion_tokens: 1_224,
      reasoning_effort,
    });
  }
});

test("a model without reasoning gets that setting, and then the temperature", async () => {
  for (const [model, settings] of [
    ["gpt-6-luna", {}],
    ["gpt-6-luna", { reasoningEffort: "none" }],
    ["gpt-6-luna-2026-09-22", { reasoningEffort: "minimal" }],
    ["gpt-5.6-luna", {}],
    ["gpt-5.1", {}],
  ] as const) {
    assert.deepEqual(await bodyFor(model, settings), {
      ...COMMON,
      model,
      max_completion_tokens: 200,
      temperature: 0.4,
      reasoning_effort: "none",
    });
  }
});

test("an unknown model counts as one of the newest, without a temperature", async () => {
  for (const model of ["gpt-7-nova", "omni", "my-o3"]) {
    assert.deepEqual(await bodyFor(model), {
      ...COMMON,
      model,
      max_completion_tokens: 200,
      reasoning_effort: "none",
    });
  }
});

test("an effort that there is not is refused with those that there are", () => {
  assert.throws(() => openAi(asked.given({ reasoningEffort: "higher" }), asked.context), {
    vendor: "openai",
    fault: "refused",
    message:
      "openai: setting reasoningEffort: expected one of none, minimal, low, medium, high, xhigh, max",
  });
});

const TOOLS = [{ name: "hold", description: "Holds.", parameters: { type: "object" } }];

test("a model that uses no functions while it thinks does not think where tools are offered", async () => {
  const models = ["gpt-5.2", "gpt-5.4-mini", "gpt-5.6", "gpt-6-luna", "gpt-7-nova"];
  for (const modelId of [...models, "gpt-5.1", "gpt-5-mini", "o3"]) {
    for (const settings of [{}, { reasoningEffort: "high" }]) {
      for (const offered of [{}, { tools: TOOLS }, { tools: [] }]) {
        const model = openAi({ ...vendors.settingsFor("openai"), settings }, vendors.context);
        const messages = [{ role: "user", content: "say yes" }] as const;
        const request = { modelId, messages, temperature: 0.4, maxTokens: 200, ...offered };
        let said = "";
        await model.complete(request, (text) => (said += text), never());
        assert.equal(said, "yes", modelId);
      }
    }
  }
});

test("a configured effort applies wherever it is supported", async () => {
  const effortFor = async (modelId: string, tools: typeof TOOLS) => {
    const model = openAi(asked.given({ reasoningEffort: "high" }), asked.context);
    return v.parse(Asked, await asked.completionBody(model, modelId, tools)).reasoning_effort;
  };
  for (const [modelId, withTools, withoutTools] of [
    ["gpt-5.1", "high", "high"],
    ["gpt-5-mini", "high", "high"],
    ["o3", "high", "high"],
    ["gpt-5.2", "none", "high"],
    ["gpt-5.4-mini", "none", "high"],
    ["gpt-6-luna", "none", "high"],
    ["gpt-7-nova", "none", "high"],
  ] as const) {
    assert.equal(await effortFor(modelId, TOOLS), withTools, modelId);
    assert.equal(await effortFor(modelId, []), withoutTools, modelId);
  }
});
