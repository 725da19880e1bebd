import { parsedJson } from '../../../kernel/json-values.ts'
import type { EvalCase } from '../evidence/eval-case.ts'
import { readJunit } from './junit.ts'
import { type CaseCollector, collectCases, EvalFileFault, quoted } from './read-cases.ts'

/** Formats of a file with the results of an evaluation. */
export const evalFormats = ['junit', 'jsonl'] as const

export type EvalFormat = (typeof evalFormats)[number]

/** Maximum length of an eval file: 8 Mi characters. */
export const maxEvalFileChars = 8 * 1_024 * 1_024

/**
 * Reads the cases of a JUnit report or of JSON lines. Keeps ids, groups, outcomes and numbers only: messages
 * and outputs of tests are not returned. Throws `EvalFileFault` with line numbers.
 */
export function readEvalFile(format: EvalFormat, content: string): EvalCase[] {
  if (content.length > maxEvalFileChars) {
    const detail = `expected at most ${maxEvalFileChars} characters, got ${content.length}`
    throw new EvalFileFault([{ line: 1, detail }])
  }
  return format === 'junit' ? readJunit(content) : readJsonLines(content)
}

/** Maximum length of a line: three texts of 256 characters fit, also when all are escaped. */
const line_characters_max = 8_192

/**
 * Reads JSON lines: one object a line, such as `{"case_id": "refund-17", "repeat": 1, "passed": true}`.
 * Empty lines are ignored. Throws `EvalFileFault`.
 */
function readJsonLines(content: string): EvalCase[] {
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
  if (text.length > line_characters_max) {
    const expected = `expected at most ${line_characters_max}`
    found.fault(number, `the line is too long: got ${text.length} characters, ${expected}`)
    return
  }
  if (text.trim() === '') return
  const value = parsedJson(text)
  if (value === undefined) found.fault(number, `not valid JSON: ${quoted(text)}`)
  else found.add(number, value)
}
