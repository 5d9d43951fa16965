/** What the session machine knows of tools: their names, effects and outcomes. Their work is in activities/tools. */

/**
 * How a call may be treated when its result is missing: `read` may be repeated, `idempotent` may be
 * repeated with the same operation_id, `side_effect` must never be repeated blindly.
 */
export type EffectClass = 'read' | 'idempotent' | 'side_effect';

/** A whole output, stored by content. */
export interface BlobRef {
  sha256: string;
  bytes: number;
}

/** What a call saw or left of a file; `version` is the sha256 of its bytes, null when the file is gone. */
export interface FileVersion {
  /** Relative to the workspace's root, symlinks resolved, with `/`. */
  path: string;
  version: string | null;
}

/** `failed` is the tool's own failure: a result that the model reads, not an error of the system. */
export type ToolStatus = 'success' | 'failed' | 'cancelled' | 'denied';

/** What came of a call. */
export interface ToolOutcome {
  status: ToolStatus;
  /** For the model; at most OUTPUT_MAX_BYTES, valid Unicode without NUL. */
  output: string;
  exit_code?: number;
  /** The whole output, when `output` is only a part of it. */
  blob?: BlobRef;
  /** Files read or written; the session remembers them for the next write's check. */
  versions?: FileVersion[];
}

/**
 * What a tool found out about an operation without a result. `evidence` is told to the model and the user
 * as it stands: what is known, with times, hashes and outputs. A `not_run` is final: the tool has made sure
 * that a late worker can't begin it any more.
 */
export type Reconciliation =
  | { status: 'completed'; evidence: string; outcome: ToolOutcome }
  | { status: 'running'; evidence: string }
  | { status: 'not_run'; evidence: string }
  | { status: 'unknown'; evidence: string };

/** What may be done without asking: `ask` asks before side effects, `read-only` denies them. */
export type ApprovalPolicy = 'auto' | 'ask' | 'read-only';
