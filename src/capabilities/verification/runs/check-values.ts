import { hash } from 'node:crypto'
import {
  type CheckedValue,
  checkAnswer,
  indexSeen,
  type SeenText,
} from '../../provenance/sources/index.ts'
import type { Claim } from '../claims/extract-claims.ts'
import {
  type ClaimToCheck,
  quote_chars_max,
  type SeenSource,
  type StoredValue,
} from '../contract.ts'
import type { ReadAnswer } from './read-answer.ts'

/** The input of the check of values: the answer, and the texts that the agent saw. */
export type SeenAnswer = Pick<ReadAnswer, 'answer' | 'seen' | 'calls' | 'is_seen_complete'>

/** Maximum evidence that is stored of a value. */
const evidence_max = 5

/** Maximum values that are stored of an answer; the others are neither looked up nor stored. */
export const values_max = 2_000

/**
 * Looks up the values of the answer in what the agent saw. A value that was not found is
 * `not_checked` when the agent may have seen more than was read. `left` are values that are not stored.
 */
export function checkValues(context: SeenAnswer): { values: StoredValue[]; left: number } {
  const { answer, seen } = context
  const sources = new Map(seen.map((source) => [source.source, source]))
  sources.set('answer', { ...answer, source: 'answer', role: 'user' })
  const checked = checkAnswer(answer.text, indexSeen(toTexts(context)))
  const values = checked.slice(0, values_max).map((value) => ({
    value: value.value,
    kind: value.kind,
    at: value.at,
    verdict: value.verdict,
    derivation: value.derivation === undefined ? null : value.derivation.formula,
    reason: value.doubt ?? value.exemption ?? null,
    evidence: toEvidence(value, sources),
  }))
  return { values, left: checked.length - values.length }
}

/** Counts the values of an answer: one that was not checked says nothing about its claim. */
export function countValues(values: readonly StoredValue[], left: number) {
  const values_checked = values.filter(({ verdict }) => verdict !== 'not_checked').length
  return { values_checked, values_not_checked: values.length - values_checked + left }
}

function toTexts({ seen, calls, is_seen_complete }: SeenAnswer): SeenText[] {
  const texts: SeenText[] = seen.map(({ source, text, is_complete }) => ({
    source,
    text,
    complete: is_complete,
  }))
  const own = calls.map((call) => ({ ...call, isOwn: true }))
  const missing = { source: 'missing', text: '', complete: false }
  return [...texts, ...own, ...(is_seen_complete ? [] : [missing])]
}

function toEvidence(
  { evidence }: CheckedValue,
  sources: ReadonlyMap<string, SeenSource>,
): StoredValue['evidence'] {
  return evidence.slice(0, evidence_max).map(({ source, quote, at }) => {
    const seen = sources.get(source)
    return {
      kind: 'trace',
      source,
      quote: quote.slice(0, quote_chars_max),
      at,
      digest: seen?.digest ?? null,
      ...(seen && { place: seen.place }),
    }
  })
}

/** A claim of the answer, with its kind. */
export type RunClaim = ClaimToCheck & { kind: Claim['kind'] }

/** Gives each claim the values within it. Both lists are sorted by their start. */
export function joinValues(claims: readonly Claim[], values: readonly StoredValue[]): RunClaim[] {
  return claims.map(({ text, start, end, kind }) => ({
    text,
    at: [start, end],
    kind,
    values: values.filter(({ at }) => at[0] >= start && at[1] <= end),
  }))
}

/** Returns the digest by which an override and a diff find a claim in other runs. */
export function digestOfClaim(text: string): string {
  return hash('sha256', text.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase())
}
