import type { TaskKey } from './due-tasks.ts'
import type { TaskHistory } from './task-history.ts'

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
    const history = this.#remove(textOf(key))
    return history?.epoch === epoch ? history : undefined
  }

  keep(key: TaskKey, history: TaskHistory, now_ms: number): void {
    const text = textOf(key)
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

function textOf({ project_id, task_id }: TaskKey): string {
  return `${project_id} ${task_id}`
}
