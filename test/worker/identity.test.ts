import { execa } from 'execa';
import { afterEach, expect, test, vi } from 'vitest';
import { bootId, identifyProcess } from '../../src/host/process.ts';
import { isDeadWorkerOf, ownIdentity } from '../../src/worker/identity.ts';

const HOST = 'mac-1a2b3c';

afterEach(() => vi.unstubAllEnvs());

/** An identity of our form, with the parts of this process unless others are given. */
async function identityOf(parts: {
  host?: string;
  boot?: string;
  pid?: number;
  start?: string;
}): Promise<string> {
  const [host, boot, pid, start] = (await ownIdentity(HOST)).split('/');
  return [parts.host ?? host, parts.boot ?? boot, parts.pid ?? pid, parts.start ?? start].join('/');
}

test('an identity names host, boot, pid and start time, and fits where it stands many times', async () => {
  const self = await identifyProcess(process.pid);
  const boot = (await bootId()).slice(0, 8);
  const identity = await ownIdentity(HOST);
  expect(identity).toBe([HOST, boot, process.pid, encodeURIComponent(self?.start ?? '')].join('/'));
  expect(identity.length).toBeLessThan(100);
});

test('this process is not dead', async () => {
  expect(await isDeadWorkerOf(HOST, await ownIdentity(HOST))).toBe(false);
});

test('another living worker of this host is not dead, and is dead when it was killed', async () => {
  const child = execa('sleep', ['600'], { reject: false });
  const start = (await identifyProcess(child.pid ?? 0))?.start ?? '';
  const identity = await identityOf({ pid: child.pid ?? 0, start: encodeURIComponent(start) });
  expect(await isDeadWorkerOf(HOST, identity)).toBe(false);
  child.kill('SIGKILL');
  await child;
  expect(await isDeadWorkerOf(HOST, identity)).toBe(true);
});

test('a worker whose pid belongs to another process now is dead', async () => {
  expect(await isDeadWorkerOf(HOST, await identityOf({ start: '1' }))).toBe(true);
});

test('a worker of an earlier boot is dead, even where its pid and start time fit', async () => {
  const identity = await ownIdentity(HOST);
  vi.stubEnv('HOLDFAST_BOOT_ID', 'after-the-reboot');
  expect(await isDeadWorkerOf(HOST, identity)).toBe(true);
});

test('a worker of another host is not for us to judge', async () => {
  expect(await isDeadWorkerOf(HOST, await identityOf({ host: 'mac-other', start: '1' }))).toBe(false);
  expect(await isDeadWorkerOf(HOST, await identityOf({ host: `${HOST}x`, start: '1' }))).toBe(false);
});

test.each([
  '',
  HOST,
  `12345@${HOST}`,
  'temporal-cli:me@host',
  '50%@host',
  `${HOST}/%/1/1`,
  `${HOST}/b/1`,
  `${HOST}/b/1/`,
  `${HOST}/b/1/s/more`,
  `${HOST}/b/pid/s`,
  `${HOST}/b/0/s`,
  `${HOST}/b/-1/s`,
  `${HOST}/b/1/s\n${HOST}/b/1/s`,
])('an identity of a foreign form is never judged: %j', async (identity) => {
  expect(await isDeadWorkerOf(HOST, identity)).toBe(false);
});
