/** `node scripts/bundle-workflows.ts TARGET`: the workflow bundle of the published package. */
import { resolve } from 'node:path';
import { buildBundle } from '../src/worker/bundle.ts';

const target = process.argv[2];
if (target === undefined) throw new Error('Expected the path of the bundle to write, found none.');
await buildBundle(resolve('src/workflows/index.ts'), resolve(target));
