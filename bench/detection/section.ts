import { type DetectionFacts, type DetectionRow, goals_us } from './facts.ts'

/** The part of the page about detection. */
export function detectionSection({ calls, rows }: DetectionFacts): string {
  return `What a new call of a long task costs the worker: taking it into the run of the task, and all detectors
on that run. Microseconds of processor time, medians of the last ${calls} calls; the ratio is against
JSON.parse of the same input. Held is what a reconstruction says that it holds: at most, and about.

| history | steps | KB | JSON.parse | take | detect | together, of the worst call | goal | | ratio | held, KB |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.map(lineOf).join('\n')}
`
}

function lineOf(row: DetectionRow): string {
  const goal = goals_us[row.steps] ?? 0
  const together = row.take_us + row.detect_us
  return `| ${[
    row.history,
    row.steps,
    Math.round(row.input_chars / 1_000),
    row.parse_us,
    row.take_us,
    row.detect_us,
    `**${together}**, ${row.worst_us}`,
    `≤ ${goal}`,
    together <= goal ? 'met' : 'missed',
    row.ratio.toFixed(1),
    Math.round(row.told_bytes / 1_000),
  ].join(' | ')} |`
}
