/** A row of the table, and the figures it is made of. */
export interface Row {
  what: string;
  value: number;
  unit: string;
  /** What it should be at most, where there is such a figure. */
  at_most?: number;
  samples: number;
}

/** The value below which `share` (0 to 1) of the samples lie. */
function percentile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Two rows: median and 95th percentile. */
export function spread(what: string, unit: string, samples: number[], at_most?: number): Row[] {
  const common = { unit, samples: samples.length };
  return [
    {
      what: `${what}, p50`,
      value: percentile(samples, 0.5),
      ...common,
      ...(at_most === undefined ? {} : { at_most }),
    },
    { what: `${what}, p95`, value: percentile(samples, 0.95), ...common },
  ];
}

/** The table for a person. */
export function formatTable(rows: Row[]): string {
  const lines = rows.map(({ what, value, unit, at_most, samples }) => [
    what,
    `${format(value)} ${unit}`,
    at_most === undefined ? '' : `${value <= at_most ? 'within' : 'ABOVE'} ${format(at_most)}`,
    `n=${samples}`,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n');
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
