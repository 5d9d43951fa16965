/**
 * A scripted model as a process: `node src/demo/scriptedModelMain.ts SCRIPT.json [--port N]`.
 * Prints `{"url": …}` on one line when it listens, and ends on SIGTERM or SIGINT.
 */
import { parseArgs } from 'node:util';
import { readScriptFile } from './scriptedFile.ts';
import { startScriptedModel } from './scriptedModel.ts';

const { values, positionals } = parseArgs({
  options: { port: { type: 'string', default: '0' } },
  allowPositionals: true,
});
const [scriptPath] = positionals;
if (scriptPath === undefined) {
  process.stderr.write('usage: scriptedModelMain.ts SCRIPT.json [--port N]\n');
  process.exit(2);
}

const model = await startScriptedModel({
  script: await readScriptFile(scriptPath),
  port: Number(values.port),
});
process.stdout.write(`${JSON.stringify({ url: model.url })}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void model.close());
