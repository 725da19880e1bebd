import {
  type CallSums,
  type ConversationRollup,
  fingerprintOf,
  type LedgerStore,
  type ObservationIdentity,
  type ObservationStore,
  type RecordKind,
  type RecordStore,
  type TaskRollup,
} from '../../src/capabilities/storage/index.ts'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import type { Observation } from '../../src/model/observation.ts'
import { observationsIn, rowBounds } from './decode-rows.ts'

/**
 * An in-memory store of observations, records and the ledger with hooks that fail or delay it. It
 * answers only what the worker asks.
 */
export type MemoryStore = ObservationStore & {
  insertRows: RecordStore['insertRows']
  insertEntries: LedgerStore['insertEntries']
  /** Rows of other kinds given to insertRows, including repetitions. */
  others: Map<RecordKind, number>
  /** The newest ledger entry for each side of a request and message. */
  entries(): LedgerEntry[]
  /** The last version of every stored observation. */
  rows(): Observation[]
  /** Rows given to insert, including repetitions. */
  inserted: number
  /**
   * Called before and after rows are stored and roll-ups are computed; a thrown error is the
   * answer.
   */
  at: (moment: StoreMoment, rows: readonly Observation[]) => void | Promise<void>
}
export type StoreMoment =
  | 'before ledger'
  | 'before insert'
  | 'after insert'
  | 'before rollup'
  | 'after rollup'
  | 'before owners'
  | 'after owners'

/** Creates an empty store. It stores an observation once by its identity, like the real ones. */
export function memoryStore(): MemoryStore {
  const byIdentity = new Map<string, Observation>()
  const ledger = new Map<string, LedgerEntry>()
  const rows = () => [...byIdentity.values()]
  const store: MemoryStore = {
    rows,
    inserted: 0,
    at: () => undefined,
    insert: async (observations) => {
      await store.at('before insert', observations)
      store.inserted += observations.length
      for (const row of observations) byIdentity.set(identityOf(row), row)
      await store.at('after insert', observations)
    },
    others: new Map(),
    entries: () => [...ledger.values()],
    insertRows: async (kind, rows, options) => {
      const bytes = Buffer.concat(rows)
      if (kind === 'observations') return store.insert(observationsIn(bytes), options)
      store.others.set(kind, (store.others.get(kind) ?? 0) + rowBounds(kind, bytes).length)
    },
    insertEntries: async (entries) => {
      await store.at('before ledger', [])
      for (const entry of entries) {
        const { project_id, ingest_request_id, message_id, side } = entry
        ledger.set([project_id, ingest_request_id, message_id, side].join(' '), entry)
      }
    },
    taskRollups: async (project_id, tasks) => {
      await store.at('before rollup', [])
      const rollups = tasks.flatMap(({ task_id, from }) => {
        const found = rows().filter(
          (row) => isOf(row, project_id, from) && row.task_id === task_id && !isPlainSpan(row),
        )
        return found.length === 0 ? [] : [taskRollup(task_id, found)]
      })
      await store.at('after rollup', [])
      return rollups
    },
    conversationRollups: async (project_id, conversations) => {
      await store.at('before rollup', [])
      const rollups = conversations.flatMap(({ conversation_id, from }) => {
        const found = rows().filter(
          (row) => isOf(row, project_id, from) && row.conversation_id === conversation_id,
        )
        return found.length === 0 ? [] : [conversationRollup(conversation_id, found)]
      })
      await store.at('after rollup', [])
      return rollups
    },
    taskObservations: notHere,
    taskToolRows: notHere,
    taskSums: notHere,
    conversationTraces: notHere,
    countConversationTraces: notHere,
    observation: notHere,
    traceObservations: notHere,
    taskVersions: notHere,
    observationsAt: notHere,
    genAiEvents: notHere,
    eventCounts: notHere,
    traceHeads: async (project_id, { trace_ids, from, to, limit }) =>
      rows()
        .filter((row) => isOf(row, project_id, from) && row.start_time <= to)
        .filter(({ trace_id }) => trace_ids.includes(trace_id))
        .slice(0, limit),
    eraseRows: async (project_id, { rows: gone }) => {
      for (const row of gone) byIdentity.delete(identityOf({ ...row, project_id }))
    },
    setOwners: async (project_id, changes) => {
      await store.at('before owners', [])
      for (const change of changes) {
        const key = identityOf({ project_id, ...change })
        const known = byIdentity.get(key)
        if (known !== undefined) byIdentity.set(key, { ...known, ...change })
      }
      await store.at('after owners', [])
    },
  }
  return store
}

function identityOf(row: ObservationIdentity & { project_id: string }): string {
  return `${row.project_id} ${row.start_time} ${row.trace_id} ${row.observation_id}`
}

function isPlainSpan(row: Observation): boolean {
  return row.task_implicit && row.type === 'span'
}

function isOf(row: Observation, project_id: string, from: bigint): boolean {
  return row.project_id === project_id && row.start_time >= from
}

function taskRollup(task_id: string, rows: readonly Observation[]): TaskRollup {
  return {
    ...sumsOf(rows),
    ...spanOf(rows),
    task_id,
    observations: rows.length,
    traces: distinct(rows, 'trace_id').length,
    name: latest(rows, 'task_name'),
    user_id: latest(rows, 'user_id'),
    conversation_id: latest(rows, 'conversation_id'),
    environment: latest(rows, 'environment'),
    release: latest(rows, 'release'),
    cluster_name: '',
    implicit: rows.every((row) => row.task_implicit),
    last_start: rows.map((row) => row.start_time).toSorted((a, b) => (a < b ? 1 : -1))[0] ?? 0n,
    fingerprints: rows.map((row) => fingerprintOf(row.trace_id, row.observation_id)),
  }
}

function conversationRollup(id: string, rows: readonly Observation[]): ConversationRollup {
  return {
    ...sumsOf(rows),
    ...spanOf(rows),
    conversation_id: id,
    external_id: latest(rows, 'conversation_external_id'),
    user_id: latest(rows, 'user_id'),
    observations: rows.length,
    tasks: distinct(rows, 'task_id').length,
    traces: distinct(rows, 'trace_id').length,
  }
}

const buckets = [
  'input_uncached_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_visible_tokens',
  'reasoning_tokens',
] as const

function sumsOf(given: readonly Observation[]): CallSums {
  const rows = given.filter((row) => row.counted_with === '')
  const sum = (of: (row: Observation) => number) => rows.reduce((all, row) => all + of(row), 0)
  const count = (is: (row: Observation) => boolean) => rows.filter(is).length
  const tokens = (name: (typeof buckets)[number]) => sum((row) => row[name] ?? 0)
  return {
    calls: rows.length,
    merged_calls: given.length - rows.length,
    errors: count((row) => row.status === 'error'),
    cancelled: count((row) => row.status === 'cancelled'),
    input_uncached_tokens: tokens('input_uncached_tokens'),
    cache_read_tokens: tokens('cache_read_tokens'),
    cache_write_tokens: tokens('cache_write_tokens'),
    output_visible_tokens: tokens('output_visible_tokens'),
    reasoning_tokens: tokens('reasoning_tokens'),
    total_tokens: buckets.reduce((all, name) => all + tokens(name), 0),
    estimated_calls: count((row) => row.usage_source === 'estimated'),
    cost_usd: (sum((row) => Number(row.cost_usd ?? 0) * 1e9) / 1e9).toFixed(9),
    unpriced_calls: count((row) => row.cost_usd === null),
    partially_priced_calls: count((row) => row.cost_usd !== null && row.price_partial.length > 0),
    models: distinct(rows, 'model'),
    providers: distinct(rows, 'provider'),
  }
}

function spanOf(rows: readonly Observation[]) {
  const starts = rows.map((row) => row.start_time).toSorted((a, b) => (a < b ? -1 : 1))
  const ends = rows.map((row) => row.end_time).toSorted((a, b) => (a < b ? 1 : -1))
  return { first_start: starts[0] ?? 0n, last_end: ends[0] ?? 0n }
}

type TextColumn = 'trace_id' | 'task_id' | 'model' | 'provider'

function distinct(rows: readonly Observation[], column: TextColumn): string[] {
  return [...new Set(rows.map((row) => row[column]))].filter((text) => text !== '').toSorted()
}

type LatestColumn =
  | 'task_name'
  | 'user_id'
  | 'conversation_id'
  | 'conversation_external_id'
  | 'environment'
  | 'release'

function latest(rows: readonly Observation[], column: LatestColumn): string {
  const given = rows.filter((row) => row[column] !== '')
  return given.toSorted((a, b) => (a.start_time < b.start_time ? 1 : -1))[0]?.[column] ?? ''
}

async function notHere(): Promise<never> {
  throw new Error('the store in memory does not answer this')
}
