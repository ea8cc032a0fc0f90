interface ElementParts {
  readonly classes?: string;
  /** Always inserted as text, never as markup: it may come from a stream. */
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  { classes, text, attributes = {} }: ElementParts = {},
  children: readonly Node[] = [],
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (classes !== undefined) element.className = classes;
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * Returns the element with this id of the page's own HTML. Throws if the HTML has no element of this kind with the id.
 */
export function elementOf<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.querySelector(`#${id}`);
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return element;
}

/** Leaves an element with this text unchanged: a screen reader would read it again. */
export function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
