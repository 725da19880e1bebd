import type { Observation } from '../../../model/observation.ts'
import { isCountedCall } from '../../../model/observation.ts'
import type { ObservationVersion } from '../../storage/index.ts'
import type { TaskKey } from '../findings/tasks-store.ts'
import {
  createReconstruction,
  type KnownRows,
  type Place,
  type Reconstruction,
  type ReconstructionOptions,
  spanKey,
  type TaskIdentity,
  type TaskRun,
} from '../reconstruction/index.ts'
import type { EventCall } from './event-contents.ts'

/** Maximum users remembered per task, to find the task when a user is erased. */
const users_max = 100
/** Approximate bytes of a remembered version. */
const version_bytes = 200

/** The reconstructed observations of a task. */
export class TaskHistory {
  readonly task: TaskIdentity
  /** Epoch of the task's detection: another epoch means that content was erased. */
  readonly epoch: string
  /** Number of model calls among the observations. */
  calls = 0
  /** Calls in the task's roll-up that were missing from a complete read. */
  calls_missing = 0
  /** Latest storage time of an observation, milliseconds since 1970. */
  stored_at_ms = 0
  /** Description of observations beyond a limit. */
  left_out: string | undefined
  readonly #reconstruction: Reconstruction
  readonly #versions = new Map<string, string>()
  readonly #users = new Set<string>()
  /** Calls whose content is in events, which can arrive later. */
  readonly #eventCalls: EventCall[] = []
  /** Observations without content, whose missing findings prove nothing. */
  readonly #expired = new Set<string>()

  constructor(task: TaskIdentity, epoch: string, options: ReconstructionOptions = {}) {
    this.task = task
    this.epoch = epoch
    this.#reconstruction = createReconstruction(task, options)
  }

  /** Tells whether the history has an observation that is not among all stored ones. */
  hasOthers(stored: readonly ObservationVersion[]): boolean {
    const places = new Set(stored.map(spanKey))
    for (const place of this.#versions.keys()) if (!places.has(place)) return true
    return false
  }

  /** Returns the versions not read yet; `changed` if a read observation has a new version. */
  selectFresh(versions: readonly ObservationVersion[]): ObservationVersion[] | 'changed' {
    const fresh: ObservationVersion[] = []
    for (const version of versions) {
      const known = this.#versions.get(spanKey(version))
      if (known === undefined) fresh.push(version)
      else if (known !== versionOf(version)) return 'changed'
    }
    return fresh
  }

  /** Adds rows; `rebuild` if one belongs before an added row. */
  add(rows: readonly Observation[], known: KnownRows = {}): 'added' | 'rebuild' {
    if (this.#reconstruction.add(rows, known) === 'rebuild') return 'rebuild'
    for (const row of rows) {
      this.#versions.set(spanKey(row), versionOf(row))
      if (row.content_state === 'expired') this.#expired.add(spanKey(row))
      if (isCountedCall(row)) this.calls += 1
      if (row.user_id !== '' && this.#users.size < users_max) this.#users.add(row.user_id)
    }
    return 'added'
  }

  /** Adds calls whose content is in events; their rows are added too. */
  addEventCalls(calls: readonly EventCall[]): void {
    this.#eventCalls.push(...calls)
  }

  eventCalls(): readonly EventCall[] {
    return this.#eventCalls
  }

  noteStored(versions: readonly ObservationVersion[]): void {
    for (const { stored_at_ms } of versions) {
      if (stored_at_ms > this.stored_at_ms) this.stored_at_ms = stored_at_ms
    }
  }

  run(): TaskRun {
    const run = this.#reconstruction.run()
    return this.left_out === undefined
      ? run
      : { ...run, left_out: [...run.left_out, this.left_out] }
  }

  /** Tells whether the observation exists with its original content. */
  has(place: Place): boolean {
    return this.#versions.has(spanKey(place)) && !this.#expired.has(spanKey(place))
  }

  users(): string[] {
    return [...this.#users].toSorted()
  }

  bytes(): number {
    return (
      this.#reconstruction.bytes() + (this.#versions.size + this.#eventCalls.length) * version_bytes
    )
  }
}

/** Limits of the cached histories of a process. */
export type CacheBounds = {
  bytes_max: number
  histories_max: number
  /** Maximum time a history is kept unused, because it contains content. */
  idle_ms_max: number
}

type Kept = { history: TaskHistory; bytes: number; used_at_ms: number }

/** Caches the histories of recently analysed tasks, so that only new observations are read. */
export class HistoryCache {
  readonly #bounds: CacheBounds
  /** Most recently used last. */
  readonly #kept = new Map<string, Kept>()
  #bytes = 0

  constructor(bounds: CacheBounds) {
    this.#bounds = bounds
  }

  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#kept.size
  }

  /** Removes and returns a history; undefined if none of this epoch is cached. */
  take(key: TaskKey, epoch: string): TaskHistory | undefined {
    const history = this.#remove(taskKey(key))
    return history?.epoch === epoch ? history : undefined
  }

  keep(key: TaskKey, history: TaskHistory, now_ms: number): void {
    const text = taskKey(key)
    this.#remove(text)
    const bytes = history.bytes()
    this.#kept.set(text, { history, bytes, used_at_ms: now_ms })
    this.#bytes += bytes
    this.#shrink()
  }

  /** Drops histories that were unused for `idle_ms_max`. */
  dropIdle(now_ms: number): void {
    for (const [text, { used_at_ms }] of this.#kept) {
      if (now_ms - used_at_ms < this.#bounds.idle_ms_max) return
      this.#remove(text)
    }
  }

  #shrink(): void {
    const { bytes_max, histories_max } = this.#bounds
    for (const text of this.#kept.keys()) {
      if (this.#bytes <= bytes_max && this.#kept.size <= histories_max) return
      this.#remove(text)
    }
  }

  #remove(text: string): TaskHistory | undefined {
    const kept = this.#kept.get(text)
    if (kept === undefined) return undefined
    this.#kept.delete(text)
    this.#bytes -= kept.bytes
    return kept.history
  }
}

function taskKey({ project_id, task_id }: TaskKey): string {
  return `${project_id} ${task_id}`
}

/** Returns what tells versions of an observation apart: also which row counts its call. */
function versionOf({
  message_id,
  counted_with,
}: Pick<ObservationVersion, 'message_id' | 'counted_with'>): string {
  return `${message_id} ${counted_with}`
}
