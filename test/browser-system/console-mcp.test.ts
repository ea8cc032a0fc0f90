import assert from "node:assert/strict";
import { test } from "node:test";
import { McpStand } from "../engine/tools/mcp-stand.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile({
  environment: { ALLOW_PRIVATE_PROVIDERS: "true" },
});

test("a tool of an MCP server is tried with fields for its arguments, and with JSON, and shows what its LLM would get", async (context) => {
  const stand = new McpStand();
  stand.bearer = "the-secret-token";
  const properties = {
    order: { type: "string", description: "The number of the order." },
    guests: { type: "integer" },
    isUrgent: { type: "boolean" },
    days: { type: "array", items: { type: "string" } },
  };
  const inputSchema = { type: "object", properties, required: ["order"] };
  const run = (given: object) => ({ given, token: stand.seen.at(-1)?.headers.authorization });
  stand.tools = ["find_order", "delete_all"].map((name) => ({ name, inputSchema, run }));
  await stand.start();
  context.after(() => stand.close());
  const customer = await server.customer();
  const { id } = await server.agent(customer, {
    mcpServers: [
      {
        name: "crm",
        url: stand.url,
        auth: { type: "bearer", token: stand.bearer },
        allowedTools: ["find_order"],
        timeoutMs: 5_000,
      },
    ],
  });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/agents/${id}?tab=tools`);
  const trials = page.getByRole("region", { name: "Try a tool" });
  await trials.getByLabel("Tool").selectOption("crm_find_order (MCP server crm)");
  const left = page.getByRole("region", { name: "Tools of the MCP servers" });
  await left.getByText("it is not in allowedTools").waitFor();
  const runs = trials.getByRole("button", { name: "Run the tool" });
  const result = trials.getByLabel("Result for the LLM");
  await trials.getByLabel("guests (optional)").fill("four");
  await trials.getByText("expected a number").waitFor();
  assert.equal(await runs.isDisabled(), true);
  await trials.getByLabel("guests (optional)").fill("4");
  await runs.click();
  await result.getByText(/the arguments do not fit: .*order/).waitFor();
  await trials.getByText("It failed, in").waitFor();

  await trials.getByLabel("order", { exact: true }).fill("12");
  await trials.getByText("The number of the order.").waitFor();
  await trials.getByLabel("isUrgent (optional)").selectOption("true");
  await trials.getByLabel("days (optional, JSON)").fill('["Monday"]');
  await runs.click();
  const given = '"given":{"order":"12","guests":4,"isUrgent":true,"days":["Monday"]}';
  await result.getByText(given).waitFor();
  const shown = await trials.textContent();
  assert.match(shown ?? "", /It worked, in \d+ ms\./);
  assert.match(shown ?? "", /"authorization": "\[hidden\]"/);
  assert.match(shown ?? "", /"token":"Bearer \[hidden\]"/);

  await trials.getByRole("button", { name: "Write the arguments as JSON" }).click();
  const text = trials.getByLabel("Arguments, as JSON");
  assert.deepEqual(JSON.parse(await text.inputValue()).days, ["Monday"]);
  await text.fill('{"order":"13"}');
  await trials.getByRole("button", { name: "Write the arguments as JSON" }).click();
  assert.equal(await trials.getByLabel("order", { exact: true }).inputValue(), "13");
  assert.equal(await trials.getByLabel("guests (optional)").inputValue(), "");
  stand.status = 500;
  await runs.click();
  await result.getByText(/"ok":false/).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});

test("an MCP server can be added with its token, and its tools are shown, including those that are left out", async (context) => {
  const stand = new McpStand();
  stand.bearer = "the-token";
  stand.tools = ["find_order", "delete_all"].map((name) => ({
    name,
    description: `Does ${name}`,
    run: () => ({}),
  }));
  await stand.start();
  context.after(() => stand.close());
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/agents/${id}?tab=tools`);
  const section = page.getByRole("region", { name: "MCP servers", exact: true });
  await section.getByRole("button", { name: "Add an MCP server" }).click();
  await section.getByLabel("Name of the server").fill("my crm");
  await section.getByLabel("Address").fill(stand.url);
  await section.getByLabel("Authorization").selectOption("Bearer token");
  await section.getByLabel("Token").fill("the-token");
  await section.getByLabel("Allowed tools").fill("find_order\n");
  await page.getByRole("button", { name: "Save" }).click();
  await section.getByText(/a letter and up to 19 letters/).waitFor();
  await section.getByLabel("Name of the server").fill("crm");
  await page.getByRole("button", { name: "Save" }).click();
  const saved = page.getByRole("status").getByText("Saved.", { exact: true });
  await saved.waitFor();
  assert.equal(await section.getByLabel("Token").inputValue(), "", "it is never shown");

  const tools = page.getByRole("region", { name: "Tools of the MCP servers" });
  await tools.getByText("crm_find_order").waitFor();
  await tools.getByText("it is not in allowedTools").waitFor();
  await tools.getByText("1 offered · 1 left out · protocol 2026-07-28").waitFor();

  await section.getByLabel("Allowed tools").fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await tools.getByText("crm_delete_all").waitFor();
  const agent = await server.database.agents.findById(customer.tenant.organization.id, id);
  const [stored] = agent?.mcpServers ?? [];
  assert.deepEqual(
    [stored?.name, stored?.auth, stored?.allowedTools],
    ["crm", { type: "bearer" }, null],
  );

  stand.bearer = "another-token";
  await tools.getByRole("button", { name: "Ask the servers again" }).click();
  await tools.getByText(/did not accept the credentials/).waitFor();
  await tools.getByText("crm_find_order").waitFor();
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});
