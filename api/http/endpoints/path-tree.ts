export interface FoundPath<Value> {
  readonly value: Value;
  /** The segments that stood for `:name`, undecoded, from left to right. */
  readonly parameters: readonly string[];
}

interface Branch<Value> {
  readonly named: Map<string, Branch<Value>>;
  /** Where the segment is `:name`. */
  open: Branch<Value> | undefined;
  value: Value | undefined;
  /** Where the path goes on with `/*`. */
  rest: Value | undefined;
}

/** Finds what belongs to a path. A segment's own name goes before `:name`, which takes no empty one, and that before `*`. */
export class PathTree<Value> {
  readonly #root: Branch<Value> = newBranch();

  /** `path` begins with a slash. */
  set(path: string, value: Value): void {
    let branch = this.#root;
    for (const segment of path.slice(1).split("/")) {
      if (segment === "*") {
        branch.rest = value;
        return;
      }
      branch = segment.startsWith(":") ? openBranch(branch) : namedBranch(branch, segment);
    }
    branch.value = value;
  }

  find(path: string): FoundPath<Value> | undefined {
    return found(this.#root, path.slice(1).split("/"), 0, []);
  }
}

function found<Value>(
  branch: Branch<Value>,
  segments: readonly string[],
  depth: number,
  parameters: readonly string[],
): FoundPath<Value> | undefined {
  const segment = segments[depth];
  if (segment === undefined) {
    return branch.value === undefined ? undefined : { value: branch.value, parameters };
  }
  const named = branch.named.get(segment);
  const byName = named && found(named, segments, depth + 1, parameters);
  if (byName !== undefined) return byName;
  const { open, rest } = branch;
  if (open !== undefined && segment !== "") {
    const byParameter = found(open, segments, depth + 1, [...parameters, segment]);
    if (byParameter !== undefined) return byParameter;
  }
  return rest === undefined ? undefined : { value: rest, parameters };
}

function newBranch<Value>(): Branch<Value> {
  return { named: new Map(), open: undefined, value: undefined, rest: undefined };
}

function openBranch<Value>(branch: Branch<Value>): Branch<Value> {
  branch.open ??= newBranch();
  return branch.open;
}

function namedBranch<Value>(branch: Branch<Value>, segment: string): Branch<Value> {
  const known = branch.named.get(segment);
  if (known !== undefined) return known;
  const made = newBranch<Value>();
  branch.named.set(segment, made);
  return made;
}
