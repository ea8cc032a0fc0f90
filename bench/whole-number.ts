/** The value of an option, a whole number from 1; ends the process with a message that names the option if it is none. */
export function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  console.error(`--${option}: expected a whole number from 1, not ${text}`);
  process.exit(1);
}
