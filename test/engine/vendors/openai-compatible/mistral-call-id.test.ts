import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ChatMessage } from "../../../../engine/vendors/contracts.js";
import { mistralCallId } from "../../../../engine/vendors/openai-compatible/openai-compatible.js";
import { languageModel } from "../../../../engine/vendors/registry.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "../sandboxed-vendors.js";

let vendors: SandboxedVendors;
before(async () => {
  vendors = await startSandboxedVendors();
});
after(() => vendors.close());

const TOOLS = ["find", "hold"].map((name) => ({
  name,
  description: `To ${name}`,
  parameters: { type: "object" },
}));
const ASKED: ChatMessage = { role: "user", content: "use find and use hold" };

async function reply(vendor: "openai" | "mistral", messages: readonly ChatMessage[]) {
  const modelId = vendor === "mistral" ? "mistral-small-latest" : "gpt-6-luna";
  const request = { modelId, messages, temperature: 0.4, maxTokens: 200, tools: TOOLS };
  let said = "";
  const client = languageModel(vendor, vendors.settingsFor(vendor), vendors.context);
  const { toolCalls = [] } = await client.complete(request, (text) => (said += text), never());
  return { said, toolCalls };
}

for (const first of ["openai", "mistral"] as const) {
  test(`Mistral continues with tool calls of ${first}, and so does OpenAI`, async () => {
    const { toolCalls } = await reply(first, [ASKED]);
    assert.equal(toolCalls.length, 2);
    const results = toolCalls.map(
      ({ id, name }) => ({ role: "tool", toolCallId: id, content: `${name} is done` }) as const,
    );
    const messages = [ASKED, { role: "assistant", content: "", toolCalls } as const, ...results];
    for (const next of ["openai", "mistral"] as const) {
      const { said } = await reply(next, messages);
      assert.equal(said, "The tool says: find is done. The tool says: hold is done.");
    }
  });
}

test("an id that Mistral takes stays as it is, and any other becomes one, always the same and its own", () => {
  assert.equal(mistralCallId("aB3456789"), "aB3456789");
  const odd = ["", "call_1", "call_2", "12345678", "1234567890", "1234-6789", "x".repeat(4_096)];
  const mapped = odd.map(mistralCallId);
  for (const id of mapped) assert.match(id, /^[a-zA-Z0-9]{9}$/);
  assert.equal(new Set(mapped).size, odd.length);
  assert.deepEqual(odd.map(mistralCallId), mapped);
});
