import { z } from 'zod'
import { parsedJson } from '../../../kernel/json-values.ts'
import {
  type CaseCollector,
  collectCases,
  type EvalFile,
  quoted,
  type ReadCase,
  repeats_max,
} from './read-cases.ts'

/** Maximum length of a line: an id of 256 characters fits, also when all of them are escaped. */
const line_characters_max = 4_096

const line = z.strictObject({
  case_id: z.string('expected text'),
  repeat: z
    .int(`expected a whole number from 1 to ${repeats_max}`)
    .min(1, `expected a whole number from 1 to ${repeats_max}`)
    .max(repeats_max, `expected a whole number from 1 to ${repeats_max}`)
    .default(1),
  passed: z.boolean('expected true or false'),
  score: z
    .number('expected a number from 0 to 1, or null')
    .min(0, 'expected a number from 0 to 1')
    .max(1, 'expected a number from 0 to 1')
    .nullable()
    .default(null),
})

const fields = Object.keys(line.shape).join(', ')

/**
 * Reads JSON lines: one object a line, such as `{"case_id": "refund-17", "repeat": 2, "passed": true}`.
 * Empty lines are ignored. Throws `EvalFileFault`.
 */
export function readJsonLines(content: string): EvalFile {
  const found = collectCases()
  const text = content.startsWith('\ufeff') ? content.slice(1) : content
  let number = 0
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    number += 1
    readLine(text.slice(start, end), number, found)
    start = end + 1
  }
  return found.end()
}

function readLine(text: string, number: number, found: CaseCollector): void {
  if (text.trim() === '') return
  const read = parseLine(text)
  if (typeof read === 'string') found.fault(number, read)
  else found.add(number, read)
}

/** Returns the case of a line, or the fault of the line. */
function parseLine(text: string): ReadCase | string {
  if (text.length > line_characters_max) {
    const expected = `expected at most ${line_characters_max}`
    return `the line is too long: got ${text.length} characters, ${expected}`
  }
  const value = parsedJson(text)
  if (value === undefined) return `not valid JSON: ${quoted(text)}`
  const read = line.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  return issue === undefined ? 'not a case' : describe(issue)
}

function describe(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    return `${quoted(issue.keys.join(', '))} is not a field of a case: expected ${fields}`
  }
  const path = issue.path.join('.')
  return path === '' ? `expected an object with ${fields}` : `${path}: ${issue.message}`
}
