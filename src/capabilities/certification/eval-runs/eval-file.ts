import { readJsonLines } from './json-lines.ts'
import { readJunit } from './junit.ts'
import { type EvalFile, EvalFileFault } from './read-cases.ts'

/** Formats of a file with the results of an evaluation. */
export const evalFormats = ['junit', 'jsonl'] as const

export type EvalFormat = (typeof evalFormats)[number]

/** Maximum length of an eval file: 8 Mi characters, in JSON at least as many bytes. */
export const evalFile_characters_max = 8 * 1_024 * 1_024

/**
 * Reads the cases of a JUnit report or of JSON lines. Keeps ids, repeats and outcomes only: messages and
 * outputs of tests are not returned. Throws `EvalFileFault` with line numbers.
 */
export function readEvalFile(format: EvalFormat, content: string): EvalFile {
  if (content.length > evalFile_characters_max) {
    const detail = `expected at most ${evalFile_characters_max} characters, got ${content.length}`
    throw new EvalFileFault([{ line: 1, detail }])
  }
  return format === 'junit' ? readJunit(content) : readJsonLines(content)
}
