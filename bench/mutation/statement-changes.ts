import type { Statement, VisitorObject } from "oxc-parser";
import type { SourceEdits } from "./source-edits.js";

const REMOVABLE = new Set([
  "CallExpression",
  "AssignmentExpression",
  "AwaitExpression",
  "UpdateExpression",
]);
const LEAVING = new Set(["ReturnStatement", "ThrowStatement", "ContinueStatement"]);

/** Faults of whole statements: what is not done, not left, or done whatever the condition says. */
export function statementChanges(edits: SourceEdits): VisitorObject {
  return {
    ExpressionStatement: (node) => {
      const { expression } = node;
      const isSuper = expression.type === "CallExpression" && expression.callee.type === "Super";
      if (REMOVABLE.has(expression.type) && !isSuper)
        edits.replace(node, ";", "removed", "statement");
    },
    IfStatement: ({ test, consequent }) => {
      edits.replace(test, "true", "condition");
      edits.replace(test, "false", "condition");
      const leaving = lastOfSeveral(consequent);
      if (leaving !== undefined) edits.replace(leaving, ";", "early return", "statement");
    },
    WhileStatement: ({ test }) => edits.replace(test, "false", "condition"),
    ForStatement: ({ test }) => {
      if (test !== null) edits.replace(test, "false", "condition");
    },
    SwitchStatement: ({ cases }) => {
      for (const { consequent } of cases.slice(0, -1)) {
        const last = consequent.at(-1);
        if (last?.type === "BreakStatement") edits.replace(last, ";", "removed", "statement");
      }
    },
  };
}

/** The leaving end of a block that does more; a block that only leaves is the same as its condition being false. */
function lastOfSeveral(consequent: Statement): Statement | undefined {
  if (consequent.type !== "BlockStatement" || consequent.body.length < 2) return undefined;
  const last = consequent.body.at(-1);
  return last !== undefined && LEAVING.has(last.type) ? last : undefined;
}
