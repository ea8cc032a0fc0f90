import * as v from "valibot";

// Every message says what is expected: users who set up a provider read it, and operators when a call fails.

export const HTTP_PROTOCOLS = ["http:", "https:"] as const;
export const WEB_SOCKET_PROTOCOLS = ["ws:", "wss:"] as const;

/** Longer than the name of any voice. */
const NAME_CHARACTERS_MAX = 200;
/** The characters that a header can contain. */
const HEADER_TEXT = /^[\x20-\x7e]+$/;

export function numberFrom(min: number, max: number) {
  const expected = `expected a number from ${min} to ${max}`;
  return v.pipe(v.number(expected), v.minValue(min, expected), v.maxValue(max, expected));
}

export function wholeNumber(min: number, max: number) {
  const expected = `expected a whole number from ${min} to ${max}`;
  return v.pipe(
    v.number(expected),
    v.integer(expected),
    v.minValue(min, expected),
    v.maxValue(max, expected),
  );
}

export function choice<const Options extends readonly [string, ...string[]]>(options: Options) {
  return v.picklist(options, `expected one of ${options.join(", ")}`);
}

export function text(pattern: RegExp, expected: string) {
  const message = `expected ${expected}`;
  return v.pipe(v.string(message), v.regex(pattern, message));
}

export function name() {
  return words(NAME_CHARACTERS_MAX);
}

export function words(charactersMax: number) {
  const expected = `expected a text of 1 to ${charactersMax} characters`;
  return v.pipe(v.string(expected), v.nonEmpty(expected), v.maxLength(charactersMax, expected));
}

export function header() {
  return text(HEADER_TEXT, "a text of printable ASCII characters");
}

export function address(protocols: readonly string[]) {
  const allowed = protocols.map((protocol) => `${protocol}//`).join(" or ");
  const expected = `expected an address that begins with ${allowed}, without user name`;
  return v.pipe(
    v.string(expected),
    v.check((given) => {
      if (!URL.canParse(given)) return false;
      const { protocol, username, password } = new URL(given);
      return protocols.includes(protocol) && username === "" && password === "";
    }, expected),
  );
}
