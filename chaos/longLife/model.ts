/** The model of a long life: one numbered piece of work after the other, the same for the same call. */
import { smallModel } from '../../src/demo/smallModel.ts';
import type { Script } from '../../src/demo/scriptedModel.ts';
import { callTool, callTools, say, type ScriptedTurn } from '../../src/demo/scriptedTurns.ts';

/** Of the conversation's JSON; about forty steps of these. */
const WINDOW_CHARS = 80_000;
const STEPS_PER_RUN = 100;

export interface LongModel {
  script: Script;
  /** Pieces of work that were given out. */
  steps: () => number;
  /** Refusals for a conversation that is not valid. */
  refused: string[];
}

export function longModel(steps: number): LongModel {
  const pieces = new Map<string, number>();
  const refused: string[] = [];
  const work: Script = ({ idempotencyKey = '' }) => {
    const piece = pieces.get(idempotencyKey) ?? pieces.size + 1;
    pieces.set(idempotencyKey, piece);
    if (piece >= steps) return say('all done');
    return piece % STEPS_PER_RUN === 0 ? say(`done up to ${piece}`) : turn(piece);
  };
  const script = smallModel(WINDOW_CHARS, work, (_, index) => say(`SUMMARY ${index}`));
  return {
    steps: () => pieces.size,
    refused,
    script: async (request, index) => {
      const answer = await script(request, index);
      if (answer.kind === 'fail' && JSON.stringify(answer.body).includes('"orphan"'))
        refused.push(JSON.stringify(answer.body));
      return answer;
    },
  };
}

function turn(piece: number): ScriptedTurn {
  const append = `echo ${piece} >> log`;
  switch (piece % 4) {
    case 0:
      return callTool('write_file', { path: `file${piece}.txt`, content: `content ${piece}\n`.repeat(40) });
    case 1:
      return callTool('bash', { command: append });
    case 2:
      return callTool('bash', { command: `${append}; seq 1 600` });
    default:
      return callTools([
        { tool: 'bash', args: { command: append } },
        { tool: 'list_files', args: { glob: '*.none' } },
      ]);
  }
}

/** Numbers that a session's commands append to its log. */
export function appended(steps: number): number[] {
  return Array.from({ length: steps - 1 }, (_, index) => index + 1).filter(
    (piece) => piece % STEPS_PER_RUN !== 0 && piece % 4 !== 0,
  );
}
