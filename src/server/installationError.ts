/** The embedded installation does not come up; `message` says what was expected, what was found, what to do. */
export class InstallationError extends Error {
  override name = 'InstallationError';
}
