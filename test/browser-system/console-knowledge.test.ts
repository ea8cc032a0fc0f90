import assert from "node:assert/strict";
import { test } from "node:test";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile({
  environment: {
    ALLOW_PRIVATE_PROVIDERS: "true",
    EMBEDDING_MODELS: "openai/text-embedding-3-large",
  },
});

test("documents are uploaded, chosen for an agent, and deleted once no agent uses them", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.getByRole("link", { name: "Knowledge" }).click();
  await page.getByRole("heading", { name: "No documents yet" }).waitFor();
  await page.getByLabel("Documents", { exact: true }).setInputFiles([
    { name: "hours.md", mimeType: "text/markdown", buffer: Buffer.from("# Hours\nOpen at nine.") },
    { name: "lie.pdf", mimeType: "application/pdf", buffer: Buffer.from("words") },
  ]);
  await page.getByText('"lie.pdf" is not a PDF, although its name or type says so').waitFor();
  await page.getByText("ready", { exact: true }).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByLabel("Documents", { exact: true }).setInputFiles([
    { name: "letter.docx", mimeType: "application/zip", buffer: Buffer.from("PK") },
    { name: "long.html", mimeType: "text/html", buffer: Buffer.alloc(30_000_000, "word ") },
  ]);
  await page.getByText(/letter\.docx: .*export other documents as PDF/).waitFor();
  await page.getByText(/long\.html: .*at most 10485760 bytes/).waitFor();

  await page.getByRole("link", { name: "Agents" }).click();
  await page.getByRole("link", { name: agent.name }).first().click();
  const tabs = page.getByRole("navigation", { name: "Settings" });
  await tabs.getByRole("link", { name: "Knowledge" }).click();
  await page.getByLabel("hours.md").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  assert.deepEqual(await barriers(viewer), []);
  const stored = await server.database.agents.findById(agent.orgId, agent.id);
  assert.equal(stored?.knowledge.documentIds.length, 1);

  await page.getByRole("link", { name: "Knowledge" }).first().click();
  await page.getByRole("cell", { name: agent.name }).waitFor();
  await page.getByRole("button", { name: "Delete hours.md" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete hours.md?" });
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.getByText(/agents use the document/i).waitFor();
  await dialog.getByRole("button", { name: "Keep it" }).click();
  await page.getByRole("button", { name: "Delete lie.pdf" }).click();
  await page
    .getByRole("dialog", { name: "Delete lie.pdf?" })
    .getByRole("button", { name: "Delete" })
    .click();
  await page.getByText("lie.pdf").first().waitFor({ state: "detached" });
});

test("a document can be deleted on a phone, without scrolling sideways", async () => {
  const customer = await server.customer();
  const url = `${server.url}/api/dashboard/knowledge/documents`;
  for (const name of ["opening-hours-of-the-shop.md", "lie.pdf"]) {
    const headers = { "x-api-key": customer.apiKey };
    const body = "# Hours\nOpen at nine.";
    const made = await fetch(`${url}?name=${name}`, { method: "POST", headers, body });
    assert.equal(made.status, 201);
  }
  const phone = { viewport: { width: 390, height: 844 } };
  const { page } = await visitConsole(browser, server, customer, phone);
  await page.getByRole("link", { name: "Knowledge" }).click();
  const remove = page.getByRole("button", { name: "Delete lie.pdf" });
  await remove.waitFor();
  const box = await remove.boundingBox();
  assert.ok(box !== null && box.x + box.width <= 390, JSON.stringify(box));
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
});

test("an embedding model is tried, chosen, shown at each document, and switched off", async () => {
  const customer = await server.customer();
  const { faults, urls } = server.sandbox;
  await server.tenancy.providers.create(customer.tenant, {
    category: "llm",
    providerKey: "openai",
    name: "Our OpenAI",
    credentials: { apiKey: "own-key" },
    models: [{ modelId: "gpt-6-luna", label: "Luna" }],
    settings: { baseUrl: urls.openai },
  });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.getByRole("link", { name: "Knowledge" }).click();
  const lines = Array.from({ length: 200 }, (_each, index) => `Shelf ${index} holds boxes.`);
  await page.getByLabel("Documents", { exact: true }).setInputFiles([
    { name: "stock.md", mimeType: "text/markdown", buffer: Buffer.from(lines.join("\n\n")) },
    { name: "hours.md", mimeType: "text/markdown", buffer: Buffer.from("# Hours\nOpen at nine.") },
  ]);
  await page.getByText("ready", { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Choose a model" }).click();
  const dialog = page.getByRole("dialog", { name: "Choose an embedding model" });
  await dialog.getByLabel("Provider").selectOption({ label: "OpenAI" });
  await dialog.getByLabel("Model").selectOption("text-embedding-3-large");
  assert.deepEqual(await barriers(viewer), []);
  await dialog.getByLabel("Provider").selectOption({ label: "Our OpenAI" });
  await dialog.getByLabel("Model").fill("no-such-model");
  await dialog.getByRole("button", { name: "Try and save" }).click();
  await dialog.getByText(/does not know the model/).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await dialog.getByLabel("Model").fill("text-embedding-3-small");
  await dialog.getByLabel("Dimensions").fill("64");
  await dialog.getByRole("button", { name: "Try and save" }).click();
  await page.getByText(/text-embedding-3-small, 64 dimensions\./).waitFor();
  await page.getByText("embedded", { exact: true }).waitFor();
  await page.getByText("whole in the prompt").waitFor();
  assert.deepEqual(await barriers(viewer), []);

  faults.openaiEmbeddings = { fault: "quotaExceeded" };
  await page
    .getByLabel("Documents", { exact: true })
    .setInputFiles([
      { name: "more.md", mimeType: "text/markdown", buffer: Buffer.from(lines.join("\n\n")) },
    ]);
  await page.getByText("not embedded").waitFor();
  await page.getByText(/no quota left.*Documents are found by their words/).waitFor();
  await page.getByRole("button", { name: "Switch off embeddings" }).click();
  const confirm = page.getByRole("dialog", { name: "Switch off embeddings?" });
  await confirm.getByRole("button", { name: "Switch off" }).click();
  await page.getByText(/^Off: documents are found by their words/).waitFor();
});
