import type { VisitorObject } from "oxc-parser";
import type { SourceEdits, Span } from "./source-edits.js";

const SIGNS: Readonly<Record<string, readonly [operator: string, ...signs: string[]]>> = {
  "<": ["boundary", "<=", ">="],
  "<=": ["boundary", "<", ">"],
  ">": ["boundary", ">=", "<="],
  ">=": ["boundary", ">", "<"],
  "===": ["comparison", "!=="],
  "!==": ["comparison", "==="],
  "+": ["arithmetic", "-"],
  "-": ["arithmetic", "+"],
  "*": ["arithmetic", "/"],
  "/": ["arithmetic", "*"],
  "%": ["arithmetic", "*"],
  "&&": ["logic", "||"],
  "||": ["logic", "&&"],
  "??": ["logic", "&&"],
  "+=": ["arithmetic", "-="],
  "-=": ["arithmetic", "+="],
};

const EXTREMES = new Map([
  ["Math.min", "Math.max"],
  ["Math.max", "Math.min"],
]);

/** From here on nobody could see that a limit or a duration is one more: it is twice as much instead. */
const LARGE_NUMBER_MIN = 100;

/** A word that the program compares or hands on, not one of a sentence. */
const WORD = /^\w+$/;

interface Node extends Span {
  readonly type: string;
  readonly value?: unknown;
}

interface Signed extends Span {
  readonly left: Span;
  readonly right: Span;
  readonly operator: string;
}

/** Faults inside expressions: signs, conditions, numbers, booleans, words, and what is spread. */
export function expressionChanges(edits: SourceEdits): VisitorObject {
  const signs = (node: Signed) => {
    const { left, right, operator: sign } = node;
    const [operator, ...others] = SIGNS[sign] ?? [""];
    for (const other of others) edits.replaceBetween(node, [left, right], [sign, other], operator);
  };
  const keys = new Set<number>();
  /** Where a number stands for an element that is missing. */
  const fallbacks = new Set<number>();
  const word = (node: Node | null) => {
    if (node?.type !== "Literal" || typeof node.value !== "string") return;
    if (WORD.test(node.value)) edits.replace(node, '"mutated"', "word");
  };
  return {
    BinaryExpression: (node) => {
      const { left, right, operator } = node;
      const joinsText = operator === "+" && [left, right].some(isText);
      if (!joinsText) signs(node);
      word(left);
      word(right);
    },
    LogicalExpression: (node) => {
      const { left, right, operator } = node;
      // `a ?? b && c` is no JavaScript: it wants its brackets.
      const isChain = operator === "??" && left.type === "LogicalExpression";
      if (isChain) edits.replace(node, `(${edits.text(left)}) && ${edits.text(right)}`, "logic");
      else signs(node);
      const isElement = left.type === "MemberExpression" && left.computed;
      if (operator === "??" && isElement) fallbacks.add(right.start);
    },
    AssignmentExpression: (node) => {
      if (!isText(node.right)) signs(node);
      word(node.right);
    },
    UnaryExpression: (node) => {
      if (node.operator === "!") edits.replace(node, edits.text(node.argument), "negation");
    },
    UpdateExpression: (node) => {
      const sign = node.operator === "++" ? "--" : "++";
      edits.replace(node, edits.text(node).replace(node.operator, sign), "arithmetic");
    },
    ConditionalExpression: ({ test }) => {
      edits.replace(test, "true", "condition");
      edits.replace(test, "false", "condition");
    },
    CallExpression: ({ callee }) => {
      const other = EXTREMES.get(edits.text(callee));
      if (other !== undefined) edits.replace(callee, other, "extreme");
    },
    Literal: (node) => {
      if (typeof node.value === "boolean") edits.replace(node, String(!node.value), "boolean");
      if (typeof node.value !== "number") return;
      const operator = fallbacks.has(node.start) ? "fallback" : "number";
      const isLarge = node.value >= LARGE_NUMBER_MIN;
      const form = keys.has(node.start) ? "key" : "expression";
      edits.replace(node, String(isLarge ? 2 * node.value : node.value + 1), operator, form);
    },
    SpreadElement: ({ argument }) => {
      const isOptional = /^(?:Logical|Conditional)Expression$/.test(inner(argument).type);
      if (isOptional) edits.replace(argument, "[]", "spread");
    },
    Property: ({ key, computed, value }) => {
      if (!computed) keys.add(key.start);
      word(value);
    },
    ReturnStatement: ({ argument }) => word(argument),
    SwitchCase: ({ test }) => word(test),
  };
}

function isText(node: Node): boolean {
  return node.type === "TemplateLiteral" || typeof node.value === "string";
}

function inner(node: { type: string; expression?: unknown }): { type: string } {
  const { expression } = node;
  return node.type === "ParenthesizedExpression" && isNode(expression) ? expression : node;
}

function isNode(given: unknown): given is { type: string } {
  return typeof given === "object" && given !== null && "type" in given;
}
