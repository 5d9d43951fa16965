/** The output items of a response under way, and which of them an event is about. */
import { asList, asRecord, asText, type JsonRecord } from './json.ts';

export interface OutputItem {
  type: string;
  id: string;
  output_index: number | undefined;
  text: string;
  refusal: string;
  call_id: string;
  name: string;
  args: string;
  /** As the server sent it last. */
  raw: JsonRecord;
  /** Whether `raw` is the whole item. */
  done: boolean;
}

/** An item from its wire form; `event` says its place. */
export function itemOf(raw: JsonRecord, event: JsonRecord, done: boolean): OutputItem {
  const parts = asList(raw['content']).map(asRecord);
  return {
    type: asText(raw['type']),
    id: asText(raw['id']),
    output_index: indexOf(event),
    text: parts
      .filter(({ type }) => type === 'output_text' || type === 'text')
      .map(({ text }) => asText(text))
      .join(''),
    refusal: parts.map(({ refusal }) => asText(refusal)).join(''),
    call_id: asText(raw['call_id']),
    name: asText(raw['name']),
    args: asText(raw['arguments']),
    raw,
    done,
  };
}

/** Where the event's item is, by its index or else its id; -1 when it is not there. */
export function placeOfItem(items: OutputItem[], event: JsonRecord): number {
  const index = indexOf(event);
  const id = asText(event['item_id']);
  const byIndex = items.findIndex(({ output_index }) => index !== undefined && output_index === index);
  return byIndex >= 0 ? byIndex : items.findIndex((item) => id !== '' && item.id === id);
}

/** Updates the event's item; one that was never announced is the last of its type, or begins with it. */
export function changeItem(
  items: OutputItem[],
  event: JsonRecord,
  type: string,
  update: (item: OutputItem) => OutputItem,
): OutputItem[] {
  const named = placeOfItem(items, event);
  const nameless = indexOf(event) === undefined && asText(event['item_id']) === '';
  const place = named < 0 && nameless ? items.findLastIndex((item) => item.type === type) : named;
  const item = items[place];
  if (item !== undefined) return items.with(place, update(item));
  return [...items, update(itemOf({ type, id: event['item_id'] }, event, false))];
}

function indexOf(event: JsonRecord): number | undefined {
  return typeof event['output_index'] === 'number' ? event['output_index'] : undefined;
}
