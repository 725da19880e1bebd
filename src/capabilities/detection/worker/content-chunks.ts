import type { Observation } from '../../../model/observation.ts'
import {
  identities_max,
  type ObservationIdentity,
  type ObservationStore,
} from '../../storage/index.ts'
import { addEventContents } from './event-contents.ts'

/** Approximate bytes of bodies per statement. */
const chunk_bytes = 1024 * 1024
/** Assumed size of an unknown body, as of spans, until the first bodies are read. */
const bodyGuessBytes = 256 * 1024
const minBodyGuessBytes = 4 * 1024

/** Bytes of an observation's bodies; 0 if unknown. */
type Sized = { body_bytes: number }

/** Splits observations into chunks whose bodies one statement reads: up to some bytes. */
export function createChunks(bytes_max = chunk_bytes) {
  let guess_bytes = bodyGuessBytes
  return {
    /** Yields chunks; the size of unknown bodies may be learned between two of them. */
    *split<Item>(items: readonly Item[], sizeOf: (item: Item) => Sized): Generator<Item[]> {
      let chunk: Item[] = []
      let bytes = 0
      for (const item of items) {
        const size_bytes = sizeOf(item).body_bytes || guess_bytes
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
      guess_bytes = Math.max(minBodyGuessBytes, getAverageBody(rows))
    },
  }
}

function isFull(chunk: readonly unknown[]): boolean {
  return chunk.length >= identities_max
}

function getAverageBody(rows: readonly Observation[]): number {
  const bytes = rows.reduce((sum, { input, output }) => sum + input.length + output.length, 0)
  return bytes / Math.max(1, rows.length)
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
  const chunks = createChunks()
  const contents: Observation[] = []
  for (const chunk of chunks.split(rows, (row) => row)) {
    signal.throwIfAborted()
    const some = await store.observationsAt(project_id, chunk, signal)
    chunks.learn(some)
    contents.push(...(await addEventContents(store, project_id, some)).rows)
  }
  return contents
}
