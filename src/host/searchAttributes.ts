/**
 * What a session shows of itself to visibility, so that sessions can be listed and found without asking
 * each workflow. One table for the server that registers the names, the workflow that sets them and the
 * client that queries them. Nothing is imported here: workflow code may use this file.
 */
export const SEARCH_ATTRIBUTES = {
  /** `active`, `completed` or `archived`. */
  HoldfastStatus: 'Keyword',
  /** What the session does at this moment, one word. */
  HoldfastRunState: 'Keyword',
  HoldfastUser: 'Keyword',
  /** Absolute path of the workspace on its host. */
  HoldfastWorkspace: 'Keyword',
  /** Host id of the workspace (host/home.ts). */
  HoldfastHost: 'Keyword',
  HoldfastTitle: 'Keyword',
  /** How many runs the session has had. */
  HoldfastRuns: 'Int',
  /** How many operations have an outcome that is not known. */
  HoldfastUncertain: 'Int',
  HoldfastCreatedAt: 'Datetime',
  HoldfastUpdatedAt: 'Datetime',
} as const;

export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;
