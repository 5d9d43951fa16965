/** Everything that the worker's workflow bundle exports: the workflow types, by name. */
export { session } from './session.ts';
