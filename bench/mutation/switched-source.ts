import { applied, type Change, type Form, type Span } from "./source-edits.js";

/** A change, and the number by which it is switched on. */
export interface NumberedChange {
  readonly number: number;
  readonly change: Change;
}

/** Changes of one expression, statement or key. */
interface Site extends Span {
  readonly form: Form;
  readonly changes: NumberedChange[];
}

/**
 * The module with all changes in it, each behind a question to the switch whether it is on: nothing is compiled or loaded
 * anew from one change to the next ("mutant schemata", Untch, Offutt and Harrold 1993). Lines stay where they were.
 */
export function switchedSource(
  source: string,
  changes: readonly NumberedChange[],
  switchPath: string,
): string {
  const sites = sitesOf(changes);
  const name = nameNotIn(source);
  let next = 0;
  /** What stands between two offsets, with the sites in it switched. */
  const written = (start: number, end: number): string => {
    let text = "";
    let at = start;
    for (let site = sites[next]; site !== undefined && site.end <= end; site = sites[next]) {
      next += 1;
      text += source.slice(at, site.start) + switched(site, written(site.start, site.end));
      at = site.end;
    }
    return text + source.slice(at, end);
  };
  const switched = ({ form, changes: own, ...span }: Site, unchanged: string): string => {
    const isOn = own.map(({ number }) => `${name}(${number})`);
    if (form === "statement") return `{if(!(${isOn.join("||")})){${unchanged}}}`;
    const choices = own.map(
      ({ change }, index) => `${isOn[index]}?(${applied(source, change, span)}):`,
    );
    const expression = `(${choices.join("")}(${unchanged}))`;
    return form === "key" ? `[${expression}]` : expression;
  };
  const text = written(0, source.length);
  return `import{isOn as ${name}}from${JSON.stringify(switchPath)};${text}`;
}

/** Outer ones first. */
function sitesOf(changes: readonly NumberedChange[]): readonly Site[] {
  const sites = new Map<string, Site>();
  for (const numbered of changes) {
    const { within } = numbered.change;
    const key = `${within.start} ${within.end}`;
    const site = sites.get(key) ?? { ...within, changes: [] };
    site.changes.push(numbered);
    sites.set(key, site);
  }
  return [...sites.values()].sort((one, other) => one.start - other.start || other.end - one.end);
}

function nameNotIn(source: string): string {
  let name = "$isOn";
  while (source.includes(name)) name += "_";
  return name;
}
