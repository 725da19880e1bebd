import { type FactValue, isCompatible, valueAt } from './fact-value.ts'
import type { LedgerEntry } from './ledger.ts'
import { mentions, placeOf, sentencesOf } from './prose.ts'
import { factKey } from './read-facts.ts'

/** A value that an answer or a call gives for something that was said with another value. */
export type Contradiction = { fact: LedgerEntry; claimed: FactValue; sentence: string }

/** The two parts of a stored fact's value. */
export function factValueOf({ value }: LedgerEntry): { kind: string; normal: string } {
  const at = value.indexOf(':')
  return { kind: value.slice(0, at), normal: value.slice(at + 1) }
}

/** Values in an answer's own voice that are not those said before. */
export function contradictionsIn(voice: string, facts: readonly LedgerEntry[]): Contradiction[] {
  const found: Contradiction[] = []
  for (const sentence of sentencesOf(voice)) {
    if (sentence.endsWith('?')) continue
    for (const fact of facts) {
      const claimed = claimOf(sentence, fact)
      if (claimed === undefined || !isAgainst(fact, claimed, sentence)) continue
      // Only what comes before a value can make it another one.
      if (!hedged.test(sentence.slice(0, sentence.indexOf(claimed.text)))) {
        found.push({ fact, claimed, sentence })
      }
    }
  }
  return found
}

/** Words in front of a value that may make it another one than the one that was said. */
const hedged =
  /\b(?:if|would|could|should|might|may|can|example|e\.g|instead|old|previous(?:ly)?|former|not|n't|chang(?:e|ed|ing)|updat(?:e|ed|ing)|another|other|new|or|max(?:imum)?|min(?:imum)?|up to|from|between|rather|originally|was|were|next|second|first|third|also|both|either|alternative(?:ly)?|per|each|every|plus|minus|more|fewer|less|than|approximately|about|around|nearest|similar|different)\b/i

/** What a sentence says of a fact's key, as the value that follows it at once. */
function claimOf(sentence: string, fact: LedgerEntry): FactValue | undefined {
  const key = fact.slot.slice('fact:'.length)
  if (key === 'people') return counted(sentence)
  if (key === 'name') return addressed(sentence)
  const at = placeOf(sentence, key)
  // "A budget of 700" is anybody's.
  if (at === -1 || indefinite.test(sentence.slice(0, at))) return undefined
  const rest = sentence.slice(at + key.length)
  const between =
    /^(?: (?:number|no\.?|id|code|address|date|#))?(?:,? (?:is|are|of|as|at|on|for|to|in|set|remains|stays|=|ist|sind|beträgt|lautet|von|am)){0,3}:? ?#?/i.exec(
      rest,
    )
  return valueAt(rest.slice(between?.[0].length ?? 0))
}

const indefinite = /(?:^|\s)(?:an?|any|some|one|no|eine?n?|kein|keine)\s+$/i

function counted(sentence: string): FactValue | undefined {
  const match =
    /\b(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (?:people|persons|guests|adults|attendees|passengers|participants)\b/i.exec(
      sentence,
    )
  return match === null ? undefined : valueAt(match[0])
}

/** The name by which an answer calls the user, at its very beginning. */
function addressed(sentence: string): FactValue | undefined {
  const match =
    /^(?:hi|hello|hey|dear|thanks|thank you|welcome(?: back)?|good (?:morning|afternoon|evening)|your name is),? (?=\p{Lu})/iu.exec(
      sentence,
    )
  if (match === null) return undefined
  const value = valueAt(sentence.slice(match[0].length))
  const isName =
    value?.kind === 'name' && /^[,!.]|^$/.test(sentence.slice(match[0].length + value.text.length))
  return isName && !notNames.has(value.normal) ? value : undefined
}

const notNames = new Set('there again all everyone team sir madam friend back'.split(' '))

function isAgainst(fact: LedgerEntry, claimed: FactValue, sentence: string): boolean {
  const said = factValueOf(fact)
  if (said.kind !== claimed.kind || isCompatible(said.kind, said.normal, claimed.normal))
    return false
  return !mentions(sentence, said.normal)
}

/** Arguments of a tool call that give a fact another value. Only the top of an object is read. */
export function contradictionsInArguments(
  written: string,
  facts: readonly LedgerEntry[],
): Contradiction[] {
  const found: Contradiction[] = []
  for (const [name, value] of Object.entries(objectIn(written)).slice(0, arguments_max)) {
    if (typeof value !== 'string' && typeof value !== 'number') continue
    const key = factKey(name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' '))
    const fact = facts.find(({ slot }) => slot === `fact:${key}`)
    const text = String(value).slice(0, argument_chars_max)
    const claimed = fact && valueAt(text)
    if (fact === undefined || claimed === undefined || claimed.text !== text) continue
    if (isAgainst(fact, claimed, '')) found.push({ fact, claimed, sentence: `${name}: ${text}` })
  }
  return found
}

const arguments_max = 50
const argument_chars_max = 100

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
