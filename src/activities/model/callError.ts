/** What goes wrong in a model call beside the HTTP errors that the SDK throws; failures.ts maps both. */

export type CallErrorKind =
  /** No byte for too long. */
  | 'stalled'
  /** The stream ended or broke before the reply was whole. */
  | 'broken'
  /** What came is no reply of the protocol. */
  | 'malformed'
  /** An error that the provider reported after its 200. */
  | 'reported'
  | 'bad_base_url'
  | 'missing_key';

/** Details of a `reported` error, as the provider sent them. */
export interface ReportedError {
  code?: string;
  type?: string;
  /** Gateways report the upstream's HTTP status in a number. */
  status?: number;
}

export class ModelCallError extends Error {
  readonly kind: CallErrorKind;
  readonly reported: ReportedError;

  constructor(
    kind: CallErrorKind,
    message: string,
    options: ErrorOptions & { reported?: ReportedError } = {},
  ) {
    super(message, options);
    this.name = 'ModelCallError';
    this.kind = kind;
    this.reported = options.reported ?? {};
  }
}
