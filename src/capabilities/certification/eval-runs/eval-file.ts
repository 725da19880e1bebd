import type { EvalCase } from '../evidence/eval-case.ts'
import { readJsonLines } from './json-lines.ts'
import { readJunit } from './junit.ts'
import { EvalFileFault } from './read-cases.ts'

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
