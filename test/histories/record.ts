/**
 * `npm run record-histories -- VERSION [NAME…]`: runs sessions that go through each kind of step on a real server and
 * keeps their Temporal histories as test/histories/VERSION/NAME.json. Recorded once for each released version of
 * the workflow and never again: what they show is that sessions of that version go on under this one.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApplicationFailure } from '@temporalio/common';
import type { CallModelResult, ContextFull } from '../../src/activities/contract.ts';
import type { Summary } from '../../src/domain/event.ts';
import type { GoalAction } from '../../src/domain/goalActions.ts';
import { execa } from 'execa';
import { workflowId } from '../../src/domain/ids.ts';
import { findTemporal } from '../../src/server/binary.ts';
import { calls, sessionRig, untilCancelled } from '../support/fakeActivities.ts';
import type { SessionHandle, SessionRig } from '../support/fakeActivities.ts';

const [version, ...only] = process.argv.slice(2);
if (version === undefined) throw new Error('Expected the version that is recorded, found none.');
const folder = join(dirname(fileURLToPath(import.meta.url)), version);

const steps =
  (...replies: Partial<CallModelResult>[]) =>
  (call: number): Partial<CallModelResult> =>
    replies[call] ?? { text: 'done' };

function kept(tool: string, args: object): Partial<CallModelResult> {
  return calls({ tool, arguments: JSON.stringify(args), effect: 'read', call_id: '' });
}

function summaryThrough(through_seq: number): Summary {
  const sizes = { tokens_before: 900, tokens_after: 100, usage: null };
  return { through_seq, text: 'so far', user_messages: ['go'], carried: [], ...sizes };
}

const STORIES: Record<string, (rig: SessionRig) => Promise<SessionHandle>> = {
  tools: async (rig) => {
    const session = await rig.start({
      model: steps(calls({ tool: 'r1', effect: 'read' }, { tool: 'r2', effect: 'read' }, { tool: 'w' })),
    });
    await session.send('second');
    await session.send('third', { delivery: 'steer' });
    await session.untilIdle();
    return session;
  },
  approval: async (rig) => {
    const session = await rig.start(
      { model: steps(calls({ tool: 'w1' }), calls({ tool: 'w2', call_id: 'd' })) },
      { settings: { approval: 'ask' } },
    );
    await session.until((facts) => facts.pending_approvals.length === 1);
    await session.signal('decide', { call_id: null, decision: 'approve', by: 'u', reason: '' });
    await session.until((facts) => facts.pending_approvals[0]?.call_id === 'd');
    await session.signal('decide', { call_id: 'd', decision: 'deny', by: 'u', reason: 'no' });
    await session.untilIdle();
    return session;
  },
  interrupt: async (rig) => {
    const session = await rig.start({
      model: steps(calls({ tool: 'w1' }, { tool: 'w2' })),
      tool: async () => untilCancelled().catch(() => ({ status: 'cancelled' as const, output: 'stopped' })),
    });
    await session.until((facts) => facts.current_calls.length === 2);
    await session.signal('interrupt', { by: 'u' });
    await session.untilIdle();
    return session;
  },
  recovery: async (rig) => {
    const session = await rig.start({
      model: steps(calls({ tool: 'a' }, { tool: 'b' }, { tool: 'c' }, { tool: 'd' })),
      tool: ({ attempt }) => {
        if (attempt === 1) throw ApplicationFailure.create({ type: 'worker.lost', nonRetryable: true });
        return { status: 'success', output: 'second attempt' };
      },
      reconcile: async ({ call_id }) => {
        const evidence = 'looked';
        if (call_id === 'c0') {
          return { status: 'completed', evidence, outcome: { status: 'success', output: 'real' } };
        }
        const found = { c1: 'running', c2: 'not_run' } as const;
        return { status: found[call_id as 'c1' | 'c2'] ?? 'unknown', evidence };
      },
    });
    await session.untilIdle();
    await session.signal('resolve', { call_id: 'c3', as: 'done', note: 'seen' });
    await session.until((facts) => facts.uncertain.length === 0);
    return session;
  },
  failure: async (rig) => {
    const session = await rig.start({
      model: () => {
        throw ApplicationFailure.create({ type: 'model.auth', message: 'key refused', nonRetryable: true });
      },
    });
    await session.untilIdle();
    return session;
  },
  continued: async (rig) => {
    const session = await rig.start(
      { model: (call) => (call < 12 ? calls({ tool: 'w', call_id: `w${call}` }) : { text: 'done' }) },
      { history_events: 60 },
    );
    await session.untilIdle();
    return session;
  },
  goal: async (rig) => {
    const session = await rig.start(
      {
        model: (call) => {
          if (call === 0) return kept('update_plan', { steps: [{ step: 'wait', status: 'in_progress' }] });
          if (call === 2) return { text: 'an answer to the message' };
          if (call === 5) return kept('update_goal', { status: 'complete', note: 'done' });
          return kept('update_goal', { status: 'active', note: `look ${call}`, wait_seconds: 60 });
        },
      },
      { goal: { objective: 'wait for it', budget: 40 }, goal_second_ms: 10 },
    );
    const act = async (action: GoalAction): Promise<void> => session.signal('goal', { by: 'u', action });
    await session.until(({ goal }) => goal?.next_run_at != null);
    await act({ do: 'pause' });
    await session.send('how is it?');
    await session.until(({ run_count, run_state }) => run_count === 2 && run_state === 'idle');
    await act({ do: 'resume' });
    await session.until(({ goal }) => goal?.status === 'budget_limited');
    await act({ do: 'budget', budget: 1_000 });
    await session.until(({ goal, run_state }) => goal?.status === 'complete' && run_state === 'idle');
    return session;
  },
  compaction: async (rig) => {
    const full: ContextFull = { context_full: { tokens: 900, window: 1_000 } };
    const session = await rig.start({
      model: (call) => {
        if (call === 2)
          throw ApplicationFailure.create({ type: 'model.context_too_long', message: 'long', nonRetryable: true });
        return call === 0 ? calls({ tool: 'w' }) : call === 1 || call === 4 ? full : { text: 'done' };
      },
      summarize: (summary, { through_seq }) => (summary === 3 ? null : summaryThrough(through_seq - 1)),
    });
    await session.untilIdle();
    await session.signal('compact', { by: 'u' });
    await session.until(({ context }) => context.compactions === 3 && !context.compacting);
    await session.send('again');
    await session.until(({ run_count, run_state }) => run_count === 2 && run_state === 'idle');
    return session;
  },
  archived: async (rig) => {
    const session = await rig.start({ model: () => ({ text: 'hello' }) });
    await session.untilIdle();
    await session.signal('archive');
    await rig.client.workflow.getHandle(workflowId(session.session_id)).result();
    return session;
  },
};

await mkdir(folder, { recursive: true });
{
  await using rig = await sessionRig();
  for (const [name, tell] of Object.entries(STORIES)) {
    if (only.length > 0 && !only.includes(name)) continue;
    const { session_id } = await tell(rig);
    const query = `WorkflowId = '${workflowId(session_id)}'`;
    let part = 0;
    for await (const { workflowId: id, runId } of rig.client.workflow.list({ query })) {
      part += 1;
      const file = `${name}${part === 1 ? '' : `-${part}`}.json`;
      await writeFile(join(folder, file), await exportHistory(rig.address, id, runId));
    }
  }
}
process.exit();

/** As the Temporal CLI exports it, which is the form that replay takes. */
async function exportHistory(address: string, id: string, runId: string): Promise<string> {
  const { path } = await findTemporal();
  const which = ['--workflow-id', id, '--run-id', runId];
  const { stdout } = await execa(path, ['workflow', 'show', '--address', address, '--output', 'json', ...which]);
  return `${stdout}\n`;
}
