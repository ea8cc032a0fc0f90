import { createHash } from "node:crypto";
import { REQUEST_COMPONENTS } from "./components.js";
import { DOCS_SCRIPT, DOCS_STYLE } from "./docs-assets.js";
import { anchor, codeBlock, escapeHtml, nameCell, prose, table } from "./docs-markup.js";
import {
  type Endpoint,
  operationAnchor,
  operationSection,
  schemaSection,
} from "./docs-operation.js";
import type { OpenApiDocument } from "./openapi.js";
import { QUICK_START } from "./quick-start.js";
import type { VOICE_PROTOCOL } from "./voice-protocol.js";

export interface DocsPage {
  readonly html: string;
  /** Allows the page its own style and script, and nothing from anywhere else. */
  readonly contentSecurityPolicy: string;
}

interface Group {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
}

/** The OpenAPI document as one page that needs neither the internet nor a build. */
export function docsPage(document: OpenApiDocument): DocsPage {
  const { info, components } = document;
  const groups = groupsOf(document);
  const title = `${escapeHtml(info.title)} API`;
  const schemas = Object.entries(components.schemas)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => {
      const marked = Object.hasOwn(REQUEST_COMPONENTS, name) ? "required" : "optional";
      return schemaSection(name, marked, schema, components.schemas);
    });
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${DOCS_STYLE}</style></head><body>
<nav aria-label="Contents"><input id="filter" type="search" placeholder="Filter (press /)" aria-label="Filter endpoints and schemas">
<details id="menu" open><summary>Contents</summary><div>${contents(groups)}</div></details></nav>
<main><h1>${title}</h1><p>${prose(info.description)} Version ${escapeHtml(info.version)}.</p>
<p id="nothing" hidden>Nothing fits the filter.</p>
${section("start", "How to start", QUICK_START)}
${groups.map((group) => groupSection(group, document)).join("\n")}
${section("websocket", "Voice WebSocket", document["x-websockets"].map(webSocketPart).join(""))}
${section("schemas", "Schemas", schemas.join("\n"))}
</main><script>${DOCS_SCRIPT}</script></body></html>`;
  return { html, contentSecurityPolicy: policy() };
}

function groupsOf({ paths, tags }: OpenApiDocument): readonly Group[] {
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  return tags.map(({ name }) => ({
    name,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(name)),
  }));
}

function policy(): string {
  return [
    "default-src 'none'",
    `style-src ${hashOf(DOCS_STYLE)}`,
    `script-src ${hashOf(DOCS_SCRIPT)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

function contents(groups: readonly Group[]): string {
  const parts = groups.map(({ name, endpoints }) => {
    const links = endpoints.map(
      (endpoint) =>
        `<a href="#${operationAnchor(endpoint)}"><span class="verb ${endpoint.method}">${endpoint.method.toUpperCase()}</span> ${escapeHtml(shortPath(endpoint.path))}</a>`,
    );
    return `<a class="top" href="#${anchor("group", name)}">${escapeHtml(name)}</a>${links.join("")}`;
  });
  return `<a class="top" href="#start">How to start</a>${parts.join("\n")}
<a class="top" href="#websocket">Voice WebSocket</a><a class="top" href="#schemas">Schemas</a>
<a class="top" href="/api/openapi.json">openapi.json</a>`;
}

function shortPath(path: string): string {
  return path.replace(/^\/api(?:\/dashboard)?/, "");
}

function section(id: string, title: string, inside: string): string {
  return `<section><h2 id="${id}">${escapeHtml(title)}</h2>${inside}</section>`;
}

function groupSection({ name, endpoints }: Group, { components }: OpenApiDocument): string {
  const operations = endpoints.map((endpoint) => operationSection(endpoint, components.schemas));
  return section(anchor("group", name), name, operations.join("\n"));
}

function webSocketPart(protocol: typeof VOICE_PROTOCOL): string {
  const parameters = protocol.parameters.map(({ name, required, description }) => [
    nameCell(name, required ? "required" : ""),
    prose(description),
  ]);
  const messages = protocol.serverSends.map(({ type, example, description }) => [
    `<code>${type}</code>`,
    `<code>${escapeHtml(example)}</code>`,
    prose(description),
  ]);
  const codes = protocol.closeCodes.map(({ code, meaning }) => [String(code), prose(meaning)]);
  const names = protocol.parameters.map(({ name }) => name).join(" ");
  const words = `${protocol.path} websocket ${names} ${protocol.serverSends.map(({ type }) => type).join(" ")}`;
  return `<div data-words="${escapeHtml(words.toLowerCase())}"><p>${prose(protocol.summary)}</p>${codeBlock(`GET ${protocol.path}?api_key=…&agent_id=…`)}
<h4>Query parameters</h4>${table(["Name", "Meaning"], parameters)}
<h4>The client sends</h4><p>${prose(protocol.clientSends)}</p>
<h4>The server sends</h4>${table(["Type", "Frame", "Meaning"], messages)}
<h4>Close codes</h4>${table(["Code", "Meaning"], codes)}</div>`;
}
