import { type DetectionFacts, type DetectionRow, goals_us } from './facts.ts'

/** The part of the page about detection. */
export function detectionSection({ calls, rows }: DetectionFacts): string {
  return `The worker's cost of a new call of a long task: adding it to the reconstruction, and all detectors
on the run. Microseconds of processor time, medians of the last ${calls} calls; the ratio is relative to
JSON.parse of the same input. Held is the reconstruction's own estimate of its memory, an upper bound.

| history | steps | KB | JSON.parse | reconstruct | detect | together, worst call | goal | | ratio | held, KB |
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
