import type { Observation } from '../../../model/observation.ts'
import type { ObservationVersion } from '../../storage/index.ts'
import type { TaskKey } from '../findings/due-tasks.ts'
import {
  createReconstruction,
  type Place,
  type Reconstruction,
  type RunAbout,
  spanKey,
  type TaskRun,
} from '../reconstruction/index.ts'

/** Users of a task that are remembered, to find it when one is erased. */
const users_max = 100
/** A version that is remembered, about. */
const version_bytes = 200

/** The observations of a task that were read so far, put in order. */
export class TaskHistory {
  readonly about: RunAbout
  /** Of the row of the task's detection: content may have been taken out when it is another one. */
  readonly epoch: string
  /** Model calls among the observations. */
  calls = 0
  /** Calls that the task's roll-up counts and that were not there when all was read. */
  calls_missing = 0
  /** When the store took the latest one; milliseconds since 1970. */
  stored_at_ms = 0
  /** What a bound of ours left unread, in words. */
  left_out: string | undefined
  readonly #reconstruction: Reconstruction
  readonly #versions = new Map<string, string>()
  readonly #users = new Set<string>()
  /** Observations whose content is gone: that a finding is not found again says nothing of it. */
  readonly #expired = new Set<string>()

  constructor(about: RunAbout, epoch: string) {
    this.about = about
    this.epoch = epoch
    this.#reconstruction = createReconstruction(about)
  }

  /** Those that were not read; `changed` when one that was is told anew. */
  selectFresh(versions: readonly ObservationVersion[]): ObservationVersion[] | 'changed' {
    const fresh: ObservationVersion[] = []
    for (const version of versions) {
      const known = this.#versions.get(spanKey(version))
      if (known === undefined) fresh.push(version)
      else if (known !== version.message_id) return 'changed'
    }
    return fresh
  }

  /** Takes rows that were read; `rebuild`: one belongs in front of what was taken before. */
  add(rows: readonly Observation[]): 'added' | 'rebuild' {
    if (this.#reconstruction.add(rows) === 'rebuild') return 'rebuild'
    for (const row of rows) {
      this.#versions.set(spanKey(row), row.message_id)
      if (row.content_state === 'expired') this.#expired.add(spanKey(row))
      if (row.type === 'generation' || row.type === 'embedding') this.calls += 1
      if (row.user_id !== '' && this.#users.size < users_max) this.#users.add(row.user_id)
    }
    return 'added'
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

  /** Whether the observation is there with the content that it came with. */
  has(place: Place): boolean {
    return this.#versions.has(spanKey(place)) && !this.#expired.has(spanKey(place))
  }

  users(): string[] {
    return [...this.#users].toSorted()
  }

  bytes(): number {
    return this.#reconstruction.bytes() + this.#versions.size * version_bytes
  }
}

/** What bounds the histories that a process keeps. */
export type CacheBounds = {
  bytes_max: number
  histories_max: number
  /** A history that nobody asked for since is dropped: what it holds is content. */
  idle_ms_max: number
}

type Kept = { history: TaskHistory; bytes: number; used_at_ms: number }

/** Keeps the histories of the tasks that were looked at last, so that only what is new is read. */
export class HistoryCache {
  readonly #bounds: CacheBounds
  /** The one that was used last is the last one. */
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

  /** Takes a history out, to work on it; undefined when there is none of this epoch. */
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

  /** Drops what nobody asked for for long. */
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
