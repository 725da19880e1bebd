import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import type { Observation } from '../../../model/observation.ts'
import {
  identities_max,
  type ObservationIdentity,
  type ObservationStore,
} from '../../storage/index.ts'
import { addEventContents } from './event-contents.ts'

/** Approximate bytes of bodies per statement. */
const chunk_bytes = 1024 * 1024
/** Assumed size of an unknown body, as of spans, until the project's first bodies are read. */
const bodyGuessBytes = 256 * 1024
const minBodyGuessBytes = 4 * 1024

/** Bytes of an observation's bodies; 0 if unknown. */
type Sized = { body_bytes: number }

/** Assumed size of the unknown bodies of a project, by those that this process read last. */
const guesses = new BoundedCache<string, number>(10_000)

/** Splits observations of a project into chunks whose bodies one statement reads: up to some bytes. */
export function createChunks(project_id: string, bytes_max = chunk_bytes) {
  return {
    /** Yields chunks; the size of unknown bodies may be learned between two of them. */
    *split<Item>(items: readonly Item[], sizeOf: (item: Item) => Sized): Generator<Item[]> {
      let chunk: Item[] = []
      let bytes = 0
      for (const item of items) {
        const size_bytes = sizeOf(item).body_bytes || (guesses.get(project_id) ?? bodyGuessBytes)
        if (chunk.length > 0 && (bytes + size_bytes > bytes_max || isFull(chunk))) {
          yield chunk
          chunk = []
          bytes = 0
        }
        chunk.push(item)
        bytes += size_bytes
      }
      if (chunk.length > 0) yield chunk
    },
    learn(rows: readonly Observation[]): void {
      if (rows.length > 0) guesses.set(project_id, guessBody(rows))
    },
  }
}

function isFull(chunk: readonly unknown[]): boolean {
  return chunk.length >= identities_max
}

/** Where sizes differ much, the next bodies may be among the large ones. */
function guessBody(rows: readonly Observation[]): number {
  const sizes = rows.map(({ input, output }) => input.length + output.length)
  const average = sizes.reduce((sum, size) => sum + size, 0) / sizes.length
  return Math.max(minBodyGuessBytes, average, Math.max(...sizes) / 4)
}

/**
 * Reads the latest versions of observations with their content, also that of their events, in no order. Rejects with
 * `store_unavailable`, and with the signal's reason after it aborts.
 */
export async function readContents(
  store: Pick<ObservationStore, 'observationsAt' | 'genAiEvents' | 'eventCounts'>,
  project_id: string,
  { rows, signal }: { rows: readonly (ObservationIdentity & Sized)[]; signal: AbortSignal },
): Promise<Observation[]> {
  const chunks = createChunks(project_id)
  const contents: Observation[] = []
  for (const chunk of chunks.split(rows, (row) => row)) {
    signal.throwIfAborted()
    const some = await store.observationsAt(project_id, chunk, signal)
    chunks.learn(some)
    contents.push(...(await addEventContents(store, project_id, some)).rows)
  }
  return contents
}
