import { grammarWords, tokenize } from '../../provenance/text/index.ts'
import { readCodes } from '../../provenance/values/index.ts'
import type { ClaimToCheck } from '../contract.ts'

/** Words and characters of a query; search engines ignore the rest of a longer one. */
const words_max = 24
const query_chars_max = 200
/** Words that the question adds: the names of its subject. */
const subjects_max = 5
/** Words besides grammar that a query must have. */
const content_min = 2
/** Characters of a claim and of a question that are read. */
const read_chars_max = 4_000

/** Kinds of values that name a person, an account or a system. */
const privateKinds = new Set(['id', 'email', 'url', 'path'])
/** Nine digits or more, also in groups: numbers of cards, accounts and phones. */
const longNumber = /\d(?:[ ./-]?\d){8,40}/g
/** A word of letters; a longer one, or one that changes its case often, is a key or a hash. */
const plainWord = /^\p{L}(?:[\p{L}\p{M}'’-]{0,22}[\p{L}\p{M}])?$/u
const changesCase = /(?:\p{Ll}\p{Lu}.{0,24}){3}/u
/** A number of at most five digits, or with separators of thousands, and a short unit. */
const plainNumber =
  /^[€$£]?(?:\d{1,5}|\d{1,3}(?:[.,]\d{3}){1,3})(?:[.,]\d{1,2})?(?:[€$£%]|\p{L}{1,3})?$/u

/**
 * Returns the search query of a claim; undefined when too little remains. Only plain words and
 * short numbers leave the installation: ids, addresses, URLs, paths, long numbers and keys are left
 * out, and no character remains that a search engine reads as a command.
 */
export function searchQuery({ text, values }: ClaimToCheck, question: string): string | undefined {
  const known = values.filter(({ kind }) => privateKinds.has(kind)).map(({ value }) => value)
  const words = plainWords(text, known)
  const content = words.filter((word) => tokenize(word).some(({ term }) => !grammarWords.has(term)))
  if (content.length < content_min) return undefined
  const used = new Set(words.map((word) => word.toLowerCase()))
  const subjects = plainWords(question, known)
    .slice(1)
    .filter((word) => /^\p{Lu}/u.test(word) && !used.has(word.toLowerCase()))
    .filter((word) => tokenize(word).some(({ term }) => !grammarWords.has(term)))
  const all = [...words.slice(0, words_max - subjects_max), ...subjects.slice(0, subjects_max)]
  return shorten(all.join(' '))
}

/** Returns the words and numbers of a text without private values, in their order. */
function plainWords(text: string, known: readonly string[]): string[] {
  return blankPrivate(text.slice(0, read_chars_max), known)
    .replace(/\[\^?[\d,; –-]{1,12}\]/g, ' ')
    .split(/[\s()[\]{}"“”„«»*_`|<>=:;!?/\\~#&+@]+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}€$£]+|[^\p{L}\p{N}€$£%]+$/gu, ''))
    .filter((word) => plainNumber.test(word) || (plainWord.test(word) && !changesCase.test(word)))
}

/** Replaces each private value by spaces; values may overlap. */
function blankPrivate(text: string, known: readonly string[]): string {
  const read = readCodes(text).filter(({ kind }) => privateKinds.has(kind))
  const long = [...text.matchAll(longNumber)].map(({ index, 0: { length } }) => ({
    at: [index, index + length] as const,
  }))
  const chars = text.split('')
  for (const { at } of [...read, ...long]) chars.fill(' ', at[0], at[1])
  for (const value of known.filter((one) => one !== '')) {
    for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length)) {
      chars.fill(' ', at, at + value.length)
    }
  }
  return chars.join('')
}

/** Cuts a query after a word. */
function shorten(query: string): string {
  if (query.length <= query_chars_max) return query
  const cut = query.slice(0, query_chars_max + 1)
  return cut.slice(0, Math.max(cut.lastIndexOf(' '), 1))
}
