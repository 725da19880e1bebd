import { grammarWords, stem } from '../../provenance/text/index.ts'
import * as lists from './word-lists.ts'

/** A set of words that finds words of the same meaning. */
export interface AlikeWords {
  readonly terms: ReadonlySet<string>
  readonly groups: ReadonlySet<number>
  readonly starts: ReadonlySet<string>
}

/** Minimum equal code units at the start of two forms of one word. */
const minStartLength = 5

/** Builds the set from terms. */
export function alikeOf(terms: Iterable<string>): AlikeWords {
  const known = { terms: new Set(terms), groups: new Set<number>(), starts: new Set<string>() }
  for (const term of known.terms) {
    for (const group of groups.get(term) ?? []) known.groups.add(group)
    const start = startOf(term)
    if (start !== undefined) known.starts.add(start)
  }
  return known
}

/**
 * Returns how well a term is in a set: 1 itself, less in another form or by another word; 0 not.
 */
export function likeness(term: string, known: AlikeWords): number {
  if (known.terms.has(term)) return 1
  if ((groups.get(term) ?? []).some((group) => known.groups.has(group))) return 0.9
  const start = startOf(term)
  return start !== undefined && known.starts.has(start) ? 0.8 : 0
}

function startOf(term: string): string | undefined {
  return term.length < minStartLength || /\d/.test(term) ? undefined : term.slice(0, minStartLength)
}

/** Reports whether a term has an opposite in a set that lacks the term itself. */
export function hasOpposite(term: string, known: AlikeWords): boolean {
  if (known.terms.has(term)) return false
  return (opposites.get(term) ?? []).some((other) => known.terms.has(other))
}

/** Returns the weight of a word in its claim, 0–1. */
export function gravity(term: string): number {
  // One letter is the rest of a contraction, as in `isn't`.
  return grammarWords.has(term) || /^\d|^[a-z]$/.test(term) ? 0 : lightWords.has(term) ? 0.25 : 1
}

function readWords(text: string): Set<string> {
  return new Set(text.split(/\s+/).filter(Boolean).map(stem))
}

function readGroups(text: string): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const [at, line] of text.trim().split('\n').entries()) {
    for (const word of readWords(line)) found.set(word, [...(found.get(word) ?? []), at])
  }
  return found
}

function readPairs(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const pair of text.split(';')) {
    const [one = '', other = ''] = pair.trim().split(/\s+/).map(stem)
    found.set(one, [...(found.get(one) ?? []), other])
    found.set(other, [...(found.get(other) ?? []), one])
  }
  return found
}

const groups = readGroups(lists.wordGroups)
const opposites = readPairs(lists.wordOpposites)
const lightWords = readWords(lists.lightWords)
