import { expect, test } from 'vitest';
import { clip, oneLine, pad, printable, widthOf } from '../../src/ui/text.ts';

test.each([
  ['a colour', '\u001B[31mred\u001B[0m', 'red'],
  ["a terminal's title", '\u001B]0;title\u0007text', 'text'],
  ['a hyperlink', '\u001B]8;;http://x\u001B\\link\u001B]8;;\u001B\\', 'link'],
  ['a screen reset', '\u001Bcgone', 'gone'],
  ['C1 controls', 'a\u009B31mb\u0000c', 'a31mbc'],
  ['a turned direction', 'a\u202Eb', 'ab'],
  ['line ends and tabs', 'a\r\n\tb\rc\n', 'a\n\tbc\n'],
])('%s can not steer the terminal', (_name, text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('a text on one line has single blanks', () => {
  expect(oneLine(' a\n\n  b\tc ')).toBe('a b c');
});

test.each([
  ['short', 5, 'short'],
  ['longer', 5, 'long…'],
  ['日本語', 6, '日本語'],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
  ['e\u0301e\u0301e\u0301', 3, 'e\u0301e\u0301e\u0301'],
])('%s in %i columns', (text, columns, clipped) => {
  expect(clip(text, columns)).toBe(clipped);
  expect(widthOf(clip(text, columns))).toBeLessThanOrEqual(columns);
});

test('padding counts columns, not characters', () => {
  expect(widthOf(pad('日本', 6))).toBe(6);
});
