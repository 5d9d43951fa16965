import { createInterface } from 'node:readline/promises';
import { runDemo } from '../../demo/demo.ts';
import type { Handler } from '../context.ts';

/** `holdfast demo`. A person keeps the Web UI open until Enter; a script is not kept waiting. */
export const demo: Handler = async ({ screen }) =>
  runDemo(screen, {
    linger: async (ui_url) => {
      if (!screen.terminal.interactive) return;
      const prompt = createInterface({ input: process.stdin, output: process.stderr });
      screen.note('');
      await prompt.question(`Look at it in the Web UI: ${ui_url}\nPress Enter to end the demo. `);
      prompt.close();
    },
  });
