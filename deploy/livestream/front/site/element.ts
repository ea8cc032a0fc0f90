interface ElementParts {
  readonly classes?: string;
  /** Always text, never markup: it may come from a stream. */
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

/** The element of the page's own HTML with that id; throws when the HTML has none of that kind. */
export function elementOf<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.querySelector(`#${id}`);
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return element;
}

/** Leaves the element alone when it says so already: a screen reader would read it again. */
export function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
