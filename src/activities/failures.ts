/** Infrastructure failures as the workflow reads them: a dotted type, a message, a remedy. */
import { ApplicationFailure } from '@temporalio/common';
import type { FailureType } from '../domain/failure.ts';

/** An ApplicationFailure that is not tried again by Temporal itself. */
export function finalFailure(type: FailureType, message: string, remedy?: string): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable: true,
    details: remedy === undefined ? [] : [{ remedy }],
  });
}
