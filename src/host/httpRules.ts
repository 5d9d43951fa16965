/**
 * Which services http_request may talk to: the user's word, in the home's holdfast.json and nowhere else.
 * A workspace's file may be a stranger's, so it can't open a door.
 *
 *   {"http": {"allow": [{"host": "api.example.com", "idempotent": true}, {"host": "127.0.0.1:8080"}]}}
 *
 * A rule is a name and a port, taken literally: no wildcards, no subdomains, and without a port the
 * protocol's own. It says nothing about the address that the name resolves to.
 */
import type { Home } from './home.ts';
import { readSettingsFile } from './settingsFile.ts';

export interface HttpRule {
  /** `api.example.com` or `127.0.0.1:8080`. */
  host: string;
  /** The service does a request with the same Idempotency-Key once, however often it arrives. */
  idempotent: boolean;
}

export interface HttpRules {
  allow: HttpRule[];
  /** Where they are from, or would be. */
  file: string;
}

/** The rules as they are now. Rejects with SettingsError. */
export async function readHttpRules(home: Home): Promise<HttpRules> {
  const settings = await readSettingsFile(home.settingsFile);
  const allow = settings?.http?.allow ?? [];
  return {
    allow: allow.map(({ host, idempotent = false }) => ({ host, idempotent })),
    file: home.settingsFile,
  };
}

/** The rule for a URL's host and port, or undefined: it may not be asked. */
export function ruleFor(rules: HttpRules, url: URL): HttpRule | undefined {
  return rules.allow.find(({ host }) => placeOf(new URL(`${url.protocol}//${host}`)) === placeOf(url));
}

/** `example.com:443`: the same for each way to write it. */
export function placeOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}
