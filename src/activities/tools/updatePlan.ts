/** update_plan: the plan of the session, word for word. The session's workflow keeps it (domain/keptTools.ts). */
import * as z from 'zod';
import type { UpdatePlan } from '../../domain/keptTools.ts';
import { PLAN_MAX_BYTES, PLAN_STEP_MAX_CHARS, PLAN_STEPS_MAX } from '../../domain/limits.ts';
import { defineKeptTool } from './tool.ts';
import { count, targetLine } from './wording.ts';

const schema = z.strictObject({
  steps: z
    .array(
      z.strictObject({
        step: z
          .string()
          .max(PLAN_STEP_MAX_CHARS, `A step may have at most ${PLAN_STEP_MAX_CHARS} characters.`)
          .refine((text) => text.trim() !== '', 'Expected a step, found only blanks.')
          .describe('What is to be done.'),
        status: z.enum(['pending', 'in_progress', 'completed']),
      }),
    )
    .max(PLAN_STEPS_MAX, `A plan may have at most ${PLAN_STEPS_MAX} steps.`)
    .refine(
      (steps) => Buffer.byteLength(JSON.stringify(steps)) <= PLAN_MAX_BYTES,
      `A plan may have at most ${PLAN_MAX_BYTES} bytes in all.`,
    )
    .describe('The whole plan in order: it takes the place of the one before.'),
});

export const updatePlan = defineKeptTool<UpdatePlan>({
  name: 'update_plan',
  description:
    'Keeps the plan for work of several steps, and which of them are done: at most ' +
    `${PLAN_STEPS_MAX} steps of at most ${PLAN_STEP_MAX_CHARS} characters. Send the whole plan each time; an empty list removes it. ` +
    'It is kept word for word however long the session becomes, and the user sees it. Update it when a step is done.',
  schema,
  effect: () => 'read',
  target: ({ steps }) => {
    const current = steps.find(({ status }) => status === 'in_progress')?.step;
    const done = steps.filter(({ status }) => status === 'completed').length;
    const words = `${done} of ${count(steps.length, 'step')} done`;
    return targetLine(current === undefined ? words : `${words}, now: ${current}`);
  },
});
