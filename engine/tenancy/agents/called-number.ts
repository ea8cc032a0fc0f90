const E164_DIGITS = /^\+?([1-9]\d{6,14})$/;
const SIP_ADDRESS = /^(sips?):([^\s@<>";?\p{Cc}]{1,128})@([^\s@<>";?\p{Cc}]{1,128})(?:[;?].*)?$/iu;

/**
 * Returns a number or SIP address in the form that is stored, from any vendor's notation: numbers with or without the
 * plus, SIP addresses with parameters or an upper-case host. Undefined for anything else, such as an extension.
 */
export function calledNumber(to: string): string | undefined {
  if (!/^sips?:/i.test(to)) {
    const digits = E164_DIGITS.exec(to)?.[1];
    return digits === undefined ? undefined : `+${digits}`;
  }
  const [, scheme, user, host] = SIP_ADDRESS.exec(to) ?? [];
  if (scheme === undefined || user === undefined || host === undefined) return undefined;
  return `${scheme.toLowerCase()}:${user}@${host.toLowerCase()}`;
}
