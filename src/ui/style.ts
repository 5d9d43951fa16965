/** Colours, or the same words without them. */
import { styleText } from 'node:util';

export type Style = (text: string) => string;

export interface Styles {
  dim: Style;
  bold: Style;
  good: Style;
  bad: Style;
  warn: Style;
  name: Style;
}

/** Escape sequences when `color`, else the text as it is. */
export function stylesFor(color: boolean): Styles {
  const style = (format: Parameters<typeof styleText>[0]): Style =>
    color ? (text) => styleText(format, text, { validateStream: false }) : (text) => text;
  return {
    dim: style('dim'),
    bold: style('bold'),
    good: style('green'),
    bad: style('red'),
    warn: style('yellow'),
    name: style('cyan'),
  };
}
