import assert from "node:assert/strict";
import { test } from "node:test";
import { ownNamesIn, placeholderFault } from "../../engine/placeholders.js";

test("a name that not every call has needs a default", () => {
  assert.equal(placeholderFault("{{caller}} {{name|there}} {{other|}} {single} } }"), undefined);
  assert.match(placeholderFault("{{caller}} {{ name }} {{other}}") ?? "", /^\{\{name\}\} needs/);
});

test("braces around anything else are a fault, so that nobody hears them", () => {
  for (const text of [
    "{{first-name|there}}",
    "{{customer.name}}",
    "{{}}",
    "{{name|a{b}}",
    "{{name|there}",
    "Hello }} there",
    `{{name|${"x".repeat(201)}}}`,
    "{{name|{{other|there}}}}",
  ]) {
    assert.match(placeholderFault(text) ?? "", /^expected \{\{ and \}\} only around a name/, text);
  }
  assert.equal(placeholderFault("{{{name|there}}}"), undefined);
});

test("the names of texts are those that not every call has, each once", () => {
  assert.deepEqual(ownNamesIn(["{{caller}} {{a|}}", "{{b|x}} {{a|y}}"]), ["a", "b"]);
});
