import { goal_ratio, type TaskPageRow, type TasksFacts } from './facts.ts'

/** The part of the page about lists of a task. */
export function tasksSection({ rounds, small_calls, rows }: TasksFacts): string {
  return `A page of 50 entries of the timeline of a task, and of its tool calls, from the request to the JSON of the
answer; medians of ${rounds} rounds. The ratio compares with the first page of a task of ${small_calls} calls in the same round;
the goal is for first pages.

| list | page | calls | ${small_calls} calls, ms | ms | ratio | goal | |
|---|---|---|---|---|---|---|---|
${rows.map(lineOf).join('\n')}
`
}

function lineOf({ list, page, calls, small_ms, large_ms, ratio }: TaskPageRow): string {
  const goal = page === 'first' ? `≤ ${goal_ratio}` : '–'
  const met = page === 'first' ? (ratio <= goal_ratio ? 'met' : 'missed') : ''
  return `| ${[
    ...[list, page, calls.toLocaleString('en-US'), small_ms.toFixed(0), large_ms.toFixed(0)],
    ...[`**${ratio.toFixed(2)}**`, goal, met],
  ].join(' | ')} |`
}
