import { isMainThread } from 'node:worker_threads'
import { serveThread } from '../../../platform/threads/index.ts'
import { extractClaims } from '../claims/extract-claims.ts'
import { checkValues, type SeenAnswer } from './check-values.ts'
import type { AnswerParts } from './value-reader.ts'

/** Reads an answer in a thread: a long one takes seconds, in which a process would do nothing else. */
function readParts(question: SeenAnswer): AnswerParts {
  return { claims: extractClaims(question.answer.text).claims, values: checkValues(question) }
}

if (!isMainThread) serveThread(readParts)
