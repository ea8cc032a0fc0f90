/** A text of the repository, by its path from the root. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** Paths of the repository's files, and of the texts among them what they say. */
export interface Repository {
  has(path: string): boolean;
  textOf(path: string): string | undefined;
}

const FENCED = /^```[\s\S]*?^```$/gm;
const MARKDOWN_LINK = /\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g;
/** A page named in code, in a comment or in prose, but not a part of a URL or of a longer path. */
const NAMED_PAGE = /(?<![\w/.-])(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g;

/** References of a file that lead nowhere: links of Markdown, and pages of `docs/` that any text names. */
export function brokenReferences(file: TextFile, repository: Repository): readonly string[] {
  const named = Array.from(file.text.matchAll(NAMED_PAGE), ([, page = "", anchor]) => {
    return { target: page, anchor };
  });
  const links = file.path.endsWith(".md") ? linksOf(file) : [];
  return [...named, ...links].flatMap(({ target, anchor }) => {
    const shown = `${file.path}: ${target}${anchor === undefined ? "" : `#${anchor}`}`;
    if (!repository.has(target)) return [shown];
    if (anchor === undefined || !target.endsWith(".md")) return [];
    return anchorsOf(repository.textOf(target) ?? "").has(anchor) ? [] : [shown];
  });
}

function linksOf({ path, text }: TextFile) {
  const links = text.replaceAll(FENCED, "").matchAll(MARKDOWN_LINK);
  return Array.from(links, ([, link = "", anchor]) => {
    const target = link === "" ? path : new URL(link, `file:///${path}`).pathname.slice(1);
    return { target: target.replace(/\/$/, ""), anchor };
  });
}

/** The anchors that GitHub gives to the headings of a page. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of text.replaceAll(FENCED, "").matchAll(/^#{1,6} +(.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}
