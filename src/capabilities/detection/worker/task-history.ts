import type { Observation } from '../../../model/observation.ts'
import type { ObservationVersion } from '../../storage/index.ts'
import type { Place, Reconstruction, RunAbout, TaskRun } from '../reconstruction/contract.ts'
import { createReconstruction } from '../reconstruction/index.ts'

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
  freshOf(versions: readonly ObservationVersion[]): ObservationVersion[] | 'changed' {
    const fresh: ObservationVersion[] = []
    for (const version of versions) {
      const known = this.#versions.get(keyOf(version))
      if (known === undefined) fresh.push(version)
      else if (known !== version.message_id) return 'changed'
    }
    return fresh
  }

  /** Takes rows that were read; `rebuild`: one belongs in front of what was taken before. */
  add(rows: readonly Observation[]): 'added' | 'rebuild' {
    if (this.#reconstruction.add(rows) === 'rebuild') return 'rebuild'
    for (const row of rows) {
      this.#versions.set(keyOf(row), row.message_id)
      if (row.content_state === 'expired') this.#expired.add(keyOf(row))
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
    return this.#versions.has(keyOf(place)) && !this.#expired.has(keyOf(place))
  }

  users(): string[] {
    return [...this.#users].toSorted()
  }

  bytes(): number {
    return this.#reconstruction.bytes() + this.#versions.size * version_bytes
  }
}

/** Within a task an observation has one start. */
function keyOf({ trace_id, observation_id }: Place): string {
  return `${trace_id} ${observation_id}`
}
