import type { StartUp } from './start-up.ts'

/** One scenario: processor time per request in µs, and the ratio of side-by-side seconds. */
export type Row = {
  scenario: string
  floor: number
  own: number
  ratio: number
  spread: readonly [number, number]
  dropped: number
}

export type ProxyFacts = {
  rounds: number
  cpu: readonly Row[]
  /** Median milliseconds to the first content byte. */
  latency: { scenario: string; provider: number; floor: number; own: number }[]
  /** Resident bytes of the proxy after each tenth of the streams. */
  memory: readonly number[]
  start: { clean: StartUp; again: StartUp }
}

/** The part of the page about the proxy and role `all`. */
export function proxySection({ rounds, cpu, latency, memory, start }: ProxyFacts): string {
  return `The **floor** is a bare \`node:http\` server that streams through undici's \`Pool.stream\`. The **proxy** is
the \`proxy\` role with everything on: a key looked up, both bodies recorded, usage requested and filtered
out, every call framed and published to a real nats-server with JetStream. Each runs alone on
processor 0; load, provider and NATS are on processor 1. Seconds of both alternate; a round's ratio
compares adjacent seconds, and rounds in which other processes used over 10 % of processor 0 are dropped.

### Processor time per request

| request | floor | proxy | ratio (median of ${rounds} rounds) | spread | goal |
|---|---|---|---|---|---|
${cpu.map((row, i) => `| ${cpuRow(row)} | ≤ ${goals[i]} × |`).join('\n')}

The cost of a request beyond the floor, and why goals are missed: \`docs/internals/proxy-cost.md\`.

### Time to the first content byte

| load | provider itself | floor | proxy | added by the floor | added by the proxy |
|---|---|---|---|---|---|
${latency.map(latencyRow).join('\n')}

Goals: at 200 requests a second the proxy adds at most 1.3 × what the floor adds; a stream's first
byte arrives at most 0.3 ms after the floor's.

### Memory

Resident memory of the proxy over 10,000 streams, after each tenth: ${memory.map(mb).join(', ')}.

### Role \`all\`

| | time to the first accepted completion | all processes, idle (PSS) |
|---|---|---|
| first start, empty folder | ${seconds(start.clean.first_answer_ms)} | ${mb(start.clean.idle_bytes)} |
| second start | ${seconds(start.again.first_answer_ms)} | ${mb(start.again.idle_bytes)} |

Goals: 5 s, 600 MB.
`
}

const goals = [1.3, 2.5, 1.15]

function cpuRow({ scenario, floor, own, ratio, spread, dropped }: Row): string {
  const [low, high] = spread.map((value) => value.toFixed(2))
  const note = dropped > 0 ? `, ${dropped} dropped` : ''
  return [
    scenario,
    `${floor.toFixed(0)} µs`,
    `${own.toFixed(0)} µs`,
    `**${ratio.toFixed(2)} ×**`,
    `${low}–${high}${note}`,
  ].join(' | ')
}

function latencyRow({ scenario, provider, floor, own }: ProxyFacts['latency'][number]): string {
  const cells = [provider, floor, own, floor - provider, own - provider].map(
    (value) => `${value.toFixed(2)} ms`,
  )
  return `| ${[scenario, ...cells].join(' | ')} |`
}

function mb(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
