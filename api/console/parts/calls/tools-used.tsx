import type { ToolUse } from "../../model/tool-uses.js";
import type { SaidTurn } from "../../model/turns.js";
import { toolWords } from "../../words/tool-words.js";

/** The tools that were at work for what was said; what they were given and answered is folded. */
export function ToolsUsed({ turn: { tools, moreTools } }: { turn: SaidTurn }) {
  if (tools.length === 0) return null;
  return (
    <ul className="tools-used">
      {tools.map((tool, index) => (
        <li key={index}>
          <UsedTool tool={tool} />
        </li>
      ))}
      {moreTools === 0 ? null : <li className="soft">and {moreTools} more that were not kept</li>}
    </ul>
  );
}

function UsedTool({ tool }: { tool: ToolUse }) {
  const { name, input, output, isDone } = tool;
  return (
    <details>
      <summary>
        <bdi>{name}</bdi> <span className={isDone ? "soft" : "state warn"}>{toolWords(tool)}</span>
      </summary>
      <div className="stack tight">
        <span className="soft">It was given</span>
        <Told text={input} />
        {output === undefined ? null : (
          <>
            <span className="soft">The model was told</span>
            <Told text={output} />
          </>
        )}
      </div>
    </details>
  );
}

/** JSON reads from left to right, whatever the language of the words in it. */
function Told({ text }: { text: string }) {
  return (
    <pre className="wrapped" tabIndex={0} dir={/^\s*[[{]/.test(text) ? "ltr" : "auto"}>
      {text}
    </pre>
  );
}
