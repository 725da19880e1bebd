import type { Message, Place } from '../reconstruction/contract.ts'
import { languageNamed } from './identify-language.ts'
import { type LedgerEntry, ledgerEntries_max, type Statement } from './ledger.ts'
import { mentions, wordsOf } from './prose.ts'
import { saidIn } from './said.ts'

/** Where a message came from, for the entries that it makes. */
export type Origin = { task_id: string; place: Place }

/**
 * What holds after a message: the statements before without those that it lifts or replaces, and its
 * own. The same array comes back when the message says nothing that can be checked.
 */
export function entriesAfter(
  before: readonly LedgerEntry[],
  message: Message,
  origin: Origin,
): readonly LedgerEntry[] {
  const isUser = message.role === 'user'
  const { statements, releases } = saidIn(message)
  const kept =
    isUser && before.some((entry) => entry.holds === 'turn' || isLifted(entry, releases))
      ? before.filter((entry) => entry.holds === 'always' && !isLifted(entry, releases))
      : before
  if (statements.length === 0 || (message.role !== 'system' && !isUser)) return kept
  return withStatements(kept, statements, { ...origin, role: isUser ? 'user' : 'system' })
}

function withStatements(
  before: readonly LedgerEntry[],
  statements: readonly Statement[],
  said: Origin & { role: 'system' | 'user' },
): readonly LedgerEntry[] {
  const replaced = new Set(statements.filter(({ holds }) => holds === 'always').map(groupOf))
  const kept = before.filter((entry) => !isReplaced(entry, statements, replaced, said.role))
  const entries = new Map(kept.map((entry) => [`${entry.slot} ${entry.holds}`, entry]))
  for (const statement of statements) {
    const key = `${statement.slot} ${statement.holds}`
    // Said again: it holds on from where it was first said.
    if (entries.get(key)?.value === statement.value) continue
    entries.delete(key)
    entries.set(key, { ...statement, ...said })
  }
  return [...entries.values()].slice(-ledgerEntries_max)
}

/** A user's later word on the same thing replaces all that was said of it, in whatever unit. */
function isReplaced(
  entry: LedgerEntry,
  statements: readonly Statement[],
  groups: ReadonlySet<string>,
  role: 'system' | 'user',
): boolean {
  if (entry.holds === 'turn' || role === 'system' || !groups.has(groupOf(entry))) return false
  return !statements.some(({ slot, value }) => slot === entry.slot && value === entry.value)
}

/** Statements of one group are about the same thing: two units of length, two forms of an answer. */
function groupOf({ kind, slot }: Statement): string {
  if (kind === 'length') return 'length'
  return slot === 'bullets' ? 'shape' : slot
}

/**
 * The entries that count for the answer to come: what was said for one answer stands in front of
 * what always holds.
 */
export function effectiveEntries(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const now = new Set(entries.filter(({ holds }) => holds === 'turn').map(groupOf))
  if (now.size === 0) return entries
  return entries.filter((entry) => entry.holds === 'turn' || !now.has(groupOf(entry)))
}

function isLifted(entry: LedgerEntry, releases: readonly string[]): boolean {
  return releases.some((sentence) => isAbout(entry, sentence))
}

/** Whether a text speaks of what a statement is about, so that it may ask for something else. */
export function isAbout({ kind, slot, value }: Statement, text: string): boolean {
  if (kind === 'language') {
    return wordsOf(text).some(
      (word) =>
        languageNamed(word) !== undefined || /^(?:language|translat|übersetz|tradu)/.test(word),
    )
  }
  if (kind === 'forbidden') return mentions(text, value) && aboutWords.test(text)
  if (kind === 'required')
    return mentions(text, value) || /\b(?:phrase|sign|signature|prefix)/i.test(text)
  if (kind === 'tool') return mentions(text, value)
  if (kind === 'fact') return mentions(text, slot.slice('fact:'.length))
  const topic = kind === 'length' || kind === 'persona' ? kind : slot
  return (Object.hasOwn(topics, topic) && topics[topic]?.test(text)) || false
}

const aboutWords =
  /["“'‘`«]|\b(?:words?|terms?|phrases?|means?|meaning|define|definition|spell|say|use|called|mention|synonyms?|quote|why|banned|forbidden|allowed)\b/i

const topics: Record<string, RegExp> = {
  length:
    /\b(?:in (?:more )?detail|detailed|more details|long(?:er)?|elaborate|expand|in full|length|limit|essay|thorough(?:ly)?|in[- ]depth|comprehensive|explain more|tell me more|step[- ]by[- ]step|list (?:all|every)|everything)\b/i,
  shape:
    /\b(?:json|markdown|bold|plain text|format(?:ted|ting)?|table|prose|yaml|xml|csv|yes or no)\b/i,
  bullets:
    /\b(?:bullets?|bullet points|lists?|steps|format(?:ted|ting)?|table|prose|json|paragraphs?)\b/i,
  emoji: /\bemojis?\b|\p{Emoji_Presentation}/iu,
  exclamation: /\bexclamation\b/i,
  case: /\b(?:upper|lower|caps?|capitals?|case)\b/i,
  dates: /\b(?:date|format|iso|american|us style|british)\b/i,
  units: /\b(?:imperial|miles?|feet|foot|inch(?:es)?|pounds?|fahrenheit|units?|yards?|ounces?)\b/i,
  persona: /\b(?:role|persona|character|pretend|real name|really)\b/i,
}
