/** Everything that the worker's workflow bundle exports: the workflow types, by name. */
export { preview } from './preview.ts';
export { session } from './session.ts';
