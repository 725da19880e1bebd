import { isMainThread } from 'node:worker_threads'
import { serveThread } from '../../../platform/threads/index.ts'
import { extractClaims } from '../claims/extract-claims.ts'
import { checkValues, type SeenAnswer, values_max } from './check-values.ts'
import type { AnswerParts } from './value-reader.ts'

/** Reads an answer in a thread: a long one would block the process for seconds. */
function readParts(question: SeenAnswer): AnswerParts {
  const { claims } = extractClaims(question.answer.text)
  const { values, left } = checkValues(question)
  const gaps = values.length < values_max ? [] : [`The first ${values_max} values were checked.`]
  return { claims, values, gaps, left }
}

if (!isMainThread) serveThread(readParts)
