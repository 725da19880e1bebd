import { type AnsweringThread, createAnsweringThread } from '../../../platform/threads/index.ts'
import type { Claim } from '../claims/extract-claims.ts'
import type { StoredValue } from '../contract.ts'
import type { SeenAnswer } from './check-values.ts'
import { RunRefused } from './limits.ts'

/** The claims of an answer, found by rules, its values, and a sentence if there are more values. */
export type AnswerParts = {
  claims: readonly Claim[]
  values: readonly StoredValue[]
  gaps: readonly string[]
  /** Values that are not in `values`. */
  left: number
}

/** Reads the claims and values of answers, in a thread with bounded time and memory. */
export type ValueReader = {
  /** Throws RunRefused when the answer takes too much time or memory. */
  read(question: SeenAnswer, signal: AbortSignal): Promise<AnswerParts>
  /** Ends the thread. */
  close(): Promise<void>
}

/** Maximum answers that wait for the thread: far more than a process verifies concurrently. */
const waiting_max = 1_000
/** Time limit of an answer. 8 MiB of tables take 5 s. */
const answer_ms_max_default = 20_000
/** Heap limit of the thread. 8 MiB of tables take a third of it. */
const memory = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 }

/** Creates the reader. Its thread starts with the first answer and ends a minute after the last. */
export function createValueReader({ answer_ms_max = answer_ms_max_default } = {}): ValueReader {
  const thread: AnsweringThread<SeenAnswer, AnswerParts> = createAnsweringThread({
    file: new URL('./value-thread.ts', import.meta.url),
    answer_ms_max,
    memory,
    waiting: {
      max: waiting_max,
      refusal: () => new Error('too many answers wait for the value reader'),
    },
    failed: () => new RunRefused('timed_out', tooLarge),
  })
  return {
    read: ({ answer, seen, calls, is_seen_complete }, signal) =>
      thread.ask({ answer, seen, calls, is_seen_complete }, signal),
    close: thread.close,
  }
}

const tooLarge = 'The answer and its context take too much time or memory to compare.'
