import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { Semaphore } from '../../../kernel/semaphore.ts'
import type { Clock } from '../../../kernel/time.ts'
import { parseProjectId } from '../../../model/project-id.ts'
import type { Columnar } from '../../../platform/columnar/index.ts'
import { type Queue, QueueUnavailable } from '../../../platform/queue/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { lostBefore } from '../../ledger/index.ts'
import type { LedgerStore, LedgerSums } from '../../storage/index.ts'
import type { Examples, Measured, MeasuredSlot, MeasureRange, Signals } from '../ports.ts'
import { type Batch, hasRows, type RowReading, splitByFilter, toBatches } from './batches.ts'
import { callsReader } from './calls-reader.ts'
import { openExamples } from './examples.ts'
import { openLateCheck } from './late-check.ts'
import { openMeasureRange } from './measure-range.ts'
import { isOverLimit, maxMeasurementTimeMs, measurementError } from './measurement-error.ts'
import { minutesReader } from './minutes-reader.ts'
import { readBatch } from './read-batch.ts'
import type { ReadingValues } from './read-series.ts'
import type { SignalSource, SourceReader, Window } from './reading.ts'
import { emptySample, type SampleFacts, slotReading } from './slot-reading.ts'
import {
  feedbackReader,
  findingsReader,
  type TaskStore,
  tasksReader,
  verificationsReader,
} from './tasks-reader.ts'

export type SignalOptions = Omit<LedgerParts, 'queue'> & {
  queue: Pick<Queue, 'stats' | 'oldestAgeMs'>
  relational: TaskStore
  columnar: Pick<Columnar, 'ofProject'>
  logger: Logger
}

/** Maximum statements of a process at one time. */
const statements_max = 4

/** Opens the signals of incident rules. */
export function openSignals(
  options: SignalOptions,
): Signals & { measureRange: MeasureRange; examples: Examples } {
  const readers: Record<SignalSource, SourceReader> = {
    calls: callsReader(options.columnar, openLateCheck(options)),
    minutes: minutesReader(options),
    tasks: tasksReader(options.relational),
    findings: findingsReader(options.relational),
    verifications: verificationsReader(options.relational),
    feedback: feedbackReader(options.relational),
    ledger: ledgerReader(options),
  }
  const oldest = openOldest(options)
  const permits = new Semaphore({ permits_max: statements_max })
  const measureBatch = async (batch: Batch, ask: Ask): Promise<[MeasuredSlot, Measured][]> => {
    const { project_id, lag_ms, signal } = ask
    try {
      const found = await readBatch(readers[batch.source], batch, { project_id, signal })
      const needsOldest = batch.readings.some(({ rule }) => rule.burn_rate !== undefined)
      const oldest_ms = needsOldest ? await oldest(batch.source, project_id, signal) : undefined
      const facts = { lag_ms, oldest_ms }
      return batch.readings.map((reading) => [reading.slot, toMeasured(reading, found, facts)])
    } catch (error) {
      signal.throwIfAborted()
      const parts = isOverLimit(error) ? splitByFilter(batch) : []
      if (parts.length > 1) return measureEach(parts, ask)
      options.logger.warn({ err: error, project_id }, 'measuring the signals of rules failed')
      const message = measurementError(error)
      return batch.readings.map(({ slot }) => [slot, { ...slot, error: message }])
    }
  }
  /** Measures each filter by itself, so that one over the limits does not fail the others. */
  const measureEach = async (batches: readonly Batch[], ask: Ask) => {
    const all: [MeasuredSlot, Measured][] = []
    for (const batch of batches) all.push(...(await measureBatch(batch, ask)))
    return all
  }
  const measure: Signals['measure'] = async (request) => {
    const { project_id, slots, lag_ms, signal = new AbortController().signal } = request
    const readings = slots.flatMap((slot) => slotReading(slot) ?? [])
    const batches = toBatches(readings.filter(hasRows))
    const ask = { project_id, lag_ms, signal }
    const measured = await Promise.all(
      batches.map((batch) => permits.run(() => measureBatch(batch, ask), signal)),
    )
    const bySlot = new Map(measured.flat())
    return slots.map((slot) => bySlot.get(slot) ?? withoutRows(slot, lag_ms))
  }
  return {
    measure,
    lag: openLag(options.queue),
    examples: openExamples(options),
    measureRange: openMeasureRange({ readers, oldest, measure }),
  }
}

type Ask = { project_id: string; lag_ms: number; signal: AbortSignal }

function toMeasured(
  reading: RowReading,
  found: ReadonlyMap<RowReading, ReadingValues>,
  facts: SampleFacts,
): Measured {
  const { groups, others } = found.get(reading) ?? { groups: [], others: 0 }
  return {
    ...reading.slot,
    groups: groups.map(({ group, values }) => ({ group, sample: reading.sample(values, facts) })),
    empty: reading.sample([], facts),
    others,
  }
}

/** The lag is a value of the whole project. */
function withoutRows(slot: MeasuredSlot, lag_ms: number): Measured {
  const empty = emptySample(slot.rule, slot.end_ms, { lag_ms, oldest_ms: undefined })
  const isLag = slot.rule.condition?.signal === 'ingest_lag'
  return { ...slot, groups: isLag ? [{ group: {}, sample: empty }] : [], empty, others: 0 }
}

type LedgerParts = {
  ledger: Pick<LedgerStore, 'sums'>
  queue: Pick<Queue, 'stats'>
  clock: Clock
}

/**
 * Opens the source `ledger`: items that were rejected or lost, by the arrival of their request. An
 * item counts as lost once no queue can still hold it.
 */
function ledgerReader(parts: LedgerParts): SourceReader {
  return async ({ project_id, cells, signal }) => {
    const lost_before_ms = await lostBefore(parts.queue, parts.clock.now_ms())
    const sums = new Map<Window, LedgerSums[]>()
    for (const { window } of cells) {
      signal.throwIfAborted()
      if (!sums.has(window)) {
        sums.set(window, await parts.ledger.sums(project_id, { ...window, lost_before_ms }))
      }
    }
    const values = cells.map(({ amount, window }) => {
      const paths = sums.get(window) ?? []
      const count = paths.reduce((all, { accepted }) => all + accepted, 0)
      const items = paths.map((path) => itemsOf(amount === 'lost' ? path.lost : path.rejected))
      return { value: items.reduce((all, one) => all + one, 0), count }
    })
    return { groups: [{ group: {}, values }], total: 1 }
  }
}

function itemsOf(reasons: Readonly<Record<string, number>>): number {
  return Object.values(reasons).reduce((all, items) => all + items, 0)
}

type OldestParts = { relational: TaskStore; columnar: Pick<Columnar, 'ofProject'>; clock: Clock }

/** Time for which an answer is used again. It changes by retention, once a day. */
const fresh_ms = 60_000
const projects_max = 10_000

/**
 * Opens the start of the oldest stored row of a project, in ms since 1970; undefined without rows.
 * Windows that begin before it are not filled.
 */
function openOldest({ relational, columnar, clock }: OldestParts) {
  const known = new BoundedCache<string, { at_ms: number; oldest_ms: number }>(projects_max)
  const read = (source: SignalSource, project_id: string, signal: AbortSignal) =>
    source === 'calls' || source === 'minutes'
      ? oldestCall(columnar, project_id, signal)
      : oldestTask(relational, project_id)
  return async (
    source: SignalSource,
    project_id: string,
    signal: AbortSignal,
  ): Promise<number | undefined> => {
    const key = `${source} ${project_id}`
    const cached = known.get(key)
    const now_ms = clock.now_ms()
    if (cached !== undefined && now_ms - cached.at_ms < fresh_ms) return cached.oldest_ms
    const oldest_ms = await read(source, project_id, signal)
    if (oldest_ms !== undefined) known.set(key, { at_ms: now_ms, oldest_ms })
    return oldest_ms
  }
}

async function oldestCall(
  columnar: Pick<Columnar, 'ofProject'>,
  project_id: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const ofProject = columnar.ofProject(parseProjectId(project_id))
  const { rows } = await ofProject.read<{ at: string }>(
    `SELECT toUnixTimestamp64Milli(start_time) AS at FROM observations
     WHERE project_id = {project:UUID} ORDER BY start_time LIMIT 1`,
    {},
    { timeout_ms: maxMeasurementTimeMs, signal },
  )
  return rows[0] && Number(rows[0].at)
}

async function oldestTask({ db }: TaskStore, project_id: string): Promise<number | undefined> {
  const oldest = await db
    .selectFrom('tasks')
    .select('started_at')
    .where('project_id', '=', project_id)
    .orderBy('started_at')
    .limit(1)
    .executeTakeFirst()
  return oldest && Date.parse(oldest.started_at)
}

/** Time for which an answer is used again. */
const fresh_lag_ms = 2_000

/** Time that edges have, after an outage of the queue, to publish what they spooled. */
const drain_ms = 60_000

type QueueAge = Pick<Queue, 'oldestAgeMs'>

/**
 * Opens the lag of projects: the age of the oldest message of the project in the queue. A message
 * remains in the queue until its items are stored and settled in the ledger, so this is the age of
 * the oldest pending item, and a backlog of another project does not count. While the queue is
 * unavailable, edges spool; the lag is then the time since it answered last, and remains so for a
 * minute after its return, until the spools are published.
 */
export function openLag(queue: QueueAge): Signals['lag'] {
  const known = new BoundedCache<string, { at_ms: number; lag_ms: Promise<number> }>(projects_max)
  /** The last answer before an outage, and the first one after it. */
  let answered_ms: number | undefined
  let outage: { since_ms: number; until_ms: number } | undefined
  const ask = async (project_id: string, now_ms: number): Promise<number> => {
    try {
      const age_ms = await queue.oldestAgeMs(`ingest.${project_id}`)
      answered_ms = Math.max(answered_ms ?? 0, now_ms)
      if (outage === undefined) return age_ms
      if (outage.until_ms === Number.POSITIVE_INFINITY) outage.until_ms = now_ms + drain_ms
      if (now_ms < outage.until_ms) return Math.max(age_ms, now_ms - outage.since_ms)
      outage = undefined
      return age_ms
    } catch (error) {
      if (!(error instanceof QueueUnavailable)) throw error
      outage = {
        since_ms: outage?.since_ms ?? answered_ms ?? now_ms - drain_ms,
        until_ms: Number.POSITIVE_INFINITY,
      }
      return now_ms - outage.since_ms
    }
  }
  return (project_id, now_ms) => {
    const cached = known.get(project_id)
    const age_ms = cached === undefined ? fresh_lag_ms : now_ms - cached.at_ms
    if (cached !== undefined && age_ms >= 0 && age_ms < fresh_lag_ms) return cached.lag_ms
    const lag_ms = ask(project_id, now_ms)
    known.set(project_id, { at_ms: now_ms, lag_ms })
    lag_ms.catch(() => known.delete(project_id))
    return lag_ms
  }
}
