import { join } from 'node:path'
import { extractClaims } from '../../src/capabilities/verification/claims/extract-claims.ts'
import type { ExtractionFigures, Share } from './figures.ts'
import { readRecords } from './packed-records.ts'

type Span = { text: string; start: number; end: number }
type Answer = {
  id: string
  answer: string
  claims: (Span & { label: string; trap: string | null })[]
  not_claims: (Span | string)[]
}

/** Measures the extraction of claims; the folder has `answers.jsonl.gz`. */
export function measureExtraction(folder: string, isVerbose: boolean): ExtractionFigures {
  const answers = readRecords<Answer>(join(folder, 'answers.jsonl.gz'))
  const counts = new Map<string, { found: number; all: number }>()
  const count = (key: string, isFound: boolean) => {
    const entry = counts.get(key) ?? { found: 0, all: 0 }
    counts.set(key, { found: entry.found + (isFound ? 1 : 0), all: entry.all + 1 })
  }
  for (const answer of answers) measureAnswer(answer, count, isVerbose)
  for (const [key, { found, all }] of [...counts].sort()) {
    console.log(`${key}: ${((100 * found) / all).toFixed(1)} % (${found}/${all})`)
  }
  const share = (key: string): Share => {
    const { found = 0, all = 0 } = counts.get(key) ?? {}
    return { part: found, of: all }
  }
  return { right: share('precision'), found: share('recall') }
}

function measureAnswer(
  { id, answer, claims, not_claims }: Answer,
  count: (key: string, isFound: boolean) => void,
  isVerbose: boolean,
): void {
  const { claims: extracted } = extractClaims(answer)
  for (const claim of claims) {
    const isFound = extracted.some((one) => isSame(one, claim))
    count('recall', isFound)
    count(`label ${claim.label}`, isFound)
    if (!isFound && isVerbose) console.log('missed', id, JSON.stringify(claim.text))
  }
  for (const one of extracted) {
    const isRight = claims.some((claim) => isSame(one, claim))
    count('precision', isRight)
    if (!isRight && isVerbose) console.log('extra', id, one.kind, JSON.stringify(one.text))
  }
  for (const one of not_claims) {
    const text = typeof one === 'string' ? one : one.text
    const at = answer.indexOf(text)
    const span = { text, start: at, end: at + text.length }
    count('not_claims dropped', !extracted.some((claim) => shared(claim, span) > 0))
  }
}

function shared(a: Span, b: Span): number {
  return Math.max(0, Math.min(a.end, b.end) - Math.max(a.start, b.start))
}

function isSame(a: Span, b: Span): boolean {
  return shared(a, b) / (Math.max(a.end, b.end) - Math.min(a.start, b.start)) >= 0.8
}
