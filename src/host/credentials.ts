/**
 * API keys by base URL, in a file for the user alone: a session goes on after a reboot, when no shell that
 * has the key in its environment is there.
 */
import { z } from 'zod';
import { makePrivateFolder, readFileIfThere, writeFileAtomic } from './files.ts';
import type { Home } from './home.ts';

/** What `null` as a base URL stands for. */
export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

const keysSchema = z.record(z.string(), z.string());

/** One form for each endpoint, so that a slash at the end does not make two of them. */
export function endpointName(base_url: string | null): string {
  return (base_url || OPENAI_BASE_URL).replace(/\/+$/, '');
}

/**
 * Keeps `key` for the endpoint, atomically and only if it is not there yet. Returns whether the file was
 * changed. Rejects when the file is damaged, rather than lose what it holds.
 */
export async function storeKey(home: Home, base_url: string | null, key: string): Promise<boolean> {
  const keys = await readKeys(home);
  const name = endpointName(base_url);
  if (keys[name] === key) return false;
  await makePrivateFolder(home.root);
  await writeFileAtomic(home.credentialsFile, `${JSON.stringify({ ...keys, [name]: key }, null, 2)}\n`);
  return true;
}

/**
 * The key for an endpoint: the stored one, else OPENAI_API_KEY of `env` where its OPENAI_BASE_URL names
 * that endpoint. A key goes to no other endpoint. Undefined: none, which local servers are content with.
 */
export async function keyFor(
  home: Home,
  base_url: string | null,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const name = endpointName(base_url);
  const stored = (await readKeys(home))[name];
  if (stored !== undefined) return stored;
  const key = env['OPENAI_API_KEY'];
  return key && endpointName(env['OPENAI_BASE_URL'] ?? null) === name ? key : undefined;
}

async function readKeys(home: Home): Promise<Record<string, string>> {
  const text = await readFileIfThere(home.credentialsFile);
  if (text === undefined) return {};
  try {
    return keysSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new Error(
      `Expected a JSON object of base URLs and keys in ${home.credentialsFile}, found something else. Correct or delete the file, and give OPENAI_API_KEY again.`,
      { cause: error },
    );
  }
}
