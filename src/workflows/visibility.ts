/** Search attributes: what `holdfast sessions` lists without asking any workflow. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { runStateName } from '../domain/facts.ts';
import type { SessionState } from '../domain/session.ts';

const KEYWORDS = {
  HoldfastStatus: (state: SessionState) => state.status,
  HoldfastRunState: runStateName,
  HoldfastUser: (state: SessionState) => state.user_id,
  HoldfastWorkspace: (state: SessionState) => state.workspace.path,
  HoldfastHost: (state: SessionState) => state.workspace.host,
  HoldfastTitle: (state: SessionState) => state.title,
};

const NUMBERS = {
  HoldfastRuns: (state: SessionState) => state.run_count,
  HoldfastUncertain: (state: SessionState) => state.uncertain.length,
};

const TIMES = {
  HoldfastCreatedAt: (state: SessionState) => state.created_at,
  HoldfastUpdatedAt: (state: SessionState) => state.updated_at,
};

/** Writes what changed. The time of the last change goes along with other changes alone: each upsert is an event. */
export function publishAttributes(state: SessionState): void {
  const known = workflowInfo().typedSearchAttributes;
  const changed: SearchAttributeUpdatePair[] = [];
  for (const [name, read] of Object.entries(KEYWORDS)) {
    const key = defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
    const value = clip(read(state));
    if (known.get(key) !== value) changed.push({ key, value });
  }
  for (const [name, read] of Object.entries(NUMBERS)) {
    const key = defineSearchAttributeKey(name, SearchAttributeType.INT);
    if (known.get(key) !== read(state)) changed.push({ key, value: read(state) });
  }
  if (changed.length === 0) return;
  for (const [name, read] of Object.entries(TIMES)) {
    changed.push({
      key: defineSearchAttributeKey(name, SearchAttributeType.DATETIME),
      value: new Date(read(state)),
    });
  }
  upsertSearchAttributes(changed);
}

/** SQL stores keep this much of a keyword (VARCHAR(255) in Temporal's visibility schema) and refuse more. */
const KEYWORD_MAX_CHARS = 255;

function clip(text: string): string {
  return text.slice(0, KEYWORD_MAX_CHARS).toWellFormed();
}
