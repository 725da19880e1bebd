import { problem } from '../../../kernel/problem.ts'
import { openProjectSlots } from '../../../kernel/project-slots.ts'
import { createAnsweringThread } from '../../../platform/threads/index.ts'
import type { EvalCase } from '../evidence/eval-case.ts'
import type { EvalFormat } from './eval-file.ts'
import { EvalFileFault, type LineFault } from './read-cases.ts'

/** A question to the thread. */
export type FileToRead = { format: EvalFormat; content: string }

/** The answer of the thread: the cases with their digest, or the faults of the file. */
export type FileRead =
  | { cases: EvalCase[]; digest: string }
  | { faults: readonly [LineFault, ...LineFault[]] }

/** Reads eval files in a thread with bounded time and memory. */
export type EvalReader = {
  /**
   * Returns the cases and their digest. Throws `EvalFileFault`, `invalid_request` for a file that
   * takes too much time or memory, and `rate_limited` when many files wait.
   */
  read(
    file: FileToRead,
    about: { project_id: string; signal: AbortSignal },
  ): Promise<{ cases: EvalCase[]; digest: string }>
}

/** Time of a file. 8 Mi characters take 1 to 3 s. */
const read_ms_max = 30_000
/** Files that wait for the thread of a process. */
const maxWaitingFiles = 20
/** One file of a project is read at a time, so that others get their turn. */
const slotLimits = {
  work: 'eval files that are read',
  running_max: 1,
  waiting_max: 4,
  wait_ms_max: 20_000,
}
/** Heap of the thread: 20,000 cases take a tenth. */
const memory = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64 }

/** Creates the reader. Its thread starts with the first file and ends a minute after the last. */
export function createEvalReader(): EvalReader {
  const slots = openProjectSlots(slotLimits)
  const thread = createAnsweringThread<FileToRead, FileRead>({
    file: new URL('./eval-thread.ts', import.meta.url),
    answer_ms_max: read_ms_max,
    memory,
    waiting: { max: maxWaitingFiles, refusal: tooMany },
    failed: tooHard,
  })
  return {
    read: async ({ format, content }, about) => {
      const read = await slots.take(about, () => thread.ask({ format, content }, about.signal))
      if ('faults' in read) throw new EvalFileFault(read.faults)
      return read
    },
  }
}

function tooMany() {
  const detail = 'Too many eval files at once. Try again shortly.'
  return problem('rate_limited', { detail, retry_after_s: 2 })
}

function tooHard(cause: unknown) {
  const detail = `not read within ${read_ms_max / 1000} s and the memory of a file. Split the file.`
  return problem('invalid_request', {
    detail: `/content: ${detail}`,
    faults: [{ pointer: '/content', detail }],
    cause,
  })
}
