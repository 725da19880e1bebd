import { randomBytes } from 'node:crypto'
import { sleep } from '../../src/kernel/time.ts'
import type { Cluster } from '../../test/support/cluster.ts'
import { scrape } from '../../test/support/metrics.ts'
import { median } from '../rounds.ts'
import { pin } from '../service.ts'
import { clusterUsage, cpuBetween, type Party } from './cluster-usage.ts'
import { startEdge } from './edge.ts'

/** What it costs to find the owners of the spans of long agents. */
export type OwnersFacts = {
  agents: number
  exports: number
  spans: number
  /** Processor time per span by process, in µs: owners named on each span, and only on the root. */
  each_us: Record<Exclude<Party, 'proxy'>, number>
  root_us: Record<Exclude<Party, 'proxy'>, number>
  /** Processor time of all processes with owners on the root, as a multiple; median of the rounds. */
  ratio: number
}

const agents = 40
/** An agent of 20 minutes that exports every 5 s has 240; each is stored before the next is sent. */
const exports = 60
/** Spans of one export: four calls, and the step around them, whose parent is the root. */
const stepCalls = 4
const poll_ms = 20
const polls_max = 3_000
const start_ms = Date.now() - 3_600_000

type Naming = 'each' | 'root'

/**
 * Lets agents run whose root ends last, and which name task, user, session and release on each span
 * or only on the root. The sides alternate; the first round warms up and is not counted.
 */
export async function measureOwners(rounds: number): Promise<OwnersFacts> {
  await using cluster = await startEdge()
  await cluster.worker.start()
  await pin(cluster.worker.pid, 0)
  const sides: Record<Naming, Record<Party, number>[]> = { each: [], root: [] }
  for (let round = 0; round <= rounds; round += 1) {
    for (const naming of ['each', 'root'] as const) {
      const spent = await runAgents(cluster, naming)
      if (round > 0) sides[naming].push(spent)
    }
  }
  const of = (naming: Naming) => {
    const party = (name: Party) => median(sides[naming].map((spent) => spent[name]))
    const [worker, clickhouse] = [party('worker'), party('clickhouse')]
    return { worker, clickhouse, postgres: party('postgres'), nats: party('nats') }
  }
  const sum = (spent: Record<Party, number> | undefined) =>
    spent === undefined ? Number.NaN : spent.worker + spent.clickhouse + spent.postgres + spent.nats
  const ratios = sides.root.map((spent, round) => sum(spent) / sum(sides.each[round]))
  const spans = agents * (exports * (stepCalls + 1) + 1)
  return { agents, exports, spans, each_us: of('each'), root_us: of('root'), ratio: median(ratios) }
}

async function runAgents(cluster: Cluster, naming: Naming): Promise<Record<Party, number>> {
  const traces = Array.from({ length: agents }, () => ({
    id: randomBytes(16).toString('hex'),
    root: randomBytes(8).toString('hex'),
    task: randomBytes(6).toString('hex'),
  }))
  const before = await clusterUsage(cluster)
  let sent = await storedBy(cluster)
  for (let at = 0; at < exports; at += 1) {
    await exportSpans(
      cluster,
      traces.flatMap((trace) => stepOf(trace, at, naming)),
    )
    sent += agents * (stepCalls + 1)
    await untilStored(cluster, sent)
  }
  await exportSpans(
    cluster,
    traces.map((trace) => rootOf(trace)),
  )
  await untilStored(cluster, sent + agents)
  const spent = cpuBetween(before, await clusterUsage(cluster))
  const spans = agents * (exports * (stepCalls + 1) + 1)
  return Object.fromEntries(
    Object.entries(spent).map(([party, cpu_ms]) => [party, (cpu_ms * 1000) / spans]),
  ) as Record<Party, number>
}

type AgentTrace = { id: string; root: string; task: string }

function stepOf(trace: AgentTrace, at: number, naming: Naming): object[] {
  const step = randomBytes(8).toString('hex')
  const owner = naming === 'each' ? ownerOf(trace) : {}
  const calls = Array.from({ length: stepCalls }, (_, call) =>
    spanOf(
      trace,
      { parent: step, at_ms: at * 5_000 + call, lasts_ms: 900 },
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        ...owner,
        'gen_ai.request.model': 'gpt-4o-mini',
        'gen_ai.usage.input_tokens': '100',
        'gen_ai.output.messages': JSON.stringify([
          { role: 'assistant', parts: ['x'.repeat(1_000)] },
        ]),
      },
    ),
  )
  const around = { parent: trace.root, at_ms: at * 5_000, lasts_ms: 4_000, id: step }
  return [...calls, spanOf(trace, around, { 'gen_ai.operation.name': 'invoke_agent', ...owner })]
}

function rootOf(trace: AgentTrace): object {
  const place = { parent: '', at_ms: 0, lasts_ms: exports * 5_000, id: trace.root }
  return spanOf(trace, place, { 'gen_ai.operation.name': 'invoke_agent', ...ownerOf(trace) })
}

function ownerOf({ task }: AgentTrace) {
  return { 'looptrace.task.id': task, 'user.id': `user ${task}`, 'session.id': `talk ${task}` }
}

type Place = { parent: string; at_ms: number; lasts_ms: number; id?: string }

function spanOf({ id }: AgentTrace, place: Place, attributes: Record<string, string>): object {
  const start = BigInt(start_ms + place.at_ms) * 1_000_000n
  return {
    traceId: id,
    spanId: place.id ?? randomBytes(8).toString('hex'),
    name: 'span',
    kind: 3,
    ...(place.parent !== '' && { parentSpanId: place.parent }),
    startTimeUnixNano: `${start}`,
    endTimeUnixNano: `${start + BigInt(place.lasts_ms) * 1_000_000n}`,
    attributes: Object.entries(attributes).map(([key, stringValue]) => ({
      key,
      value: { stringValue },
    })),
  }
}

async function exportSpans({ proxy, login }: Cluster, spans: readonly object[]): Promise<void> {
  const release = { key: 'service.version', value: { stringValue: '1.2.3' } }
  const resourceSpans = [{ resource: { attributes: [release] }, scopeSpans: [{ spans }] }]
  const answer = await fetch(`${proxy.base_url}/v1/traces`, {
    method: 'POST',
    headers: { 'X-API-Key': login.project_key, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans }),
  })
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
}

async function storedBy(cluster: Cluster): Promise<number> {
  const value = await scrape(cluster.worker.management_url)
  return value('looptrace_ingest_rows_stored_total', { kind: 'observations' })
}

async function untilStored(cluster: Cluster, observations: number): Promise<void> {
  for (let polls = 0; polls < polls_max; polls += 1) {
    if ((await storedBy(cluster)) >= observations) return
    await sleep(poll_ms)
  }
  throw new Error(`not stored within ${polls_max * poll_ms} ms: ${observations} observations`)
}
