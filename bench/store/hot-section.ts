import { sameness, spreadOf, thousands, within } from './figures.ts'
import type { HotFacts, HotQuestionFacts, StoreTimes } from './hot-window.ts'
import { hotWindow } from './questions.ts'

/** The cost of the hot window in PostgreSQL compared with ClickHouse. */
export function hotSection({ load, questions }: HotFacts): string {
  return `### The hot window: PostgreSQL beside ClickHouse

Of the ${thousands(load.rows_there)} observations of the last ${hotWindow.hours} hours ${thousands(load.rows)} were copied into PostgreSQL by the product's
own reader and writer: all of ${load.projects} of the 20 projects, the largest among them. That took ${Math.round(load.took_s)} s
(${thousands(load.rows / load.took_s)} rows a second, \`VACUUM ANALYZE\` included). ClickHouse holds the whole month. Both get the
same questions about the largest project over these ${hotWindow.hours} hours (windows end ten minutes apart), in turn, as
statements that the query language compiles and the product's runners run.

| question | PostgreSQL, ms | spread | goal | | ClickHouse, ms | spread | goal | | rows | same answer |
|---|---|---|---|---|---|---|---|---|---|---|
${questions.map(hotLine).join('\n')}
`
}

function hotLine({ name, goal_ms, postgres, clickhouse, rows, equal }: HotQuestionFacts): string {
  const cells = ({ ms, spread_ms }: StoreTimes) => [
    `**${ms.toFixed(1)}**`,
    spreadOf(spread_ms),
    `≤ ${goal_ms}`,
    within(ms, goal_ms),
  ]
  const both = [...cells(postgres), ...cells(clickhouse)]
  return `| ${[name, ...both, thousands(rows), sameness(equal)].join(' | ')} |`
}
