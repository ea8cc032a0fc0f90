import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ownNamesIn,
  placeholderFault,
  replaceAllBraces,
  replacePlaceholders,
} from "../../engine/placeholders.js";

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

test("blanks around the bar and behind a default are not spoken; one behind the bar alone is the default's", () => {
  const text = "Hello {{ firstName | Mrs Lovelace }}.";
  assert.equal(
    replacePlaceholders(text, (_name, fallback) => fallback),
    "Hello Mrs Lovelace.",
  );
  assert.equal(
    replaceAllBraces(text, (_name, fallback) => fallback),
    "Hello Mrs Lovelace.",
  );
  assert.equal(
    replaceAllBraces("Hello{{firstName| there }}.", (_name, fallback) => fallback),
    "Hello there.",
  );
});
