import { goal_cores, type SignalsFacts, type SignalsRow } from './facts.ts'

/** The part of the page about incident rules. */
export function signalsSection({ rounds, rows }: SignalsFacts): string {
  return `Measuring the signals of incident rules that are evaluated every minute: each rule at its newest slot and
again at the five before, for late rows. Processor time of a minute, medians of ${rounds} rounds. Alike: the
rules of a project share ten filters; distinct: each rule has a filter of its own.

| rules | projects | calls a minute | filters | Node, ms | ClickHouse, ms | PostgreSQL, ms | processors | goal | |
|---|---|---|---|---|---|---|---|---|---|
${rows.map(lineOf).join('\n')}
`
}

function lineOf(row: SignalsRow): string {
  const cores = (row.node_ms + row.clickhouse_ms + row.postgres_ms) / 60_000
  return `| ${[
    row.count,
    row.projects,
    row.calls_per_minute,
    row.rules,
    Math.round(row.node_ms),
    Math.round(row.clickhouse_ms),
    Math.round(row.postgres_ms),
    `**${cores.toFixed(3)}**`,
    `≤ ${goal_cores}`,
    cores <= goal_cores ? 'met' : 'missed',
  ].join(' | ')} |`
}
