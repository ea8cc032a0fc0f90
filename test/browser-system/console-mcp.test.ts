import assert from "node:assert/strict";
import { test } from "node:test";
import { McpStand } from "../engine/tools/mcp-stand.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile({
  environment: { ALLOW_PRIVATE_PROVIDERS: "true" },
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
