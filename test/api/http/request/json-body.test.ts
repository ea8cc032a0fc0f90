import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpError } from "../../../../api/http/answer/http-error.js";
import { parseJsonBody } from "../../../../api/http/request/json-body.js";

function parse(text: string, contentType = "application/json"): unknown {
  return parseJsonBody(Buffer.from(text), contentType);
}

function refusalOf(text: string | Buffer): string {
  try {
    parseJsonBody(Buffer.from(text), "");
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  return "none";
}

test("JSON is read with every content type that means JSON, and without one", () => {
  for (const type of [
    "",
    "application/json",
    "Application/JSON; charset=utf-8",
    "application/x+json",
  ]) {
    assert.deepEqual(parse('{"a":1}', type), { a: 1 });
  }
});

test("another content type is refused", () => {
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"]) {
    assert.throws(
      () => parse("{}", type),
      (error) => error instanceof HttpError && error.status === 415,
    );
  }
});

test("an empty body, broken JSON and invalid UTF-8 have different errors", () => {
  assert.equal(refusalOf(""), "body: expected a JSON object, the body is empty");
  assert.equal(refusalOf('{"a":'), "body: expected valid JSON");
  assert.equal(refusalOf(Buffer.from([0x22, 0xff, 0xfe, 0x22])), "body: expected UTF-8 text");
});

test("a byte order mark is skipped", () => {
  assert.deepEqual(parse('\u{feff}{"a":"ü"}'), { a: "ü" });
});

test("the last of several equal keys counts", () => {
  assert.deepEqual(parse('{"a":1,"a":2}'), { a: 2 });
});

test("nesting is allowed up to a limit", () => {
  assert.equal(refusalOf("[".repeat(32) + "]".repeat(32)), "none");
  assert.equal(
    refusalOf("[".repeat(33) + "]".repeat(33)),
    "body: expected JSON nested at most 32 deep",
  );
  assert.match(refusalOf("[".repeat(1_000_000)), /32 deep/);
});

test("the number of values is limited", () => {
  const refusal = "body: expected at most 8000 commas, colons and opening brackets";
  assert.equal(refusalOf(`[${"1,".repeat(7_999)}1]`), "none");
  assert.equal(refusalOf(`[${"1,".repeat(8_000)}1]`), refusal);
  assert.equal(refusalOf(`[${"[],".repeat(4_000)}1]`), refusal);
  assert.equal(refusalOf("[]".repeat(8_001)), refusal);
});

test("the model list of the longest catalogue is within the limit", () => {
  const model = { modelId: "m", label: "M", description: "A model" };
  const models = Array.from({ length: 1_000 }, () => model);
  assert.equal(refusalOf(JSON.stringify({ category: "llm", name: "Mine", models })), "none");
});

test("braces and commas inside strings are not counted", () => {
  const text = `\\"${"[{,:".repeat(30_000)}\\\\`;
  assert.equal(refusalOf(`{"a":"${text}"}`), "none");
});

test("escaped quotes do not end a string, and counting resumes after its end", () => {
  const values = (text: string) => refusalOf(`["${text}",${"1,".repeat(7_997)}1]`);
  for (const text of ['\\"', '\\\\\\"[[', 'a\\"b\\\\', '\\"\\\\', "\\\\"]) {
    assert.equal(values(text), "none", text);
    assert.match(refusalOf(`["${text}",${"1,".repeat(7_999)}1]`), /at most 8000/, text);
  }
});

test("a string that never ends is invalid JSON", () => {
  assert.equal(refusalOf('{"a":"\\"'), "body: expected valid JSON");
  assert.equal(refusalOf('{"a":"\\"b\\'), "body: expected valid JSON");
  assert.equal(refusalOf('{"a":"[[['), "body: expected valid JSON");
  assert.equal(refusalOf('{"a":"\\'), "body: expected valid JSON");
});
