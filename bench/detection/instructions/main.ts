import { readFileSync } from 'node:fs'
import { readRecords } from '../../verification/packed-records.ts'
import type { LabelledConversation } from './conversation.ts'
import { type Scores, scoreConversations, type Tally } from './score.ts'

/**
 * Prints how many broken instructions of labelled conversations are found, by kind, scope, style
 * and language. The file is JSON lines, plain or packed (`.gz`).
 */
export function printInstructions(file: string, hasErrors: boolean): void {
  const scores = scoreConversations(readConversations(file))
  console.log(`${scores.conversations} conversations`)
  console.log(lineOf('all', scores.all))
  console.log(lineOf('medium or above', scores.medium))
  for (const name of ['scopes', 'styles', 'languages', 'kinds'] as const) printTable(name, scores)
  if (!hasErrors) return
  console.log('\n## errors')
  for (const { error, id, kind, scope, text, violation } of scores.errors) {
    console.log(`${error} ${id} ${kind} (${scope}): ${text}${violation ? ` → ${violation}` : ''}`)
  }
}

function readConversations(file: string): LabelledConversation[] {
  if (file.endsWith('.gz')) return readRecords<LabelledConversation>(file)
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): LabelledConversation => JSON.parse(line))
}

function printTable(name: 'scopes' | 'styles' | 'languages' | 'kinds', scores: Scores): void {
  console.log(`\n## ${name}`)
  for (const [key, tally] of [...scores[name]].sort(([a], [b]) => a.localeCompare(b))) {
    console.log(lineOf(key, tally))
  }
}

function lineOf(name: string, { found, missed, wrong }: Tally): string {
  const precision = toText(found, found + wrong)
  const recall = toText(found, found + missed)
  return `${name.padEnd(20)} precision ${precision} recall ${recall} (${found} found, ${missed} missed, ${wrong} wrong)`
}

function toText(part: number, whole: number): string {
  return whole === 0 ? '–    ' : (part / whole).toFixed(3)
}
