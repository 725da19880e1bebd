import type { Call } from './caller.ts'
import { window } from './contents.ts'
import { measureTurns, rateOf, type Slice, spreadOf, type Turn } from './measure.ts'
import { startBenchService, type Variant } from './service.ts'

/**
 * `npm run bench:audit [writes] [spread] [reads] [smallest] [rate]`: what audit records cost, at
 * 10,000 calls a minute (mixed reads: 2,000), against the same routes on the same stores without the
 * trail. Another process calls over HTTP. PAIRS=4 gives a quick result.
 *
 * `writes`: changes of the environments of 20 projects of one organization, whose chain they all
 * wait for. `spread`: the same with an organization for each project. `reads`: a person reads tasks,
 * timelines, traces, and inputs and outputs, with about 48 KB of content in a trace; also with a
 * statement for each read instead of the journal. `smallest`: only the cheapest read of
 * content, one task. `rate`: changes as fast as 8 and as 50 callers can.
 */
const pairs = Number(process.env['PAIRS'] ?? 12)
const slice_ms = 3_000
const often = { per_minute: 10_000, pairs, slice_ms }
/** Traces are read less often: ClickHouse takes most of this machine. */
const seldom = { per_minute: 2_000, pairs, slice_ms: 2 * slice_ms }
const asked = process.argv.slice(2)
const isAsked = (part: string) => asked.length === 0 || asked.includes(part)

const service = await startBenchService()
const { project_ids, spread_ids, task_ids, trace_ids } = service

let calls = 0
const writeTo = (ids: readonly string[]) => (): Call => {
  calls += 1
  const project_id = ids[calls % ids.length]
  const url = `/api/v2/access/projects/${project_id}/environments`
  return { method: 'PUT', url, payload: { environments: [`e${calls}`] } }
}
const write = writeTo(project_ids)
const task = (): Call => ({
  method: 'GET',
  url: `/api/v1/tasks/${task_ids[++calls % task_ids.length]}`,
})
const read = (): Call => {
  calls += 1
  const at = calls % task_ids.length
  const trace = `/api/v2/observability/traces/${trace_ids[at]}`
  if (calls % 4 === 0) return task()
  if (calls % 4 === 1) return { method: 'GET', url: `/api/v1/tasks/${task_ids[at]}/timeline` }
  if (calls % 4 === 2) return { method: 'GET', url: `${trace}/explorer` }
  const where = { field: 'trace_id', op: 'eq', value: trace_ids[at] }
  const select = ['observation_id', 'input', 'output']
  const payload = { entity: 'observations', window, where, select, limit: 50 }
  return { method: 'POST', url: '/api/v2/observability/query', payload }
}

try {
  if (isAsked('reads')) await reportReads('reads', read, seldom)
  if (isAsked('smallest')) await reportReads('smallest reads', task, often)
  if (isAsked('writes')) await reportWrites('writes', project_ids)
  if (isAsked('spread')) await reportWrites('spread', spread_ids)
  if (isAsked('rate')) for (const callers of [8, 50]) await reportRates(callers)
} finally {
  await service.stop()
}

async function reportWrites(name: string, ids: readonly string[]): Promise<void> {
  const variants = ['none', 'audited'] as const
  const measured = await measureTurns(service, writeTo(ids), { ...often, variants })
  report(name, measured, 'none', 'audited')
}

async function reportReads(name: string, next: () => Call, offered: typeof often): Promise<void> {
  const variants = ['none', 'audited', 'inserted'] as const
  const measured = await measureTurns(service, next, { ...offered, variants })
  report(name, measured, 'none', 'audited')
  report(`${name}, a statement instead of no record`, measured, 'none', 'inserted')
  report(`${name}, a statement instead of the journal`, measured, 'audited', 'inserted')
}

function report(name: string, turns: readonly Turn[], base: Variant, other: Variant): void {
  const measured = turns.flatMap(({ [base]: before, [other]: after }) =>
    before && after ? [{ before, after }] : [],
  )
  const line = (what: string, unit: string, of: (slice: Slice) => number) => {
    const none = spreadOf(measured.map((pair) => of(pair.before))).median
    const audited = spreadOf(measured.map((pair) => of(pair.after))).median
    const more = spreadOf(measured.map((pair) => (of(pair.after) / of(pair.before) - 1) * 100))
    const [low, median, high] = [more.low, more.median, more.high].map((each) => each.toFixed(1))
    const values = `${none.toFixed(2)} → ${audited.toFixed(2)} ${unit}`
    console.log(`${name}, ${what}: ${values}, ${median} % more (middle half ${low} to ${high})`)
  }
  line('p50', 'ms', ({ p50_ms }) => p50_ms)
  line('p95', 'ms', ({ p95_ms }) => p95_ms)
  line('processor time of the service', 'µs', ({ service_us }) => service_us)
  line('processor time of PostgreSQL', 'µs', ({ postgres_us }) => postgres_us)
  line('… of both', 'µs', ({ service_us, postgres_us }) => service_us + postgres_us)
  line('… of both and ClickHouse', 'µs', (slice) => {
    return slice.service_us + slice.postgres_us + slice.clickhouse_us
  })
}

async function reportRates(callers: number): Promise<void> {
  const { none, audited } = service.origins
  const rates: { none: number; audited: number }[] = []
  for (let at = 0; at < pairs / 2; at += 1) {
    const of = { next: write, callers, slice_ms }
    const without = await rateOf(service, { origin: none, ...of })
    rates.push({ none: without, audited: await rateOf(service, { origin: audited, ...of }) })
  }
  const [without, withTrail] = (['none', 'audited'] as const).map((name) =>
    spreadOf(rates.map((pair) => pair[name])).median.toFixed(0),
  )
  const ratio = spreadOf(rates.map((pair) => pair.audited / pair.none))
  const share = [ratio.low, ratio.median, ratio.high].map((each) => each.toFixed(2)).join(' / ')
  console.log(`${callers} callers: ${without} → ${withTrail} changes a second, ratio ${share}`)
}
