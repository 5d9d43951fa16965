/**
 * `npm run long-life -- --steps N --kills K --seed S`: one session that goes through N steps, over many
 * continue-as-new and summaries, while its worker and server are killed; then its log is held against what the
 * model and the disk saw. Exit code 1 if anything is wrong.
 */
import { parseArgs } from 'node:util';
import { longLife } from './longLife.ts';

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
  },
});
const { report, problems } = await longLife({
  steps: Number(values.steps),
  kills: Number(values.kills),
  seed: values.seed,
});
process.stdout.write(`${report}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
