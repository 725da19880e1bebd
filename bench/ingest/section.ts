import { type Party, parties } from './cluster-usage.ts'
import type { DrainFacts } from './drain.ts'
import type { EdgeRow } from './edge.ts'
import type { IngestFacts, StageRow } from './facts.ts'
import type { SpanShape } from './spans.ts'
import type { SteadyFacts } from './steady.ts'

/** The part of the page about the ingest plane. */
export function ingestSection({ rounds, stages, edge, drain, steady }: IngestFacts): string {
  return `Spans as a Python agent emits them: \`gen_ai\` has 2.9 KB with content, \`openinference\` the same
with indexed keys, \`plain\` is an HTTP call of 0.4 KB, \`agent_traces\` are traces of six observations.
Requests hold 512 spans, 510 for the worker's drain, 120 for the steady load. Figures are processor
time of whole processes (all threads), medians of ${rounds} alternating rounds.

### The edge, step by step

In one process, the only one of ours on processor 0; frames are discarded. \`JSON.parse\` of the same spans and
protobufjs decoding the same bytes run between the steps; ratios are relative to \`JSON.parse\`. The lowest slice is
the one that other processes disturbed least.

${stages.map(({ shape, rows }) => stageTable(shape, rows)).join('\n\n')}

### The edge as it runs

The \`proxy\` role with everything on (PostgreSQL, keys, capture policies, a real nats-server with
JetStream; a request is answered after its last frame is durable), the only process of ours on processor 0; load and
servers on processor 1.

| spans | path | µs a span | spread | spans a second and core | other processes on its processor | goal |
|---|---|---|---|---|---|---|
${edge.map(edgeLine).join('\n')}

### From the queue to the stores

${drainText(drain)}

### The whole path at 70 % of its capacity

${steadyText(steady)}

Where the time goes, and why goals are missed: \`docs/internals/ingest-cost.md\`.
`
}

function stageTable(shape: SpanShape, rows: readonly StageRow[]): string {
  const lines = rows.map(
    ({ name, cpu_us, ratio, lowest }) =>
      `| ${name} | ${cpu_us.toFixed(1)} | ${ratio.toFixed(2)} × | ${lowest.toFixed(1)} |`,
  )
  return [`| ${shape} | µs a span | ratio | lowest |`, '|---|---|---|---|', ...lines].join('\n')
}

const goals: Partial<Record<EdgeRow['way'], number>> = { protobuf: 60_000, json: 35_000 }

function edgeLine({ shape, way, cpu_us, spread: [low, high], foreign_share }: EdgeRow): string {
  const goal = shape === 'gen_ai' ? goals[way] : undefined
  return `| ${[
    shape,
    way,
    cpu_us.toFixed(1),
    `${low.toFixed(1)}–${high.toFixed(1)}`,
    `**${thousands(1e6 / cpu_us)}**`,
    percent(foreign_share),
    goal === undefined ? '' : `≥ ${thousands(goal)}`,
  ].join(' | ')} |`
}

function drainText(drain: DrainFacts): string {
  const { observations, rows_per_observation, cpu_us, worker_spread, per_s } = drain
  const [low, high] = worker_spread
  const line = (party: keyof typeof cpu_us) => `| ${party} | ${cpu_us[party].toFixed(1)} |`
  return `${thousands(observations)} observations (${rows_per_observation.toFixed(2)} rows each, with their traces and correlations)
wait in nats-server; the warm \`worker\` role, the only process of ours on processor 0, drains them into the embedded
ClickHouse and PostgreSQL on processor 1: ${thousands(per_s)} observations a second overall. Detection has 1 % of the
worker's time.

| process | µs an observation |
|---|---|
${line('worker')}
${line('clickhouse')}
${line('postgres')}
${line('nats')}

The worker alone: **${thousands(1e6 / cpu_us.worker)}** observations a second and core (rounds from
${low.toFixed(1)} to ${high.toFixed(1)} µs); goal ≥ 30,000.`
}

function steadyText({
  minutes,
  sustained_per_s,
  sent_per_s,
  lag_s,
  cpu_us,
  resident_bytes,
}: SteadyFacts): string {
  const line = (party: Party) => {
    const memory = resident_bytes.map((reading) => Math.round(reading[party] / 1e6))
    return `| ${party} | ${cpu_us[party].toFixed(1)} | ${memory.join(', ')} |`
  }
  return `Both roles on processor 0, servers and load on processor 1. At full load they store
${thousands(sustained_per_s)} spans a second together; then ${thousands(sent_per_s)} a second are sent for ${minutes} min.

From the end of a span to its row and its roll-ups being stored: p50 **${lag_s.p50.toFixed(2)} s**, p99 **${lag_s.p99.toFixed(2)} s**
(from the worker's histogram, interpolated within its buckets); goal p99 ≤ 2 s. Detection has a quarter of the worker's
time, the default; it analyses new tasks as long as it has time, so part of the cost of all processes is its own.

| process | µs a span | memory in MB (PSS), at the start and after each tenth |
|---|---|---|
${parties.map(line).join('\n')}

PostgreSQL includes all its processes. Goal: flat.`
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
