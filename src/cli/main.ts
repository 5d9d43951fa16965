#!/usr/bin/env node
/** The entry of `holdfast`. All else is imported after the compile cache is on, or it would not be cached. */
import { enableCompileCache } from 'node:module';

enableCompileCache();
const { runCommandLine } = await import('./program.ts');
process.exitCode = await runCommandLine(process.argv.slice(2), process.env);
