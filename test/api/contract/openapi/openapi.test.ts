import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Validator } from "@cfworker/json-schema";
import { openApiDocument } from "../../../../api/contract/openapi/openapi.js";
import type { Operation } from "../../../../api/contract/openapi/operation.js";
import type { Route } from "../../../../api/contract/routes/route.js";
import { ROUTES } from "../../../../api/contract/routes/route-table.js";
import { VOICE_PROTOCOL } from "../../../../api/contract/voice-protocol.js";

const document = openApiDocument();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

function operationOf(id: string): Operation {
  const found = operations.find(({ operation }) => operation.operationId === id);
  assert.ok(found !== undefined);
  return found.operation;
}

test("the document is OpenAPI 3.1 of this version", () => {
  const packageJson = JSON.parse(readFileSync("package.json", "utf8"));
  assert.equal(document.openapi, "3.1.0");
  assert.equal(document.info.version, packageJson.version);
});

test("it has every route, and the telephony vendor's three beside them", () => {
  for (const [id, { method, path }] of Object.entries<Route>(ROUTES)) {
    const operation = document.paths[path.replace(":id", "{id}")]?.[method];
    assert.equal(operation?.operationId, id);
  }
  for (const name of ["voice", "answer", "status"]) {
    assert.ok(document.paths[`/api/telephony/${name}`]?.["post"] !== undefined);
  }
  assert.equal(operations.length, Object.keys(ROUTES).length + 3);
});

test("operations have names of their own, a group that is listed, and describe every answer", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length);
  const tags = new Set(document.tags.map(({ name }) => name));
  for (const { operation } of operations) {
    assert.ok(operation.tags.every((tag) => tags.has(tag)));
    for (const [status, answer] of Object.entries(operation.responses)) {
      assert.match(status, /^[2-5]\d\d$/);
      assert.ok(answer.description.length > 0);
    }
  }
});

test("every reference leads somewhere, and every component is used", () => {
  const text = JSON.stringify(document);
  const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
  const used = new Set(references.map(([, name]) => name ?? ""));
  assert.deepEqual([...used].sort(), Object.keys(document.components.schemas).sort());
  assert.doesNotMatch(text, /\$defs/);
});

test("security schemes and path parameters are declared", () => {
  for (const { path, operation } of operations) {
    for (const scheme of operation.security.flatMap((each) => Object.keys(each))) {
      assert.ok(scheme in document.components.securitySchemes, scheme);
    }
    const inPath = operation.parameters?.filter((parameter) => parameter.in === "path") ?? [];
    assert.deepEqual(
      inPath.map(({ name }) => name),
      path.includes("{id}") ? ["id"] : [],
    );
  }
});

test("a parameter is what it is inside: a number with its bounds and its default", () => {
  const limit = operationOf("listCalls").parameters?.find(({ name }) => name === "limit");
  assert.deepEqual(limit, {
    name: "limit",
    in: "query",
    required: false,
    description: "how many to return, a whole number from 1 to 100",
    schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  });
  const category = operationOf("searchModels").parameters?.find(({ name }) => name === "category");
  assert.equal(category?.required, true);
});

test("the refusals that follow from a route are listed with it", () => {
  const statuses = (id: string) => Object.keys(operationOf(id).responses);
  assert.deepEqual(statuses("getHealth"), ["200", "500", "503"]);
  assert.deepEqual(statuses("deleteProvider"), [
    "200",
    "401",
    "403",
    "404",
    "409",
    "429",
    "500",
    "503",
  ]);
  assert.deepEqual(statuses("signUp"), [
    "201",
    "400",
    "408",
    "409",
    "413",
    "415",
    "429",
    "500",
    "503",
  ]);
});

test("an example is a value that its own schema takes, and every text with a pattern has one", () => {
  let examplesCount = 0;
  const look = (schema: unknown, place: string) => {
    if (typeof schema !== "object" || schema === null) return;
    if ("pattern" in schema && !place.endsWith("propertyNames") && !place.includes("parameters")) {
      assert.ok("examples" in schema || place.endsWith("additionalProperties"), place);
    }
    if ("examples" in schema && Array.isArray(schema.examples)) {
      const validator = new Validator(schema, "2020-12");
      for (const example of schema.examples) {
        examplesCount += 1;
        assert.ok(validator.validate(example).valid, `${place}: ${JSON.stringify(example)}`);
      }
    }
    for (const [key, value] of Object.entries(schema)) look(value, `${place}.${key}`);
  };
  look(document, "");
  assert.ok(examplesCount > 40);
});

test("it says in words how to start, and what OpenAPI has no fields for", () => {
  const { description } = document.info;
  for (const words of ["## Getting started", "npm run call", "## Conventions"]) {
    assert.ok(description.includes(words), words);
  }
  assert.ok(description.includes("## Telephony") && description.includes("/api/telephony/voice"));
  const { parameters, serverSends, closeCodes } = VOICE_PROTOCOL;
  for (const { name } of parameters) assert.ok(description.includes(`| \`${name}\` |`), name);
  for (const { type } of serverSends) assert.ok(description.includes(`| \`${type}\` |`), type);
  for (const { code } of closeCodes) assert.ok(description.includes(`| ${code} |`), String(code));
});
