/** Messages lost: each one that was accepted is in the log once, in order, was taken by a run and answered. */
import { answeredBy } from '../load/model.ts';
import { messageId } from '../load/talk.ts';
import { all, type Evidence } from './evidence.ts';
import { violation, type Violation } from './verdict.ts';

export function checkMessages(evidence: Evidence): Violation[] {
  const { told, events } = evidence;
  const lost = (what: string): Violation => violation(evidence, 'messages lost', what);
  const sent = told.sent.map(({ number }) => messageId(told.session, number));
  const logged = all(events, 'user_message').map(({ message_id }) => message_id);
  const found: Violation[] = [];
  if (logged.join(' ') !== sent.join(' '))
    found.push(lost(`expected the messages ${sent.join(' ')} in the log, found ${logged.join(' ')}`));
  const entered = enteredIn(evidence);
  for (const id of sent.filter((id) => !entered.includes(id))) found.push(lost(`no run took ${id}`));
  for (const id of new Set(entered))
    if (entered.filter((other) => other === id).length > 1) found.push(lost(`${id} was taken twice`));
  return [...found, ...unanswered(evidence).map((number) => lost(`message ${number} was not answered`))];
}

/** The messages that began a run or came into one, in order. */
function enteredIn({ events }: Evidence): string[] {
  const waiting = new Map<string, number>();
  const entered: string[] = [];
  for (const event of events) {
    if (event.type === 'user_message' && event.delivery === 'steer') waiting.set(event.message_id, event.seq);
    if (event.type === 'run_started') {
      for (const id of event.message_ids) {
        waiting.delete(id);
        entered.push(id);
      }
    }
    if (event.type !== 'model_called') continue;
    for (const [id, seq] of waiting) {
      if (seq > event.through_seq) continue;
      waiting.delete(id);
      entered.push(id);
    }
  }
  return entered;
}

/** Only of a session whose last run ended well: the model answers all that is open with its next answer. */
function unanswered({ told, events }: Evidence): number[] {
  if (all(events, 'run_finished').at(-1)?.status !== 'success') return [];
  const answered = new Set(all(events, 'assistant_message').flatMap(({ text }) => answeredBy(text)));
  return told.sent.map(({ number }) => number).filter((number) => !answered.has(number));
}
