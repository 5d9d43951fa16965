/** What became of a request whose result is missing: the truth table of http_request. */
import type { Reconciliation } from '../../domain/tool.ts';
import { ruleFor } from '../../host/httpRules.ts';
import type { ToolContext } from '../tools/tool.ts';
import { HttpProofs, type HttpPlan, type Sent } from './proofs.ts';
import { receiptOutcome } from './receiptOutcome.ts';

/** Looks, and shuts what was not gone through. `url` and `method` are those of the first request. */
export async function reconcileRequest(
  method: string,
  url: URL,
  context: ToolContext,
): Promise<Reconciliation> {
  const proofs = new HttpProofs(context.operation, context.attempt);
  try {
    if ((await context.operation.closeGate(context.attempt)) === 'closed')
      return notSent('it had not been begun');
    const receipt = await proofs.readReceipt();
    if (receipt !== undefined) {
      return {
        status: 'completed',
        evidence: `The receipt of ${receipt.method} ${receipt.url} is here: what came of it is known.`,
        outcome: await receiptOutcome(receipt, context),
      };
    }
    const sent = await proofs.closeSent();
    if (sent === 'closed') return notSent('it had been begun, but not a byte had left');
    return await sentWithoutReceipt(method, url, sent, proofs, context);
  } catch (error) {
    if (!(error instanceof Error) || 'code' in error) throw error;
    return { status: 'unknown', evidence: `What became of the request is not known. ${error.message}` };
  }
}

function notSent(why: string): Reconciliation {
  return { status: 'not_run', evidence: `Nothing was sent: ${why}, and the way to send it is shut now.` };
}

async function sentWithoutReceipt(
  method: string,
  url: URL,
  sent: Sent,
  proofs: HttpProofs,
  context: ToolContext,
): Promise<Reconciliation> {
  const { operation_id } = context.operation;
  const intent = await proofs.record.readIntent<HttpPlan>();
  const hops = (await proofs.readHops()).map(
    (hop) => ` ${hop.method} ${hop.url} answered ${hop.status}, a redirect.`,
  );
  const body =
    intent?.plan.body_sha256 == null
      ? ''
      : ` with a body of ${intent.plan.body_bytes} bytes (sha256 ${intent.plan.body_sha256})`;
  const what = `${method} ${intent?.plan.url ?? url.origin} was sent${body} at ${sent.at} by worker ${sent.worker}, which was lost before an answer was recorded.${hops.join('')}`;
  const why = await reasonToRepeat(method, url, context);
  if (why !== undefined) {
    return {
      status: 'not_run',
      evidence: `${what} It may have had its effect. It may be repeated: ${why}. It is sent again under the same Idempotency-Key, ${operation_id}.`,
    };
  }
  return {
    status: 'unknown',
    evidence: `${what} Whether ${url.host} acted on it is not known, and it is not sent again by itself. Ask the service (its Idempotency-Key was ${operation_id}) before you rely on either.`,
  };
}

/** Why a second one does no harm; undefined: nobody has said so. */
async function reasonToRepeat(method: string, url: URL, context: ToolContext): Promise<string | undefined> {
  if (method === 'PUT' || method === 'DELETE') return `${method} is idempotent (RFC 9110, section 9.2.2)`;
  const rules = await context.httpRules().catch(() => undefined);
  return rules !== undefined && ruleFor(rules, url)?.idempotent === true
    ? `${url.host} is declared idempotent in ${rules.file}`
    : undefined;
}
