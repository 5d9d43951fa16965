/** Questions to a person, on one line with room for the answer. */
import { clip, oneLine } from './text.ts';

const ANSWER_COLUMNS = 4;

/** `run bash npm test? [y/n] `; the call is cut where the terminal is narrow. */
export function approvalQuestion(
  { tool, target }: { tool: string; target: string },
  columns: number,
  answers: string,
): string {
  const room = columns - answers.length - 'run ? '.length - ANSWER_COLUMNS;
  return `run ${clip(`${tool} ${oneLine(target)}`, Math.max(room, 8))}? ${answers} `;
}
