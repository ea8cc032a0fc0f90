// By hand, since a few elements are written and none is read; the vendors' packages for them bring a whole client each.
const NAMES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#x9;",
  "\n": "&#xA;",
  "\r": "&#xD;",
};
/** What XML 1.0 cannot hold even as an entity, the other control characters, and halves of characters. */
const FORBIDDEN = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\p{Cs}/gu;

/** An element with its attributes in order; one without a value is left out. `content` is XML already. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  content = "",
): string {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${escapeAttribute(value)}"`],
  );
  const open = `${name}${written.join("")}`;
  return content === "" ? `<${open}/>` : `<${open}>${content}</${name}>`;
}

export function escapeText(text: string): string {
  return text.replace(FORBIDDEN, "").replace(/[&<>\r]/g, entity);
}

/** Line ends and tabs too: a parser would turn them into spaces. */
function escapeAttribute(text: string): string {
  return text.replace(FORBIDDEN, "").replace(/[&<"\t\n\r]/g, entity);
}

function entity(character: string): string {
  return NAMES[character] ?? character;
}

export function xmlDocument(root: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>${root}`;
}
