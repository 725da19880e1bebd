import type { Observation } from '../../../model/observation.ts'
import type { ObservationStore, ObservationVersion } from '../../storage/index.ts'

type Store = Pick<ObservationStore, 'observationsAt'>

/** Reads rows of a project, each once. */
export class RowReader {
  readonly #store: Store
  readonly #project_id: string
  readonly #signal: AbortSignal
  readonly #rows = new Map<string, Observation | undefined>()

  constructor(store: Store, project_id: string, signal: AbortSignal) {
    this.#store = store
    this.#project_id = project_id
    this.#signal = signal
  }

  /** Undefined for a row that was deleted in the meantime. */
  async read(version: ObservationVersion): Promise<Observation | undefined> {
    if (!this.#rows.has(keyOf(version))) await this.#load([version])
    return this.#rows.get(keyOf(version))
  }

  /**
   * Reads the latest of some versions, sorted by start, within a number of bytes. Returns their
   * rows in the same order, and how many versions were left out.
   */
  async readNewest(versions: readonly ObservationVersion[], bytes_max: number) {
    const rows: Observation[] = []
    let bytes = 0
    let end = versions.length
    while (end > 0 && bytes < bytes_max) {
      const chunk = takeChunk(versions.slice(0, end))
      await this.#load(chunk.filter((version) => !this.#rows.has(keyOf(version))))
      for (const version of chunk.toReversed()) {
        const row = this.#rows.get(keyOf(version))
        if (bytes >= bytes_max && rows.length > 0) break
        end -= 1
        if (row === undefined) continue
        rows.push(row)
        bytes += row.input.length + row.output.length
      }
    }
    return { rows: rows.reverse(), left: end }
  }

  async #load(versions: readonly ObservationVersion[]): Promise<void> {
    if (versions.length === 0) return
    this.#signal.throwIfAborted()
    const rows = await this.#store.observationsAt(this.#project_id, versions)
    for (const version of versions) this.#rows.set(keyOf(version), undefined)
    for (const row of rows) this.#rows.set(keyOf(row), row)
  }
}

/** Rows and approximate bytes of one statement. */
const chunk_max = 32
const chunk_bytes = 1024 * 1024
/** Assumed size of an unknown body, as of spans. */
const bodyGuessBytes = 64 * 1024

/** Returns the last versions that fit into one statement, at least one. */
function takeChunk(versions: readonly ObservationVersion[]): readonly ObservationVersion[] {
  let bytes = 0
  const first = versions.findLastIndex(({ body_bytes }, at) => {
    bytes += body_bytes || bodyGuessBytes
    return bytes >= chunk_bytes || versions.length - at >= chunk_max
  })
  return versions.slice(Math.max(0, first))
}

function keyOf({ trace_id, observation_id }: { trace_id: string; observation_id: string }) {
  return `${trace_id} ${observation_id}`
}
