/** update_goal: what the model says of the user's goal. The session's workflow keeps it (domain/keptTools.ts). */
import * as z from 'zod';
import type { UpdateGoal } from '../../domain/keptTools.ts';
import { GOAL_NOTE_MAX_CHARS, GOAL_STALLED_RUNS_MAX, GOAL_WAIT_MAX_SECONDS } from '../../domain/limits.ts';
import { defineKeptTool } from './tool.ts';
import { targetLine } from './wording.ts';

const schema = z.strictObject({
  status: z
    .enum(['active', 'complete', 'blocked'])
    .describe(
      'complete: it is reached, and a result shows it. blocked: only the user can help. active: it goes on.',
    ),
  note: z
    .string()
    .max(GOAL_NOTE_MAX_CHARS, `A note may have at most ${GOAL_NOTE_MAX_CHARS} characters.`)
    .describe('What is true now: how you checked it, what you need, or what you wait for and saw last.'),
  wait_seconds: z
    .int()
    .min(0)
    .max(GOAL_WAIT_MAX_SECONDS)
    .optional()
    .describe(
      'With active alone: nothing can be done before so many seconds, because something outside takes its time. Ends the run; the next one looks again.',
    ),
});

export const updateGoal = defineKeptTool<UpdateGoal>({
  name: 'update_goal',
  description:
    'Says how the goal of the session stands; only where the user has set one. complete and blocked end the work on it, and active with wait_seconds waits without any model call. ' +
    `After ${GOAL_STALLED_RUNS_MAX} runs in a row that change no file, no plan and no note it is stopped as blocked, so let the note of a wait say what you saw last and when. ` +
    'It can not set, resume or extend a goal: that is for the user.',
  schema,
  effect: () => 'read',
  target: ({ status, note }) => targetLine(note === '' ? status : `${status}: ${note}`),
});
