import assert from "node:assert/strict";
import { test } from "node:test";
import { knownMcpTool, mcpOffer } from "../../../engine/tools/mcp-offer.js";
import { isJsonObject } from "../../../storage/records.js";
import { mcpServer } from "./mcp-stand.js";

const ORDER = { type: "object", properties: { id: { type: "string" } } };
const SERVER = mcpServer("https://mcp.example/");

function tool(name: string, inputSchema: object = ORDER) {
  return knownMcpTool({
    name,
    description: "Does it",
    inputSchema: isJsonObject(inputSchema) ? inputSchema : {},
  });
}

function schemaOf(inputSchema: object): unknown {
  const known = tool("find", inputSchema);
  return "schema" in known ? known.schema : known.refusal;
}

test("the names of a server's tools stand behind the server's, in characters that LLM vendors take", () => {
  const { tools } = mcpOffer([SERVER], () => [tool("orders.find/one")], []);
  assert.deepEqual(
    tools.map(({ offeredAs, name }) => [offeredAs, name]),
    [["crm_orders_find_one", "orders.find/one"]],
  );
});

test("each tool that is left out has its reason", () => {
  const server = { ...SERVER, allowedTools: ["find", "far", "twice", "twice.", "wrong", "gone"] };
  const list = [
    tool("find"),
    tool("other"),
    tool("twice."),
    tool("twice_"),
    tool("wrong", { type: "object", properties: { a: { $ref: "https://a.example/b" } } }),
  ];
  const { tools, omitted } = mcpOffer([server], () => list, ["crm_find"]);
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["twice."],
  );
  assert.deepEqual(
    omitted.get(server)?.map(({ name, reason }) => `${name} ${reason}`),
    [
      "find nameTaken",
      "other notAllowed",
      "twice_ notAllowed",
      "wrong schemaRefused",
      "far notListed",
      "twice notListed",
      "gone notListed",
    ],
  );
  const long = mcpOffer([SERVER], () => [tool("a".repeat(61))], []);
  assert.equal(long.omitted.get(SERVER)?.[0]?.reason, "nameTooLong");
});

test("references are replaced, and what only narrows arguments is left to the server", () => {
  const flat = schemaOf({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: { size: { oneOf: [{ const: "S" }, { const: "L" }] } },
    properties: {
      size: { $ref: "#/$defs/size" },
      link: { type: "string", format: "uri", pattern: "^https" },
      pattern: { type: "string" },
    },
    required: ["size"],
    unevaluatedProperties: false,
  });
  assert.deepEqual(flat, {
    type: "object",
    properties: {
      size: { anyOf: [{ const: "S" }, { const: "L" }] },
      link: { type: "string" },
      pattern: { type: "string" },
    },
    required: ["size"],
  });
  assert.deepEqual(schemaOf({}), { type: "object" });
});

test("schemas that are too large, too deep, recursive or want headers are refused with the reason", () => {
  const big = { type: "object", description: "x".repeat(40_000) };
  assert.match(String(schemaOf(big)), /more than 32768 bytes/);
  let deep: object = { type: "string" };
  for (let level = 0; level < 30; level += 1) deep = { type: "object", properties: { deep } };
  assert.match(String(schemaOf(deep)), /larger or deeper/);
  const loop = {
    type: "object",
    properties: { a: { $ref: "#/$defs/a" } },
    $defs: { a: { items: { $ref: "#/$defs/a" } } },
  };
  assert.match(String(schemaOf(loop)), /leads to itself/);
  const header = { type: "object", properties: { a: { type: "string", "x-mcp-header": "A" } } };
  assert.match(String(schemaOf(header)), /x-mcp-header/);
});
