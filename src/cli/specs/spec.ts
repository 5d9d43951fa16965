/** The form of a command: its arguments and options, and where its work is. */
import type { Option } from 'commander';
import type { Handler } from '../context.ts';
import { jsonOption } from '../options.ts';

export interface CommandSpec {
  name: string;
  summary: string;
  /** Name in commander's form (`<id>`, `[id]`, `<text...>`) and description. */
  args: [string, string][];
  options: () => Option[];
  help?: string;
  hidden?: true;
  load: () => Promise<Handler>;
}

export const ID: [string, string] = ['<id>', "the session's id, or its beginning"];
export const none = (): Option[] => [];
export const json = (): Option[] => [jsonOption()];
