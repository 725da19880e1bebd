import type { StoreFacts } from './facts.ts'
import type { QuestionFacts } from './measure.ts'
import type { RetentionRow } from './retention.ts'

/** The part of the page about the store of observations. */
export function storeSection({ rounds, load, questions, retention }: StoreFacts): string {
  return `A month of ${thousands(load.rows)} observations of 20 projects in the embedded ClickHouse, in a process of its
own: the largest project has 28 % of them, the middle one that is asked 6 %. One in a hundred was sent
again, and of the last minutes nothing is merged yet. Texts are cuts of documentation.

| load | |
|---|---|
| bytes a row, as they are | ${Math.round(load.raw_bytes_per_row)} |
| bytes a row on disk | **${Math.round(load.bytes_per_row)}** (goal ≤ 900) |
| partitions, parts | ${load.partitions}, ${load.parts} |
| µs of ClickHouse's processor time a row, making it up and merging included | ${load.cpu_us.toFixed(1)} |

### Questions

Times are wall time in ms from the question to its rows in JSON, medians of ${rounds} rounds that ask the query
language and the SQL written by hand in turn, each round of other hours or another trace. Cold: after a
fresh start, files out of the system's cache. What a statement costs that does nothing is in all of them.

| question | ms | spread | goal | by hand | ours − by hand | compile | explain | cold | CPU ms | by hand | rows read | by hand | same answer |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
${questions.map(questionLine).join('\n')}

### Taking out a day of thirty

While a client asks for the hourly p95 again and again.

| way | ms | rows | MB freed at once | slowest question meanwhile, ms |
|---|---|---|---|---|
${retention.map(retentionLine).join('\n')}

Why partitions should be days: \`docs/decisions/0022-observations-by-day.md\`.
`
}

function questionLine(question: QuestionFacts): string {
  const { name, goal_ms, compiled, hand, overhead_ms, compile_ms, explain_ms, equal } = question
  const [low, high] = compiled.spread_ms
  return `| ${[
    name,
    `**${compiled.warm_ms.toFixed(1)}**`,
    `${low.toFixed(0)}–${high.toFixed(0)}`,
    `≤ ${goal_ms}`,
    hand.warm_ms.toFixed(1),
    overhead_ms.toFixed(1),
    compile_ms.toFixed(2),
    explain_ms.toFixed(1),
    compiled.cold_ms.toFixed(0),
    ...[compiled, hand].map((cost) => cost.cpu_ms.toFixed(0)),
    ...[compiled, hand].map((cost) => thousands(cost.rows_read)),
    equal ? 'yes' : '**no**',
  ].join(' | ')} |`
}

function retentionLine({ way, took_ms, rows, freed_bytes, slowest_ms }: RetentionRow): string {
  return `| ${[
    way,
    `**${Math.round(took_ms)}**`,
    thousands(rows),
    Math.round(freed_bytes / 1e6),
    Math.round(slowest_ms),
  ].join(' | ')} |`
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
