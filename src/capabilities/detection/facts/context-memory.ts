import { type MemoryEntry, memoryEntries_max, type Statement } from '../contract.ts'
import type { Message, Place } from '../reconstruction/index.ts'
import { mentions, wordsOf } from './prose.ts'
import { findLanguageCode } from './statements/language.ts'
import { readStatements } from './statements/read-statements.ts'

/** Origin of the entries read from a message. */
type Origin = { task_id: string; place: Place }

/**
 * Returns the valid statements after a message: the earlier ones without those it lifts or
 * replaces, and its own. Returns the same array if the message states nothing checkable.
 */
export function addStatements(
  before: readonly MemoryEntry[],
  message: Message,
  origin: Origin,
): readonly MemoryEntry[] {
  const isUser = message.role === 'user'
  const { statements, releases } = readStatements(message)
  const kept =
    isUser && before.some((entry) => entry.holds === 'turn' || isLifted(entry, releases))
      ? before.filter((entry) => entry.holds === 'always' && !isLifted(entry, releases))
      : before
  if (statements.length === 0 || (message.role !== 'system' && !isUser)) return kept
  return replaceStatements(kept, statements, { ...origin, role: isUser ? 'user' : 'system' })
}

function replaceStatements(
  before: readonly MemoryEntry[],
  statements: readonly Statement[],
  said: Origin & { role: 'system' | 'user' },
): readonly MemoryEntry[] {
  const replaced = new Set(statements.filter(({ holds }) => holds === 'always').map(getGroup))
  const kept = before.filter((entry) => !isReplaced(entry, statements, replaced, said.role))
  const entries = new Map(kept.map((entry) => [`${entry.slot} ${entry.holds}`, entry]))
  for (const statement of statements) {
    const key = `${statement.slot} ${statement.holds}`
    // A repeated statement keeps its first origin.
    if (entries.get(key)?.value === statement.value) continue
    entries.delete(key)
    entries.set(key, { ...statement, ...said })
  }
  return [...entries.values()].slice(-memoryEntries_max)
}

/** Tells whether a later statement of the user replaces an entry of the same group, in any unit. */
function isReplaced(
  entry: MemoryEntry,
  statements: readonly Statement[],
  groups: ReadonlySet<string>,
  role: 'system' | 'user',
): boolean {
  if (entry.holds === 'turn' || role === 'system' || !groups.has(getGroup(entry))) return false
  return !statements.some(({ slot, value }) => slot === entry.slot && value === entry.value)
}

/**
 * Returns the group of a statement. Statements of a group replace each other: two units of length,
 * two forms of an answer.
 */
function getGroup({ kind, slot }: Statement): string {
  if (kind === 'length') return 'length'
  return slot === 'bullets' ? 'shape' : slot
}

/**
 * Returns the entries for the next answer: a statement for one answer overrides the lasting ones of
 * its group.
 */
export function selectEffective(entries: readonly MemoryEntry[]): readonly MemoryEntry[] {
  const now = new Set(entries.filter(({ holds }) => holds === 'turn').map(getGroup))
  if (now.size === 0) return entries
  return entries.filter((entry) => entry.holds === 'turn' || !now.has(getGroup(entry)))
}

function isLifted(entry: MemoryEntry, releases: readonly string[]): boolean {
  return releases.some((sentence) => isAbout(entry, sentence))
}

/** Tells whether a text is about the topic of a statement, so that it may ask for an exception. */
export function isAbout({ kind, slot, value }: Statement, text: string): boolean {
  if (kind === 'language') {
    return wordsOf(text).some(
      (word) =>
        findLanguageCode(word) !== undefined || /^(?:language|translat|übersetz|tradu)/.test(word),
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
