/**
 * A colour of the theme as it is now. A canvas knows no variables and no `light-dark()`: an element is given the colour, and
 * tells what became of it.
 */
export function themeColor(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
