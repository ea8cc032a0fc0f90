import assert from "node:assert/strict";
import { test } from "node:test";
import { knownMcpTool, mcpOffer } from "../../../engine/tools/mcp-offer.js";
import { isJsonObject } from "../../../storage/records.js";
import { mcpServer } from "./mcp-stand.js";

const ORDER = { type: "object", properties: { id: { type: "string" } } };
const SERVER = mcpServer("https://mcp.example/");

function tool(name: string, inputSchema: object = ORDER) {
  return knownMcpTool(
    {
      name,
      description: "Does it",
      inputSchema: isJsonObject(inputSchema) ? inputSchema : {},
      needsTask: name === "slow",
    },
    "modern",
  );
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
  const server = {
    ...SERVER,
    allowedTools: ["find", "far", "twice", "twice.", "wrong", "slow", "gone"],
  };
  const list = [
    tool("find"),
    tool("other"),
    tool("twice."),
    tool("twice_"),
    tool("wrong", { type: "object", properties: { a: { $ref: "https://a.example/b" } } }),
    tool("slow"),
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
      "slow taskRequired",
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

test("schemas that are too large, too deep or recursive are refused with the reason", () => {
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
});

test("a tool whose marks for headers break the specification's rules is refused with the reason; an older server has none", () => {
  const marked = { type: "string", "x-mcp-header": "Region" };
  const object = (properties: object, more: object = {}) => ({
    type: "object",
    properties,
    ...more,
  });
  assert.deepEqual(schemaOf(object({ region: marked })), object({ region: { type: "string" } }));
  const many = Array.from({ length: 17 }, (_, n) => [
    `p${n}`,
    { type: "string", "x-mcp-header": `H${n}` },
  ]);
  const refused: readonly (readonly [RegExp, object])[] = [
    [/region has a name that no header/, object({ region: { ...marked, "x-mcp-header": "" } })],
    [/name that no header/, object({ region: { ...marked, "x-mcp-header": "a\r\nCookie" } })],
    [/name that no header/, object({ region: { ...marked, "x-mcp-header": "a b" } })],
    [/name that no header/, object({ region: { ...marked, "x-mcp-header": "a".repeat(65) } })],
    [/name that no header/, object({ region: { ...marked, "x-mcp-header": 7 } })],
    [/region is not a string/, object({ region: { ...marked, type: "number" } })],
    [/not a string/, object({ region: { ...marked, type: "object" } })],
    [/same header/, object({ a: marked, b: { ...marked, "x-mcp-header": "REGION" } })],
    [/one place/, object({ list: { type: "array", items: marked } })],
    [/one place/, object({ region: { anyOf: [marked] } })],
    [/one place/, object({ region: { $ref: "#/$defs/r" } }, { $defs: { r: marked } })],
    [/one place/, { ...object({}), "x-mcp-header": "Region" }],
    [/more than 16 headers/, object(Object.fromEntries(many))],
  ];
  for (const [reason, schema] of refused) assert.match(String(schemaOf(schema)), reason);
  const nested = object({ where: object({ region: marked }) });
  const known = tool("find", nested);
  assert.deepEqual("headers" in known && known.headers, [
    { path: ["where", "region"], header: "Region" },
  ]);
  const data = object({ region: { type: "string", default: { "x-mcp-header": "a b" } } });
  assert.equal(typeof schemaOf(data), "object");
  const wrong = object({ region: { ...marked, "x-mcp-header": "a b" } });
  const inputSchema = isJsonObject(wrong) ? wrong : {};
  const older = knownMcpTool(
    { name: "find", description: "", inputSchema, needsTask: false },
    "legacy",
  );
  assert.deepEqual("headers" in older && older.headers, []);
});
