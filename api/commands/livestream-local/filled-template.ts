/** Characters that a value may not contain: they would end its directive and begin another. */
const UNSAFE_IN_NGINX = /[;{}\\\n"'$]/;

const PLACEHOLDER = /\$\{([A-Z][A-Z0-9_]*)\}/g;

/**
 * Replaces `${NAME}` as the image's envsubst does. Throws for a name without a value, a value without a placeholder,
 * and a value that nginx would read as several words.
 */
export function filledTemplate(text: string, values: Readonly<Record<string, string>>): string {
  const unused = new Set(Object.keys(values));
  const filled = text.replaceAll(PLACEHOLDER, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the template uses \${${name}}, which is not given`);
    if (UNSAFE_IN_NGINX.test(value)) {
      throw new Error(`${name}: expected a value without ; { } \\ $ and quotes`);
    }
    unused.delete(name);
    return value;
  });
  if (unused.size > 0) throw new Error(`the template does not use ${[...unused].join(", ")}`);
  return filled;
}
