/** Which lines of the shipped packages a simulation executes, as V8 counts them. */
import { Session } from "node:inspector/promises";

/** Files by `package/path`, each with the numbers of its executed lines. */
export type ExecutedLines = Readonly<Record<string, readonly number[]>>;

const shippedFile = /\/@tenure\/((?:core|election|etcd|kube|postgres))\/dist\/(.*\.js)$/;

/** Starts to count. The returned function gives the lines that were executed since then. */
export async function startCoverage(): Promise<() => Promise<ExecutedLines>> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Debugger.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return async () => {
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const executed: Record<string, readonly number[]> = {};
    for (const { url, scriptId, functions } of result) {
      const match = shippedFile.exec(url);
      if (!match) continue;
      const { scriptSource } = await session.post("Debugger.getScriptSource", { scriptId });
      const ranges = functions.flatMap((item) => item.ranges);
      executed[`${match[1]}/${match[2]}`] = linesExecuted(scriptSource, ranges);
    }
    return executed;
  };
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** The innermost range around the first character of a line tells whether the line was executed. */
export function linesExecuted(source: string, ranges: readonly Range[]): number[] {
  const executed: number[] = [];
  let offset = 0;
  for (const [index, line] of source.split("\n").entries()) {
    const at = offset + line.length - line.trimStart().length;
    offset += line.length + 1;
    let innermost: Range | undefined;
    for (const range of ranges) {
      const isAround = range.startOffset <= at && at < range.endOffset;
      const isInner =
        !innermost || range.endOffset - range.startOffset <= innermost.endOffset - innermost.startOffset;
      if (isAround && isInner) innermost = range;
    }
    if (innermost && innermost.count > 0) executed.push(index);
  }
  return executed;
}

/** The lines that hold code: no comments, and not only brackets. */
export function linesOfCode(source: string): number[] {
  return source.split("\n").flatMap((line, index) => {
    const text = line.trim();
    const isComment = text.startsWith("//") || text.startsWith("*") || text.startsWith("/*");
    return isComment || text === "export {};" || /^[\s{}()[\];,]*$/.test(text) ? [] : [index];
  });
}
