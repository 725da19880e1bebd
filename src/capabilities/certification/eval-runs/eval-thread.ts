import { isMainThread } from 'node:worker_threads'
import { serveThread } from '../../../platform/threads/index.ts'
import { digestEvalCases } from '../evidence/eval-case.ts'
import { readEvalFile } from './eval-file.ts'
import type { FileRead, FileToRead } from './eval-reader.ts'
import { EvalFileFault } from './read-cases.ts'

/** Reads a file in a thread: a long one takes seconds, in which a process would do nothing else. */
function readFile({ format, content }: FileToRead): FileRead {
  try {
    const cases = readEvalFile(format, content)
    return { cases, digest: digestEvalCases(cases) }
  } catch (error) {
    if (error instanceof EvalFileFault) return { faults: error.faults }
    throw error
  }
}

if (!isMainThread) serveThread(readFile)
