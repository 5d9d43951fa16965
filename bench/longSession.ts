/** Sessions that have lived for long: archives of a chosen size, written by the archive's own writer. */
import { link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileArchive } from '../src/archive/segments.ts';
import type {
  EventBody,
  EventOf,
  SessionEvent,
  SessionSettings,
  WorkspaceBinding,
} from '../src/domain/event.ts';
import { applyEvent } from '../src/domain/fold.ts';
import { compactionId, operationId, runId } from '../src/domain/ids.ts';
import { ROLL_OVER_HISTORY_BYTES } from '../src/domain/limits.ts';
import type { SessionState } from '../src/domain/session.ts';

export interface LongSession {
  session_id: string;
  workspace: WorkspaceBinding;
  settings: SessionSettings;
  /** Of all events. */
  bytes: number;
  /** Lines of a patch that the last run applied; absent: it applied none. */
  patch_lines?: number;
}

/** A tool's output, of the size that is common for a file or a test's output. */
const OUTPUT = Array.from(
  { length: 90 },
  (_, line) => `${line}\tconst value${line} = compute(${line});`,
).join('\n');
const STEPS_PER_RUN = 20;
/** Between two summaries: what fills about 70 % of a window of 128,000 tokens. */
const BYTES_PER_SUMMARY = 340_000;

/** Writes the archive of an archived session: runs of twenty steps, a summary whenever a window would be full. */
export async function writeLongSession(root: string, session: LongSession): Promise<void> {
  const writer = new Writer(root, session);
  writer.emit({ type: 'session_created', user_id: 'bench', title: 'a long life', ...session });
  while (writer.bytes < session.bytes) await writer.run(STEPS_PER_RUN);
  while (!writer.isHalfFull()) await writer.run(2);
  if (session.patch_lines !== undefined) writer.patch(session.patch_lines);
  writer.emit({ type: 'session_archived' });
  await writer.segment();
}

/** The same archive under another id; the events of all but the first segment are the same files. */
export async function copyLongSession(root: string, from: string, to: string): Promise<void> {
  await mkdir(join(root, to), { mode: 0o700 });
  for (const name of await readdir(join(root, from))) {
    const [source, target] = [join(root, from, name), join(root, to, name)];
    if (!name.endsWith('.json')) await link(source, target);
    else await writeFile(target, (await readFile(source, 'utf8')).replaceAll(from, to));
  }
}

class Writer {
  bytes = 0;
  readonly #root: string;
  readonly #session: LongSession;
  #state: SessionState | null = null;
  #events: SessionEvent[] = [];
  #segment = 0;
  #segmentBytes = 0;
  #sinceSummary = 0;

  constructor(root: string, session: LongSession) {
    this.#root = root;
    this.#session = session;
  }

  emit(body: EventBody, run_id: string | undefined = this.#state?.run?.run_id): void {
    const seq = (this.#state?.seq ?? 0) + 1;
    const at = new Date(Date.UTC(2026, 0, 1) + seq * 1_000).toISOString();
    const event = { seq, at, ...(run_id === undefined ? {} : { run_id }), ...body };
    this.#state = applyEvent(this.#state, event);
    this.#events.push(event);
    const bytes = Buffer.byteLength(JSON.stringify(event)) + 1;
    this.bytes += bytes;
    this.#segmentBytes += bytes;
    this.#sinceSummary += bytes;
  }

  /** Whether the conversation since the last summary fills half of what it may; so the sizes differ in nothing else. */
  isHalfFull(): boolean {
    const share = this.#sinceSummary / BYTES_PER_SUMMARY;
    return share > 0.5 && share < 0.6;
  }

  async run(steps: number): Promise<void> {
    const number = (this.#state?.run_count ?? 0) + 1;
    const run_id = runId(this.#session.session_id, number);
    const message_id = `m${number}`;
    this.emit({
      type: 'user_message',
      message_id,
      text: `Task ${number}: ${'do it well. '.repeat(20)}`,
      delivery: 'queue',
    });
    this.emit({ type: 'run_started', trigger: 'message', message_ids: [message_id] }, run_id);
    this.emit({
      type: 'project_loaded',
      project: { digest: 'd', instructions: [], date: '2026-01-01', platform: 'linux x64' },
    });
    for (let step = 1; step <= steps; step += 1) {
      this.#step(run_id, step, step === steps);
      if (this.#sinceSummary > BYTES_PER_SUMMARY) this.#summarise();
      if (this.#segmentBytes > ROLL_OVER_HISTORY_BYTES) await this.segment();
    }
    const usage = this.#state?.run?.usage;
    if (usage !== undefined) this.emit({ type: 'run_finished', status: 'success', error: null, usage });
  }

  /** A run of one call, with a large argument. */
  patch(lines: number): void {
    const run_id = runId(this.#session.session_id, (this.#state?.run_count ?? 0) + 1);
    const patch = Array.from({ length: lines }, (_, line) => `+const line${line} = ${line};`).join('\n');
    this.emit({ type: 'user_message', message_id: 'patch', text: 'apply the patch', delivery: 'queue' });
    this.emit({ type: 'run_started', trigger: 'message', message_ids: ['patch'] }, run_id);
    const args = { patch: `*** Begin Patch\n*** Add File: big.ts\n${patch}\n*** End Patch` };
    this.#call(run_id, 1, 'apply_patch', args, 'big.ts');
    this.#answer(run_id, 2);
    const usage = this.#state?.run?.usage;
    if (usage !== undefined) this.emit({ type: 'run_finished', status: 'success', error: null, usage });
  }

  async segment(): Promise<void> {
    const [first] = this.#events;
    if (first === undefined || this.#state === null) return;
    this.#segment += 1;
    const { session_id } = this.#session;
    const range = { from_seq: first.seq, through_seq: this.#state.seq, state: this.#state };
    await fileArchive(this.#root).write({ session_id, segment: this.#segment, ...range }, this.#events);
    this.#events = [];
    this.#segmentBytes = 0;
  }

  #step(run_id: string, step: number, last: boolean): void {
    const path = `src/file${step}.ts`;
    if (last) this.#answer(run_id, step);
    else this.#call(run_id, step, 'read_file', { path }, path);
  }

  #answer(run_id: string, step: number): void {
    this.#reply(run_id, step, { text: 'Done, and checked.', tool_calls: [], finish_reason: 'stop' });
  }

  #call(run_id: string, step: number, tool: string, args: object, target: string): void {
    const operation_id = operationId(run_id, step, 1);
    const call_id = `call_${operation_id}`;
    const text = 'I look at the next file.';
    const tool_calls = [{ call_id, tool, arguments: JSON.stringify(args) }];
    this.#reply(run_id, step, { text, tool_calls, finish_reason: 'tool_calls' });
    const effect = tool === 'read_file' ? 'read' : 'side_effect';
    this.emit({ type: 'tool_call', call_id, operation_id, tool, args, effect, target });
    const versions = [{ path: `src/file${(this.#state?.seq ?? 0) % 2_000}.ts`, version: 'f'.repeat(64) }];
    this.emit({ type: 'tool_result', call_id, operation_id, status: 'success', output: OUTPUT, versions });
  }

  #reply(
    run_id: string,
    step: number,
    reply: Pick<EventOf<'assistant_message'>, 'text' | 'tool_calls' | 'finish_reason'>,
  ): void {
    const operation_id = operationId(run_id, step, 0);
    const { model } = this.#session.settings;
    this.emit({ type: 'model_called', operation_id, model, through_seq: this.#state?.seq ?? 0 });
    const tokens = { cached_input_tokens: 0, output_tokens: 80, reasoning_tokens: 0 };
    this.emit({
      type: 'assistant_message',
      operation_id,
      ...reply,
      reasoning: null,
      usage: { input_tokens: 5_000 + Math.floor(this.#sinceSummary / 4), ...tokens },
      context_digest: 'd'.repeat(64),
    });
  }

  #summarise(): void {
    const { seq = 0, compactions = 0 } = this.#state ?? {};
    this.#sinceSummary = 0;
    this.emit({
      type: 'summary_created',
      operation_id: compactionId(this.#session.session_id, compactions + 1),
      through_seq: seq,
      text: 'What was done so far, in short. '.repeat(200),
      user_messages: [`Task ${this.#state?.run_count}`],
      carried: [],
      tokens_before: 160_000,
      tokens_after: 9_000,
      usage: null,
    });
  }
}
