import assert from "node:assert/strict";
import { test } from "node:test";
import type { ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { ended } from "../system/events.js";
import { eventually } from "../system/eventually.js";
import type { Customer } from "../system/test-server.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const HEADERS = { authorization: "Bearer of-nobody" };

const { server, browser } = await standOfFile();

async function editorOf(customer: Customer, id: string, tab = "prompt") {
  const viewer = await visitConsole(browser, server, customer);
  await viewer.page.goto(`${server.url}/console/agents/${id}?tab=${tab}`);
  await viewer.page.getByRole("heading", { level: 1, name: "Reception" }).waitFor();
  return viewer;
}

async function save(page: ViewerPage["page"]): Promise<void> {
  await page.getByRole("button", { name: "Save" }).click();
  await savedNote(page).waitFor();
}

function savedNote(page: ViewerPage["page"]) {
  return page.getByRole("status").getByText("Saved.", { exact: true });
}

test("fallbacks can be added, ordered with the keyboard alone, and removed", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const viewer = await editorOf(customer, id, "advanced");
  const { page } = viewer;
  const section = page.getByRole("region", { name: "Fallbacks" });
  const add = section.getByRole("button", { name: "Add an LLM" });
  for (const count of [1, 2, 3]) {
    await add.press("Enter");
    await section.getByRole("button", { name: `Remove LLM ${count}` }).waitFor();
  }
  assert.equal(await add.isDisabled(), true, "three fallbacks are the maximum");
  await section.getByRole("button", { name: "Add a TTS" }).press("Enter");
  await section.getByLabel("Speed").fill("1.2");
  await save(page);
  const fallbacksOf = async () => {
    const agent = await server.database.agents.findById(customer.tenant.organization.id, id);
    assert.ok(agent);
    return agent.fallbacks;
  };
  const { llm: before, tts } = await fallbacksOf();
  assert.equal(before.length, 3);
  assert.equal(tts[0]?.speed, 1.2);

  const up = section.getByRole("button", { name: "Move LLM 3 up" });
  await up.focus();
  await page.keyboard.press("Enter");
  await section.getByText("LLM 2 is now 2 of 3.").waitFor();
  // The focus has moved along: another press moves the row to the top, where only the button to move down is left.
  await page.keyboard.press("Enter");
  await section.getByText("LLM 1 is now 1 of 3.").waitFor();
  const focused = await page.evaluate("document.activeElement.getAttribute('aria-label')");
  assert.equal(focused, "Move LLM 1 down");
  await section.getByRole("button", { name: "Remove LLM 3" }).press("Enter");
  await save(page);
  assert.deepEqual((await fallbacksOf()).llm, [before[2], before[0]]);
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});

test("a tool can be described in a form, is stored with its secret, and can be edited as JSON", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const viewer = await editorOf(customer, id, "tools");
  const { page } = viewer;
  const section = page.getByRole("region", { name: "Tools" });
  const stored = async () => {
    const agent = await server.database.agents.findById(customer.tenant.organization.id, id);
    assert.ok(agent);
    return agent;
  };
  await section.getByRole("button", { name: "Ask a service" }).click();
  await section.getByLabel("Name of the tool").fill("find order");
  await section.getByLabel("What it does, and when").fill("Finds an order.");
  await section.getByLabel("Address").fill("https://shop.example.com/orders");
  await section.getByLabel("Secret headers").fill("authorization: Bearer of-nobody");
  await section.getByRole("button", { name: "Add a parameter" }).click();
  await section.getByLabel("Name of the parameter").fill("number");
  await section.getByLabel("Kind").selectOption("Whole number");
  await section.getByLabel("What it is").fill("As on the invoice");
  await section.getByLabel("Said when it starts").fill("One moment.");
  await section.getByLabel("Said when it takes long").fill("It takes longer.");
  await section.getByLabel("Takes long after").fill("2000");
  await section.getByLabel("Said when it fails").fill("It did not work.");
  await section.getByLabel("Abort it when the caller interrupts").check();
  await section.getByLabel("While it runs").selectOption("The agent speaks on, and reports");
  await page.getByRole("button", { name: "Save" }).click();
  await section.getByText(/a letter and up to 63 letters/).waitFor();
  await section.getByLabel("Name of the tool").fill("findOrder");
  await save(page);
  const { tools, sealedToolHeaders } = await stored();
  const [tool] = tools;
  assert.ok(tool?.type === "http");
  assert.deepEqual(tool.parameters, {
    type: "object",
    properties: { number: { type: "integer", description: "As on the invoice" } },
    required: ["number"],
  });
  assert.deepEqual([tool.onStart, tool.background], ["One moment.", "reply"]);
  assert.deepEqual([tool.onDelay, tool.onDelayMs], ["It takes longer.", 2_000]);
  assert.deepEqual([tool.onFailure, tool.cancellable], ["It did not work.", true]);
  assert.equal(await section.getByLabel("Secret headers").inputValue(), "", "it is never shown");

  await section.getByRole("button", { name: "Hang up" }).click();
  await section.getByRole("button", { name: "Edit as JSON" }).click();
  const text = section.getByLabel("Tools, as JSON");
  const written = await text.inputValue();
  assert.ok(!written.includes(HEADERS.authorization));
  await text.fill("[");
  await section.getByText("expected a list of tools, in JSON").waitFor();
  assert.equal(await page.getByRole("button", { name: "Save" }).isDisabled(), true);
  await text.fill(written.replace("Finds an order.", "Finds any order."));
  await section.getByRole("button", { name: "Edit as JSON" }).click();
  const description = section.getByLabel("What it does, and when");
  await eventually("the form to show what the JSON says", async () =>
    (await description.inputValue()) === "Finds any order." ? true : undefined,
  );
  await save(page);
  const changed = await stored();
  const [kept, other] = changed.tools;
  assert.ok(kept?.type === "http");
  assert.equal(kept.description, "Finds any order.");
  assert.ok(sealedToolHeaders !== null);
  assert.equal(changed.sealedToolHeaders, sealedToolHeaders, "the secret stays");
  assert.equal(other?.type, "hangup");

  const trials = page.getByRole("region", { name: "Try a tool" });
  await trials.getByLabel("Tool").selectOption("findOrder");
  await trials.getByRole("button", { name: "Write the arguments as JSON" }).click();
  await trials.getByLabel("Arguments, as JSON").fill('{"number": "seven"}');
  await trials.getByRole("button", { name: "Run the tool" }).click();
  await trials
    .getByLabel("Result for the LLM")
    .getByText(/the arguments do not fit/)
    .waitFor();
  const shown = await trials.getByLabel("Request").textContent();
  assert.match(shown ?? "", /"authorization": "\[hidden\]"/);

  await section.getByRole("button", { name: "Ask the page" }).click();
  await section.getByLabel("Name of the tool").last().fill("showOrder");
  await section.getByLabel("What it does, and when").last().fill("Shows an order.");
  await save(page);
  const about = { description: "Shows an order.", timeoutMs: 5_000 };
  const parameters = { type: "object", properties: {} };
  assert.deepEqual((await stored()).tools.at(-1), {
    type: "client",
    name: "showOrder",
    parameters,
    ...about,
  });
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});

test("the agent's phrases are typed one per line, stored, shown again, and removed", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const viewer = await editorOf(customer, id, "turns");
  const { page } = viewer;
  const stored = async () => {
    const agent = await server.database.agents.findById(customer.tenant.organization.id, id);
    assert.ok(agent);
    return agent;
  };
  const tab = (name: string) =>
    page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name }).click();
  const backchannels = page.getByLabel("Backchannels of your callers");
  await backchannels.fill("right on mate\n\n  fair dinkum ");
  await page.getByLabel("Phrases that always interrupt").fill("hold on");
  await tab("Advanced");
  await page.getByLabel("A reply is late (filler phrases)").fill("Let me look.\nNearly there.");
  await page.getByLabel("The caller says nothing").fill("Hello?");
  await save(page);
  const { thresholds, persona } = await stored();
  assert.deepEqual(thresholds.backchannelPhrases, ["right on mate", "fair dinkum"]);
  assert.deepEqual(thresholds.interruptionPhrases, ["hold on"]);
  const waiting = ["Let me look.", "Nearly there."];
  assert.deepEqual(persona.stockPhrases, { waiting, stillThere: "Hello?" });
  assert.deepEqual(await barriers(viewer), []);

  await page.reload();
  await page.getByLabel("The caller says nothing").waitFor();
  await tab("Turn taking");
  assert.equal(await backchannels.inputValue(), "right on mate\nfair dinkum");
  await backchannels.fill("x".repeat(81));
  await tab("Advanced");
  await page.getByLabel("The caller says nothing").fill("");
  await page.getByLabel("A reply is late (filler phrases)").fill("");
  await page.getByRole("button", { name: "Save" }).click();
  const wrong = "Expected a phrase, text of 1 to 80 characters.";
  await page.getByText(wrong, { exact: true }).waitFor();
  const focused = "document.activeElement.getAttribute('aria-invalid')";
  await eventually("the field that is wrong to have the focus, in its tab", async () =>
    (await page.evaluate(focused)) === "true" ? true : undefined,
  );
  await backchannels.fill("");
  await save(page);
  const after = await stored();
  assert.deepEqual(after.persona.stockPhrases, {});
  assert.deepEqual(after.thresholds.backchannelPhrases, []);
});

test("text typed while a change is being saved is kept, and saved with the next click", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const viewer = await editorOf(customer, id, "advanced");
  const { page } = viewer;
  const answers: (() => void)[] = [];
  await page.route(`${server.url}/api/dashboard/agents/${id}`, async (route) => {
    if (route.request().method() !== "PATCH") return route.fallback();
    const response = await route.fetch();
    await new Promise<void>((resolve) => answers.push(resolve));
    await route.fulfill({ response });
  });
  const answer = () =>
    eventually("the request to be answered by the server", async () => answers.shift());
  const nameOf = async () =>
    (await server.database.agents.findById(customer.tenant.organization.id, id))?.name;
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("Front desk");
  await page.getByRole("button", { name: "Save" }).click();
  const first = await answer();
  await name.fill("Front desk, by day");
  first();
  await page.getByRole("button", { name: "Save", disabled: false }).waitFor();
  assert.equal(await name.inputValue(), "Front desk, by day");
  assert.equal(await nameOf(), "Front desk");
  await page.getByRole("button", { name: "Save" }).click();
  (await answer())();
  await savedNote(page).waitFor();
  assert.equal(await nameOf(), "Front desk, by day");
  assert.deepEqual(viewer.faults, []);
});
test("a voice can be played, chosen with the keyboard, and stored in the agent", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const viewer = await editorOf(customer, id, "voice");
  const { page } = viewer;
  const list = page.getByRole("group", { name: "Voice" });
  await list
    .getByRole("button", { name: /^Play / })
    .first()
    .click();
  await list.getByText(/^First audio after /).waitFor();
  await list.getByLabel("Voice id").fill("coral");
  await save(page);
  const orgId = customer.tenant.organization.id;
  const stored = async () => (await server.database.agents.findById(orgId, id))?.ttsConfig.voice;
  assert.equal(await stored(), "coral");
  await list.getByRole("radio", { name: /own voice/ }).focus();
  await page.keyboard.press("Space");
  await save(page);
  assert.equal(await stored(), null);
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});

test("a model's latency in the organization's own calls is shown beside it", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { persona: { greeting: "Good day." } });
  const viewer = await editorOf(customer, id, "model");
  const { page } = viewer;
  await page.getByText("Latency: not measured yet.").first().waitFor();
  const caller = await server.call(customer);
  if (!caller.events.some(ended)) await caller.until(ended);
  await caller.say("my name is Ada");
  await caller.until(ended);
  await caller.hangUp();
  await page.reload();
  await page
    .getByText(/^Latency: first token after \d.* \(median of 1 turn in 14 days\)\.$/)
    .waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("link", { name: "Voice", exact: true }).click();
  await page.getByText(/^Latency: first audio after /).waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("an agent can be duplicated, exported to a file, and imported from it", async () => {
  const customer = await server.customer();
  const texts = { language: "de-DE", greeting: "Guten Tag.", stockPhrases: { waiting: ["Hm."] } };
  const persona = { languages: ["de-DE"], languageTexts: [texts] };
  const { id } = await server.agent(customer, { sttModelId: "nova-3", persona });
  const viewer = await editorOf(customer, id);
  const { page } = viewer;
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  const file = await (await download).path();
  await page.getByRole("button", { name: "Duplicate" }).click();
  await page.getByRole("heading", { level: 1, name: "Reception (copy)" }).waitFor();
  await page.goto(`${server.url}/console/agents`);
  await page.getByRole("button", { name: "Import" }).waitFor();
  await page.getByLabel("File of an agent").setInputFiles(file);
  await page.getByRole("heading", { level: 1, name: "Reception" }).waitFor();
  const made = /agents\/([^?]+)/.exec(page.url())?.[1];
  assert.ok(made !== undefined && made !== id);
  const orgId = customer.tenant.organization.id;
  const [old, copy] = await Promise.all(
    [id, made].map((each) => server.database.agents.findById(orgId, each)),
  );
  assert.deepEqual(copy?.persona, old?.persona);
  assert.deepEqual(copy?.persona.languageTexts, [texts]);
  assert.deepEqual(copy?.thresholds, old?.thresholds);
  assert.deepEqual(viewer.faults, []);
});

test("an analysis can be switched on with a schema, whose text is kept while it is not valid JSON", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const viewer = await editorOf(customer, id, "analysis");
  const { page } = viewer;
  await page.getByLabel("Analyze calls").check();
  const schema = page.getByLabel("Data to extract, as JSON Schema");
  await schema.fill('{ "type": "object", "properties": { "topic": { "type": "string" } } }');
  await page.getByLabel("Share of calls, in percent").fill("50");
  await save(page);
  const analysisOf = async () => {
    const agent = await server.database.agents.findById(customer.tenant.organization.id, id);
    return agent?.analysis;
  };
  const stored = await analysisOf();
  assert.deepEqual(stored?.schema, {
    type: "object",
    properties: { topic: { type: "string" } },
  });
  assert.equal(stored.sampleRate, 0.5);
  await schema.fill("{ ");
  await page.getByText("expected a JSON object; not saved yet").waitFor();
  await schema.fill("");
  await save(page);
  assert.equal((await analysisOf())?.schema, null);
  assert.deepEqual(await barriers(viewer), []);
});

test("other languages and their voices are set, and greyed out with the reason where the STT cannot tell them", async () => {
  const customer = await server.customer();
  const edge = await server.providerId("tts", "edge");
  const deepgram = await server.providerId("stt", "deepgram");
  const { id } = await server.agent(customer, { sttModelId: "nova-3" }, { tts: "edge" });
  const viewer = await editorOf(customer, id, "voice");
  const { page } = viewer;
  const stored = async () => {
    const agent = await server.database.agents.findById(customer.tenant.organization.id, id);
    assert.ok(agent);
    return agent;
  };
  const section = page.getByRole("region", { name: "Other languages" });
  const add = section.getByRole("button", { name: "Add a language" });
  await add.click();
  assert.equal(await add.isDisabled(), true, "the blank one comes first");
  await section.getByRole("textbox", { name: "Language" }).fill("en-GB");
  await page.getByRole("button", { name: "Save" }).click();
  await section
    .locator(".wrong")
    .getByText(/is the same language/)
    .waitFor();
  await section.getByRole("textbox", { name: "Language" }).fill("de-DE");
  await section.getByRole("checkbox", { name: "A voice of its own" }).check();
  await section
    .getByRole("combobox", { name: "TTS model" })
    .selectOption(`${edge} de-DE-KatjaNeural`);
  await save(page);
  const { persona, ttsConfig } = await stored();
  assert.deepEqual(persona.languages, ["de-DE"]);
  assert.deepEqual(ttsConfig.languageVoices, [
    { language: "de-DE", providerId: edge, modelId: "de-DE-KatjaNeural", voice: null },
  ]);
  const texts = section.getByText("First sentence and phrases in this language");
  await texts.click();
  await section.getByRole("textbox", { name: "First sentence" }).fill("Guten Tag, {{name}}.");
  await page.getByRole("button", { name: "Save" }).click();
  await section
    .locator(".wrong")
    .getByText(/needs a default/)
    .waitFor();
  await section.getByRole("textbox", { name: "First sentence" }).fill("Guten Tag.");
  await section.getByRole("textbox", { name: "The caller says nothing" }).fill("Hallo?");
  await save(page);
  assert.deepEqual((await stored()).persona.languageTexts, [
    { language: "de-DE", greeting: "Guten Tag.", stockPhrases: { stillThere: "Hallo?" } },
  ]);
  await section.getByRole("button", { name: "Add a language" }).click();
  await section.getByRole("textbox", { name: "Language" }).last().pressSequentially("de-DE-1996");
  const sentences = section.getByLabel("First sentence");
  const typed = await Promise.all([sentences.first().inputValue(), sentences.last().inputValue()]);
  assert.deepEqual(typed, ["Guten Tag.", ""], "the other language's texts stay its own");
  await section.getByRole("button", { name: "Remove de-DE-1996" }).click();
  assert.deepEqual(await barriers(viewer), []);

  await page.getByRole("link", { name: "Model", exact: true }).click();
  await page
    .getByRole("combobox", { name: "STT model" })
    .selectOption(`${deepgram} flux-general-en`);
  await page.getByRole("link", { name: "Voice", exact: true }).click();
  await section.getByText(/Flux \(English\) does not tell which language is spoken/).waitFor();
  assert.equal(await add.isDisabled(), true);
  assert.equal(await section.getByRole("textbox", { name: "Language" }).isDisabled(), true);
  await page.getByRole("button", { name: "Save" }).click();
  await section.getByText(/these do: deepgram\/nova-3/).waitFor();
  await section.getByRole("button", { name: "Remove de-DE" }).click();
  await save(page);
  assert.deepEqual((await stored()).ttsConfig.languageVoices, []);
  assert.deepEqual((await stored()).persona.languageTexts, []);
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
  await viewer.close();
});

test("a tool's sentences are written for each language, and go with the tool", async () => {
  const customer = await server.customer();
  const tool = { type: "client", name: "look", description: "Looks.", timeoutMs: 1_000 } as const;
  const parameters = { type: "object", properties: {} };
  const own = { ...tool, parameters, onStart: "One moment.", onFailure: "It failed." };
  const { id } = await server.agent(customer, {
    sttModelId: "nova-3",
    tools: [own],
    persona: { languages: ["de-DE"] },
  });
  const viewer = await editorOf(customer, id, "voice");
  const { page } = viewer;
  const stored = async () =>
    (await server.database.agents.findById(customer.tenant.organization.id, id))?.persona
      .languageTexts;
  const section = page.getByRole("region", { name: "Other languages" });
  await section.getByText("What tools say in this language").click();
  const start = section.getByRole("textbox", { name: "look: Said when it starts" });
  await start.fill("Moment, {{first-name|bitte}}.");
  await page.getByRole("button", { name: "Save" }).click();
  await section
    .locator(".wrong")
    .getByText(/only around a name/)
    .waitFor();
  await start.fill("Moment, {{firstName|bitte}}.");
  await save(page);
  const toolSentences = { look: { onStart: "Moment, {{firstName|bitte}}." } };
  assert.deepEqual(await stored(), [
    { language: "de-DE", greeting: null, stockPhrases: {}, toolSentences },
  ]);
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
  await viewer.close();
});

test("keyterms, pronunciations and the request before the call can be set, are stored and shown again", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const viewer = await editorOf(customer, id, "model");
  const { page } = viewer;
  const stored = async () => {
    const agent = await server.database.agents.findById(customer.tenant.organization.id, id);
    assert.ok(agent);
    return agent;
  };
  const tab = (name: string) => page.getByRole("link", { name, exact: true }).click();
  const terms = page.getByRole("textbox", { name: "Names and terms that callers say" });
  await terms.fill("Nguyen\n{{customer}}");
  await page.getByRole("button", { name: "Save" }).click();
  await page
    .locator(".wrong")
    .getByText(/needs a default/)
    .waitFor();
  await terms.fill("Nguyen\n{{customer|Siobhan}}");
  await save(page);
  assert.deepEqual((await stored()).persona.keyterms, ["Nguyen", "{{customer|Siobhan}}"]);
  assert.deepEqual(await barriers(viewer), []);

  await tab("Voice");
  const pronunciation = page.getByRole("textbox", { name: "Pronunciation" });
  await pronunciation.fill("Nguyen = win\nNew York = noo yawk");
  await save(page);
  assert.deepEqual((await stored()).persona.pronunciations, [
    { word: "Nguyen", say: "win" },
    { word: "New York", say: "noo yawk" },
  ]);

  await tab("Phone and web");
  await page.getByRole("checkbox", { name: "Ask a service of yours before each call" }).check();
  await page.getByRole("textbox", { name: "URL of the service" }).fill("https://crm.example.com/");
  await page.getByRole("spinbutton", { name: "Time limit, ms" }).fill("1500");
  const headers = page.getByRole("textbox", { name: "Secret headers of the request" });
  await headers.fill("x-secret: our own secret");
  await save(page);
  const { preCall, sealedPreCall } = await stored();
  assert.deepEqual(preCall, {
    url: "https://crm.example.com/",
    timeoutMs: 1_500,
    headerNames: ["x-secret"],
    isSigned: false,
  });
  await page.getByText("Saved: x-secret.").waitFor();
  assert.equal(await headers.inputValue(), "");
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("spinbutton", { name: "Time limit, ms" }).fill("900");
  await save(page);
  const later = await stored();
  assert.equal(later.preCall?.timeoutMs, 900);
  assert.equal(later.sealedPreCall, sealedPreCall, "the headers stay");

  const sign = page.getByRole("checkbox", { name: "Sign the requests" });
  const secret = page.getByLabel("Signing secret");
  await sign.check();
  await secret.fill("too short");
  assert.equal(await secret.getAttribute("type"), "password");
  await page.getByRole("button", { name: "Save" }).click();
  await page
    .locator(".wrong")
    .getByText(/whsec_ and 24 to 64 bytes/)
    .waitFor();
  await page.getByRole("button", { name: "Make a secret" }).click();
  assert.match(await secret.inputValue(), /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(await secret.getAttribute("type"), "text", "it can be copied once");
  await save(page);
  await page.getByText("One is saved. Empty: it stays as it is.").waitFor();
  assert.equal(await secret.inputValue(), "");
  const signed = await stored();
  assert.deepEqual([signed.preCall?.isSigned, signed.preCall?.headerNames], [true, ["x-secret"]]);
  await secret.fill(`whsec_${"A".repeat(32)}`);
  await save(page);
  assert.notEqual((await stored()).sealedPreCall, signed.sealedPreCall, "it is another one");
  assert.deepEqual(await barriers(viewer), []);
  await sign.uncheck();
  await save(page);
  assert.equal((await stored()).preCall?.isSigned, false);

  await page.getByRole("checkbox", { name: "Ask a service of yours before each call" }).uncheck();
  await save(page);
  assert.equal((await stored()).preCall, null);

  const placed = page.getByRole("region", { name: "Calls that it places" });
  const message = placed.getByRole("textbox", { name: "Message for answering machines" });
  await message.fill("Hello {{name}}, please call back.");
  await page.getByRole("button", { name: "Save" }).click();
  await placed.getByText(/\{\{name\}\} needs a default/).waitFor();
  await message.fill("Please call back.");
  await placed
    .getByRole("combobox", { name: "Until the vendor knows whether a person answered" })
    .selectOption({ label: "Waits in silence" });
  await save(page);
  assert.deepEqual((await stored()).persona.outbound, {
    voicemailMessage: "Please call back.",
    screeningAnswer: null,
    whileDetecting: "wait",
  });
  await message.fill("");
  await save(page);
  assert.equal((await stored()).persona.outbound.voicemailMessage, null);
  assert.deepEqual(viewer.faults, []);
  await viewer.close();
});
