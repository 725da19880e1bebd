import { archiveSection } from './archive-section.ts'
import type { StoreFacts } from './facts.ts'
import { sameness, spreadOf, thousands, verdict, within } from './figures.ts'
import { hotSection } from './hot-section.ts'
import type { QuestionFacts } from './measure.ts'
import type { RetentionRow } from './retention.ts'
import { routeSection } from './route-section.ts'

/** The part of the page about the stores of observations. */
export function storeSection(facts: StoreFacts): string {
  const { rounds, load, questions, routes, hot, archive, retention } = facts
  return `A month of ${thousands(load.rows)} observations of 20 projects in the embedded ClickHouse, in a separate
process: the largest project has 28 % of them, the middle one in the questions 6 %. One in a hundred was sent
again. Finished days are one part each, as the engine merges them two hours after their last insert;
the last minutes are unmerged, and repeat rows of the last two days. Texts are cuts of
documentation.

| load | | goal | |
|---|---|---|---|
| bytes a row, uncompressed | ${Math.round(load.raw_bytes_per_row)} | | |
| bytes a row on disk | **${Math.round(load.bytes_per_row)}** | ≤ ${rowGoalBytes} | ${verdict(load.bytes_per_row <= rowGoalBytes)} |
| partitions, parts | ${load.partitions}, ${load.parts} | | |
| µs of ClickHouse's processor time a row, including generating and merging | ${load.cpu_us.toFixed(1)} | | |

### Questions

Times are wall time in ms from the question to its rows in JSON, medians of ${rounds} rounds that run the query
language and the handwritten SQL in turn, each round with other hours or another trace. Cold: after a
restart, with files dropped from the system's cache. All include the cost of an empty statement.
Goals are for the question (warm), for compiling (≤ ${compileGoalMs} ms) and for explaining (≤ ${explainGoalMs} ms).

| question | ms | spread | goal | | by hand | ours − by hand | compile | | explain | | cold | CPU ms | by hand | rows read | by hand | same answer |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
${questions.map(questionLine).join('\n')}

${routeSection(routes)}
${hotSection(hot)}
${archiveSection(archive)}
### Deleting a day of thirty

A client asks for the hourly p95 repeatedly meanwhile. A worker processes its runs together, and deletes the
rows of one day with one statement; if no row of the day is kept, the day is dropped. One
project after the other shows the time if their runs never meet.

| way | ms | goal | | rows | rows left | MB freed at once | slowest question meanwhile, ms |
|---|---|---|---|---|---|---|---|
${retention.map(retentionLine).join('\n')}

Why partitions should be days: \`docs/decisions/0022-observations-by-day.md\`. The whole part took ${Math.round(facts.took_s / 6) / 10} minutes.
`
}

const rowGoalBytes = 900
const compileGoalMs = 1
const explainGoalMs = 20
const dayGoalMs = 5_000

function questionLine(question: QuestionFacts): string {
  const { name, goal_ms, compiled, hand, overhead_ms, compile_ms, explain_ms, equal } = question
  return `| ${[
    name,
    `**${compiled.warm_ms.toFixed(1)}**`,
    spreadOf(compiled.spread_ms),
    `≤ ${goal_ms}`,
    within(compiled.warm_ms, goal_ms),
    hand.warm_ms.toFixed(1),
    overhead_ms.toFixed(1),
    compile_ms.toFixed(2),
    within(compile_ms, compileGoalMs),
    explain_ms.toFixed(1),
    within(explain_ms, explainGoalMs),
    compiled.cold_ms.toFixed(0),
    ...[compiled, hand].map((cost) => cost.cpu_ms.toFixed(0)),
    ...[compiled, hand].map((cost) => thousands(cost.rows_read)),
    sameness(equal),
  ].join(' | ')} |`
}

function retentionLine(row: RetentionRow): string {
  const { way, took_ms, rows, left, freed_bytes, slowest_ms } = row
  return `| ${[
    way,
    `**${Math.round(took_ms)}**`,
    `≤ ${thousands(dayGoalMs)}`,
    within(took_ms, dayGoalMs),
    thousands(rows),
    thousands(left),
    Math.round(freed_bytes / 1e6),
    Math.round(slowest_ms),
  ].join(' | ')} |`
}
