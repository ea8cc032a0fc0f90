import { parseSync, Visitor, type VisitorObject } from "oxc-parser";
import { expressionChanges } from "./expression-changes.js";
import { type Change, SourceEdits, type Span } from "./source-edits.js";
import { statementChanges } from "./statement-changes.js";

/** All the small wrong changes of a compiled module, in the order of their places. Throws when it cannot be parsed. */
export function changesOf(source: string): readonly Change[] {
  const { program, errors } = parseSync("module.js", source);
  if (errors.length > 0) throw new Error(`cannot be parsed: ${errors[0]?.message}`);
  const edits = new SourceEdits(source);
  const quiet: Span[] = [];
  const visitors: readonly VisitorObject[] = [
    expressionChanges(edits),
    statementChanges(edits),
    quietPlaces(source, quiet),
  ];
  for (const visitor of visitors) new Visitor(visitor).visit(program);
  return edits.changes
    .filter(({ start, end }) => !quiet.some((place) => place.start <= start && end <= place.end))
    .sort((one, other) => one.start - other.start || one.end - other.end);
}

const LOGGING = /\blog\.(?:debug|info|warn|error)$/;

/** What is only read by people, and imports. */
function quietPlaces(source: string, places: Span[]): VisitorObject {
  return {
    ImportDeclaration: ({ start, end }) => void places.push({ start, end }),
    ExpressionStatement: ({ expression, start, end }) => {
      if (expression.type !== "CallExpression") return;
      const { callee } = expression;
      if (LOGGING.test(source.slice(callee.start, callee.end))) places.push({ start, end });
    },
    TaggedTemplateExpression: ({ start, end }) => void places.push({ start, end }),
  };
}
