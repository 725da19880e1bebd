import { valueAt } from './fact-value.ts'
import type { Statement } from './ledger.ts'

/** A fact told: what it is about, in the words that questions and answers name it by. */
export type Fact = { key: string; kind: string; value: string }

/** Reads named values of a sentence: "my order number is 4711", "the deadline is March 3". */
export function readFacts(sentence: string): Statement[] {
  if (hypothetical.test(sentence) || sentence.trim().endsWith('?')) return []
  const found = new Map<string, Statement>()
  for (const pattern of patterns) {
    for (const match of sentence.matchAll(pattern)) {
      const statement = statementOf(sentence, match)
      if (statement !== undefined && !found.has(statement.slot)) {
        found.set(statement.slot, statement)
      }
    }
  }
  for (const { pattern, key } of selfPatterns) {
    const rest = pattern.exec(sentence)
    if (rest === null) continue
    const value = valueAt(sentence.slice(rest.index + rest[0].length))
    if (value !== undefined) add(found, { sentence, key, kind: value.kind, value: value.normal })
  }
  return [...found.values()].slice(0, facts_max)
}

const facts_max = 8

const hypothetical =
  /\b(?:if|suppose|imagine|assume|assuming|what about|for example|e\.g|example|might|maybe|perhaps|not sure|i think|would|could|was|were|used to|(?:my|the|an|our) old|previous|former|or|each|per|every)\b/i

const patterns: readonly RegExp[] = [
  /\b(?:my|our|the|meine?|unsere?)(?: (?:correct|right|new|full|current|actual|exact|total|maximum|customer's|user's))? (?<key>\p{L}{2,20}(?: \p{L}{2,20}){0,2}?)(?: (?:number|no\.|id|code|#))?(?: (?:is|are|will be|has to be|must be|should be|=|ist|sind|beträgt|lautet)|:|, which is,?) (?:now |actually |on |at |called |named |due on |due |in |for |exactly |still )?(?<value>\S.{0,80})/giu,
  /\b(?<key>order|booking|ticket|invoice|account|reservation|case|flight|customer|tracking|policy|member|membership)(?: (?:number|no\.?|id|code|#))? ?#?(?<value>[a-z]{0,4}-?\d{3,20}\b.{0,10})/giu,
]

const selfPatterns: readonly { pattern: RegExp; key: string }[] = [
  {
    pattern:
      /\b(?:my name is|my name's|call me|i am called|i'm called|ich heiße|mein name ist)\s+/i,
    key: 'name',
  },
  {
    pattern:
      /^(?:hi|hello|hey)?[,!. ]{0,3}(?:i am|i'm|this is) (?=\p{Lu}\p{Ll}+(?:[.,!]| from | and |$))/iu,
    key: 'name',
  },
  { pattern: /\bi(?: am|'m) (?=\d{1,3} years old\b)/i, key: 'age' },
  { pattern: /\b(?:i live in|(?:ich )?wohne in)\s+/i, key: 'city' },
  { pattern: /\bi(?:'m| am) (?:based|located) in\s+/i, key: 'city' },
  {
    pattern:
      /\b(?:for|we are|we're|there are|there will be|party of|group of)\s+(?=(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+(?:people|persons|guests|adults|of us|attendees|passengers|participants)\b)/i,
    key: 'people',
  },
]

function statementOf(sentence: string, match: RegExpMatchArray): Statement | undefined {
  const key = factKey(match.groups?.['key'] ?? '')
  const value = valueAt(match.groups?.['value'] ?? '')
  if (key === undefined || value === undefined) return undefined
  // A capitalised word is a value only where the key says that names go there.
  if (value.kind === 'name' && !takesNames.test(key)) return undefined
  return {
    kind: 'fact',
    slot: `fact:${key}`,
    value: `${value.kind}:${value.normal}`,
    holds: 'always',
    quote: sentence,
  }
}

function add(found: Map<string, Statement>, fact: Fact & { sentence: string }): void {
  const slot = `fact:${fact.key}`
  if (found.has(slot)) return
  found.set(slot, {
    kind: 'fact',
    slot,
    value: `${fact.kind}:${fact.value}`,
    holds: 'always',
    quote: fact.sentence,
  })
}

const takesNames =
  /^(?:name|city|town|country|destination|origin|home|company|project|team|manager|boss|dog|cat|wife|husband|daughter|son|doctor|employer|street|language|capital|departure|hotel|airline|state|tier|plan|color|colour|brand|model|event|product|client|customer|venue|airport|hometown)/

/** Words of a key that do not tell what it is about. */
const fillers = new Set(
  'number no id code is are own current full name address of to the'.split(' '),
)
const notKeys = new Set(
  'problem question answer issue thing point reason goal idea result output input error file code function task first second last next only other same best way one following value key rule limit answer total'.split(
    ' ',
  ),
)

/** What changes by itself is no fact to hold on to. */
const passing = new Set(
  'time date day today status state version step count total size length price cost'.split(' '),
)

/** The words that a fact goes by: "order number" and "order id" are both `order`. */
export function factKey(words: string): string | undefined {
  const all = words
    .toLowerCase()
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '')
  const telling = all.filter((word) => !fillers.has(word))
  const kept =
    telling.length > 0 ? telling : all.filter((word) => word === 'name' || word === 'address')
  const last = kept.at(-1)
  if (kept.length === 1 && passing.has(kept[0] ?? '')) return undefined
  if (last === undefined || notKeys.has(last) || last.length < 3 || kept.length > 3)
    return undefined
  return kept.join(' ').replace(/^e-mail|^mail$/, 'email')
}
