import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { markDue } from '../../src/capabilities/detection/index.ts'
import {
  defaultIngestSettings,
  type ErasedRows,
  type IngestOptions,
  type IngestSettings,
  type SecondStore,
  startIngest,
} from '../../src/capabilities/ingest/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import type { ChangeHint } from '../../src/model/change-hint.ts'
import type { ExchangeFacts } from '../../src/model/exchange.ts'
import { exchangeParts, frameOf } from '../../src/model/exchange-frame.ts'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import { openSqliteQueue, type Queue } from '../../src/platform/queue/index.ts'
import {
  openRelational,
  type Relational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { eventually } from './eventually.ts'
import { plainFacts } from './exchange-facts.ts'

/** Start of a test's calls, in milliseconds since 1970. */
export const start_ms = Date.UTC(2026, 5, 1, 12)

/** One call of a test: times in seconds after `start_ms`, facts as in an exchange. */
export type ToldCall = {
  facts?: Partial<ExchangeFacts>
  /** Start and end; 0 and 1 by default. */
  from?: number
  to?: number
  request?: object | string
  response?: object | string
}

/** A default answer: 10 tokens in, 5 out, a priced model. */
const plainReply = {
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
}

/** Nothing was erased. */
export const noErasures: ErasedRows = {
  tracesAmong: async () => [],
}

/** The parts of a call in a frame. */
export function callParts(project_id: string, call: ToldCall = {}): Uint8Array[] {
  const { from = 0, to = from + 1 } = call
  const text = (body: object | string) => (typeof body === 'string' ? body : JSON.stringify(body))
  return exchangeParts({
    facts: { ...factsIn(project_id), ...timesOf(from, to), ...call.facts },
    request: Buffer.from(text(call.request ?? { model: 'gpt-4o-mini', messages: [] })),
    response: Buffer.from(text(call.response ?? plainReply)),
  })
}

function timesOf(from: number, to: number) {
  const ns = (seconds: number) => `${BigInt(Math.round(start_ms + seconds * 1000)) * 1_000_000n}`
  return { start_time: ns(from), end_time: ns(to) }
}

function factsIn(project_id: string): ExchangeFacts {
  return {
    ...plainFacts,
    project_id,
    trace_id: randomUUID(),
    observation_id: randomUUID().replaceAll('-', '').slice(0, 16),
    request_bytes: 10,
    response_bytes: 20,
  }
}

/** A queue, a database and a store, with any number of workers. */
export type IngestBench = AsyncDisposable & {
  queue: Queue
  db: Relational<TaskTables>['db']
  /** Changes that committed transactions have announced. */
  announced: ChangeHint[]
  /** Publishes one message with these calls of a project. */
  publish(project_id: string, calls: readonly ToldCall[], id?: string): Promise<void>
  startWorker(settings?: Partial<IngestSettings>): Promise<RunningWorker>
  /** Resolves when no message is queued or being processed. */
  settled(): Promise<void>
}
type RunningWorker = { stop(): Promise<void>; metric(name: string): Promise<number> }

/** The part of ClickHouse that a worker uses. */
export type WorkerStore = IngestOptions['store'] &
  IngestOptions['records'] &
  IngestOptions['ledger']

/** Creates the bench; the test provides the store and the database address. */
export async function openIngestBench(given: {
  store: WorkerStore
  url: string
  wrapQueue?: (queue: Queue) => Queue
  settleRequests?: (entries: readonly LedgerEntry[]) => Promise<void>
  second?: SecondStore
  erased?: ErasedRows
}): Promise<IngestBench> {
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-ingest-'))
  const logger = createLogger({ role: 'test', level: 'silent' })
  const opened = await openSqliteQueue({
    path: join(directory, 'queue.sqlite'),
    bytes_max: 100_000_000,
    logger,
  })
  const queue = given.wrapQueue ? given.wrapQueue(opened) : opened
  const relational = openRelational<TaskTables>({
    scope: allTenants,
    url: given.url,
    pool_max: 6,
    connect_timeout_ms: 1_000,
    statement_timeout_ms: 10_000,
    logger,
  })
  const announced: ChangeHint[] = []
  relational.onCommitted((changes) => announced.push(...changes))
  const workers: RunningWorker[] = []
  return {
    queue,
    db: relational.db,
    announced,
    publish: async (project_id, calls, id = randomUUID()) => {
      const data = frameOf(calls.flatMap((call) => callParts(project_id, call)))
      await queue.publish({ id, subject: `ingest.${project_id}`, data })
    },
    startWorker: async (settings = {}) => {
      const metrics = createMetrics()
      const consumer = await startIngest({
        queue,
        store: given.store,
        records: given.store,
        ledger: given.store,
        ...(given.settleRequests && { settleRequests: given.settleRequests }),
        ...(given.second && { second: given.second }),
        db: relational.db,
        markDue,
        erased: given.erased ?? noErasures,
        clock: systemClock,
        logger,
        metrics,
        settings: { ...quickSettings, ...settings },
      })
      const metric = async (name: string) => metricIn((await metrics.expose()).body, name)
      const worker = { stop: () => consumer.stop(), metric }
      workers.push(worker)
      return worker
    },
    settled: async () => {
      await eventually('an empty queue', async () => (await opened.stats()).pending === 0)
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(workers.map((worker) => worker.stop()))
      await opened.close()
      await relational.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const quickSettings: IngestSettings = {
  ...defaultIngestSettings,
  batch_wait_ms: 1,
  retry_delay_ms: 5,
  retry_delay_ms_max: 20,
}

function metricIn(exposition: string, name: string): number {
  const line = exposition.split('\n').find((text) => text.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1) ?? Number.NaN)
}
