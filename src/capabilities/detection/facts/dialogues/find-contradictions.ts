import { findPhrase, mentions, sentencesOf } from '../../../provenance/text/index.ts'
import type { MemoryEntry } from '../../contract.ts'
import {
  type FactValue,
  factKey,
  factValueOf,
  isCompatible,
  readValue,
} from '../statements/values.ts'

/** A value in an answer or a call that contradicts a stated one. */
export type Contradiction = { fact: MemoryEntry; claimed: FactValue; sentence: string }

/** Returns the values in an answer's own voice that contradict known facts. */
export function findContradictions(voice: string, facts: readonly MemoryEntry[]): Contradiction[] {
  const found: Contradiction[] = []
  for (const sentence of sentencesOf(voice)) {
    if (sentence.endsWith('?')) continue
    for (const fact of facts) {
      const claimed = findClaim(sentence, fact)
      if (claimed === undefined || !contradicts(fact, claimed, sentence)) continue
      // Only words before a value can change its meaning.
      if (!hedges.test(sentence.slice(0, sentence.indexOf(claimed.text)))) {
        found.push({ fact, claimed, sentence })
      }
    }
  }
  return found
}

/** Words before a value that can make it a different one. */
const hedges =
  /\b(?:if|would|could|should|might|may|can|example|e\.g|instead|old|previous(?:ly)?|former|not|n't|chang(?:e|ed|ing)|updat(?:e|ed|ing)|another|other|new|or|max(?:imum)?|min(?:imum)?|up to|from|between|rather|originally|was|were|next|second|first|third|also|both|either|alternative(?:ly)?|per|each|every|plus|minus|more|fewer|less|than|approximately|about|around|nearest|similar|different)\b/i

/** Returns the value directly after a fact's key in a sentence. */
function findClaim(sentence: string, fact: MemoryEntry): FactValue | undefined {
  const key = fact.slot.slice('fact:'.length)
  if (key === 'people') return readCount(sentence)
  if (key === 'name') return readAddressedName(sentence)
  const at = findPhrase(sentence, key)
  // "A budget of 700" is not the user's budget.
  if (at === -1 || indefinite.test(sentence.slice(0, at))) return undefined
  const rest = sentence.slice(at + key.length)
  const between =
    /^(?: (?:number|no\.?|id|code|address|date|#))?(?:,? (?:is|are|of|as|at|on|for|to|in|set|remains|stays|=|ist|sind|beträgt|lautet|von|am)){0,3}:? ?#?/i.exec(
      rest,
    )
  return readValue(rest.slice(between?.[0].length ?? 0))
}

const indefinite = /(?:^|\s)(?:an?|any|some|one|no|eine?n?|kein|keine)\s+$/i

function readCount(sentence: string): FactValue | undefined {
  const match =
    /\b(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (?:people|persons|guests|adults|attendees|passengers|participants)\b/i.exec(
      sentence,
    )
  return match === null ? undefined : readValue(match[0])
}

/** Returns the name by which an answer addresses the user at its very beginning. */
function readAddressedName(sentence: string): FactValue | undefined {
  const match =
    /^(?:hi|hello|hey|dear|thanks|thank you|welcome(?: back)?|good (?:morning|afternoon|evening)|your name is),? (?=\p{Lu})/iu.exec(
      sentence,
    )
  if (match === null) return undefined
  const value = readValue(sentence.slice(match[0].length))
  const isName =
    value?.kind === 'name' && /^[,!.]|^$/.test(sentence.slice(match[0].length + value.text.length))
  return isName && !notNames.has(value.normal) ? value : undefined
}

const notNames = new Set('there again all everyone team sir madam friend back'.split(' '))

function contradicts(fact: MemoryEntry, claimed: FactValue, sentence: string): boolean {
  const said = factValueOf(fact)
  if (said.kind !== claimed.kind || isCompatible(said.kind, said.normal, claimed.normal))
    return false
  return !mentions(sentence, said.normal)
}

/**
 * Returns the arguments of a tool call that contradict facts; reads only the top level of the
 * object.
 */
export function findArgumentContradictions(
  written: string,
  facts: readonly MemoryEntry[],
): Contradiction[] {
  const found: Contradiction[] = []
  for (const [name, value] of Object.entries(parseObject(written)).slice(0, arguments_max)) {
    if (typeof value !== 'string' && typeof value !== 'number') continue
    const key = factKey(name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' '))
    const fact = facts.find(({ slot }) => slot === `fact:${key}`)
    const text = String(value).slice(0, argument_chars_max)
    const claimed = fact && readValue(text)
    if (fact === undefined || claimed === undefined || claimed.text !== text) continue
    if (contradicts(fact, claimed, '')) found.push({ fact, claimed, sentence: `${name}: ${text}` })
  }
  return found
}

const arguments_max = 50

const argument_chars_max = 100

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
