import { parsedJson } from '../../../kernel/json-values.ts'
import type { EvalCase } from '../evidence/eval-case.ts'
import { type CaseCollector, collectCases, quoted } from './read-cases.ts'

/** Maximum length of a line: three texts of 256 characters fit, also when all are escaped. */
const line_characters_max = 8_192

/**
 * Reads JSON lines: one object a line, such as `{"case_id": "refund-17", "repeat": 1, "passed": true}`.
 * Empty lines are ignored. Throws `EvalFileFault`.
 */
export function readJsonLines(content: string): EvalCase[] {
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
