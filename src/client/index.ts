/** The library: everything that the command line does with sessions, it does through this. */
export { connect, type CallOptions, type Service } from './service.ts';
export { locateEndpoint, usesExistingService, type Endpoint, type LocateOptions } from './endpoint.ts';
export { createSession, titleOf, type NewSession, type Sent } from './create.ts';
export {
  archive,
  complete,
  configure,
  decide,
  interrupt,
  rebind,
  rename,
  reopen,
  resolveOperation,
  sendMessage,
  type Message,
} from './send.ts';
export { actOnSessionGoal } from './goal.ts';
export type { SettingsChange } from '../domain/settings.ts';
export { facts, type KnownFacts } from './facts.ts';
export { readEvents } from './events.ts';
export { follow, type ConnectionChange, type FollowOptions } from './follow.ts';
export { followRun, type FollowRunOptions } from './run.ts';
export { RunTracker } from './runTracker.ts';
export { waitIdle } from './wait.ts';
export { listSessions, type ListedSession, type ListOptions } from './list.ts';
export { resolveId } from './resolve.ts';
export { previewContext } from './preview.ts';
export { outcomeOfRun, outcomeOfSession, type RunOutcome } from './outcome.ts';
export { EXIT, HoldfastError, type ExitCode } from './errors.ts';
export type { Delta } from './live.ts';
