import { proseOf, sentencesOf } from '../../../provenance/text/index.ts'
import { quote_chars_max, type Statement } from '../../contract.ts'
import type { Message } from '../../reconstruction/index.ts'
import { remember } from '../remember.ts'
import { readLikely } from './classifier/read-likely.ts'
import { readWhen } from './conditions.ts'
import { readPersona } from './persona.ts'
import { readForms } from './reading/read-forms.ts'
import { readLanguages } from './reading/read-languages.ts'
import { readLengths } from './reading/read-lengths.ts'
import { readNames, readTools, readUnquoted } from './reading/read-names.ts'
import { readTopicLimits } from './reading/read-topics.ts'
import { readWords } from './reading/read-words.ts'
import { isPermission, type Release, readRelease } from './releases.ts'
import { readSentences, type Segment, type Sentence } from './sentence/segments.ts'
import { readFacts } from './values.ts'

/** Checkable statements of a system or user message. */
type MessageStatements = {
  statements: readonly Statement[]
  /** The rules that the message lifts: "you can use emojis again". */
  releases: readonly Release[]
  /** Statements that change an earlier rule for good, if there is one: "make it four instead". */
  changes: ReadonlySet<string>
}

/**
 * Reads the statements of a system or user message, once per message; other roles state nothing.
 */
export const readStatements: (message: Message) => MessageStatements = remember(readMessage)

const noStatements: MessageStatements = { statements: [], releases: [], changes: new Set() }
const statements_max = 60
/** Longer user messages are documents, whose sentences are not instructions. */
const maxUserMessageChars = 6_000
/** Longer texts are policies, whose numbers apply to single cases. */
const facts_chars_max = { system: 1_500, user: 4_000 }

const readers = [
  readLanguages,
  readForms,
  readLengths,
  readWords,
  readNames,
  readUnquoted,
  readTools,
  readTopicLimits,
] as const

function readMessage({ role, text, is_harness = false }: Message): MessageStatements {
  if ((role !== 'system' && role !== 'user') || is_harness) return noStatements
  if (role === 'user' && (text.length > maxUserMessageChars || isToolOutput(text)))
    return noStatements
  const reading: Reading = { rules: new Map(), releases: [], changes: new Set() }
  for (const sentence of readSentences(text, role)) {
    addSentence(reading, sentence)
    if (reading.rules.size >= statements_max) break
  }
  const { rules, releases, changes } = reading
  const kept = [...rules.values()].filter((rule) => !isOfAPart(rule, text))
  const statements = [...readWhole({ role, text }), ...kept]
  return { statements: statements.slice(0, statements_max).map(cutQuote), releases, changes }
}

/** Tells whether a length is that of a part: "Sum this up in two sentences. Then write a poem." */
function isOfAPart({ kind, holds }: Statement, text: string): boolean {
  return kind === 'length' && holds === 'turn' && nextPart.test(text)
}

const nextPart =
  /(?:[.;,!]\s+|\band )(?:then|next|after that|afterwards|finally),? (?:please )?(?:write|give|add|list|explain|make|translate|compose|tell|suggest|summari[sz]e|draft|create|show|describe|provide|name)\b/i

type Reading = { rules: Map<string, Statement>; releases: Release[]; changes: Set<string> }

function addSentence(reading: Reading, sentence: Sentence): void {
  const { rules } = reading
  const { segments, isExtension } = sentence
  if (isExtension) extendRules(rules)
  const known = rules.size
  for (const segment of segments) addSegment(reading, segment)
  for (const rule of readUnknown(sentence)) addRule(rules, rule)
  if (rules.size === known && segments.some(({ isOnce }) => isOnce)) limitRules(rules)
}

/**
 * Reads the rule of a sentence in an unknown wording: none if the sentence gives a rule that is known, or lifts or extends
 * one. Where only the words that ask the assistant are missing, others are meant ("posts of users must not contain
 * links"), unless the sentence speaks to the assistant.
 */
const readUnknown = remember((sentence: Sentence): readonly Statement[] => {
  const { segments, isExtension } = sentence
  if (isExtension || segments.some(isKnown)) return []
  const likely = readLikely(sentence)
  if (likely.length === 0 || speaksToAssistant.test(sentence.written)) return likely
  return segments.some(asksOthers) ? [] : likely
})

const speaksToAssistant =
  /(?<!\p{L})(?:you|yours?|du|dir|dich|dein\p{L}*|tú|ti|tus?|vous|vos|votre|toi|(?:give|tell|send|write|show|answer)s? me)(?!\p{L})|你|您/iu

function isKnown(segment: Segment): boolean {
  const { read, release } = readSegment(segment)
  return read.length > 0 || release !== undefined || isPermission(segment.text)
}

function asksOthers(segment: Segment): boolean {
  const asked = { ...segment, isAskedAt: () => true }
  return readers.some((reader) => reader(asked).length > 0)
}

function addSegment({ rules, releases, changes }: Reading, segment: Segment): void {
  const { read, release } = readSegment(segment)
  if (release !== undefined) releases.push(release)
  for (const rule of read) {
    addRule(rules, rule)
    if (segment.isChange) changes.add(slotAndValue(rule))
  }
}

/** Names a statement in `changes`. */
export function slotAndValue({ slot, value }: Statement): string {
  return `${slot} ${value}`
}

function addRule(rules: Map<string, Statement>, rule: Statement): void {
  const key = rule.kind === 'length' ? rule.slot : slotAndValue(rule)
  const known = rules.get(key)
  if (known === undefined || outranks(rule, known)) rules.set(key, rule)
}

/** A rule in a known wording is before one that is only likely, and a lasting one before one for an answer. */
function outranks(rule: Statement, known: Statement): boolean {
  if (rule.is_likely !== known.is_likely) return known.is_likely === true
  return known.holds === 'turn' && rule.holds === 'always'
}

/** Reads facts, and the assistant's identity, from whole sentences. */
function readWhole({ role, text }: Pick<Message, 'role' | 'text'>): Statement[] {
  const sentences = sentencesOf(proseOf(text))
  const personas = role === 'system' ? sentences.flatMap(readPersona) : []
  const hasFacts = text.length <= facts_chars_max[role === 'system' ? 'system' : 'user']
  return [...personas, ...(hasFacts ? sentences.flatMap(readFacts) : [])]
}

/** "…, no question marks. Single reply, then you're free." */
function limitRules(rules: Map<string, Statement>): void {
  const [last] = [...rules].slice(-1)
  if (last !== undefined && last[1].until === undefined)
    rules.set(last[0], { ...last[1], holds: 'turn' })
}

function extendRules(rules: Map<string, Statement>): void {
  for (const [key, rule] of rules) rules.set(key, { ...rule, holds: 'always' })
}

/** Recognises tool output: agents without tool calls in their format send it as a user message. */
function isToolOutput(text: string): boolean {
  return /^\s*(?:[<{]|\[(?!\p{L}+\] \p{L})|observation\b|output\b|result\b|tool\b|stdout|stderr|\$ |traceback|error:)/iu.test(
    text.slice(0, 40),
  )
}

type SegmentReading = { read: Statement[]; release?: Release | undefined }

/** Reads a segment, once. */
const readSegment = remember((segment: Segment): SegmentReading => {
  const { role } = segment
  if (role === 'user' && isPermission(segment.text)) {
    return { read: [], release: readRelease(segment) }
  }
  const read = readRules(segment, role)
  if (role === 'system' || read.length > 0) return { read }
  return { read, release: readRelease(segment) }
})

function readRules(segment: Segment, role: 'system' | 'user'): Statement[] {
  const { condition, phrases, until } = segment
  const when = condition === undefined ? undefined : readWhen(condition, phrases)
  if (condition !== undefined && when === undefined) return []
  const read = readers.flatMap((reader) => reader(segment))
  return read.map((rule) => ({
    ...rule,
    ...(role === 'system' && { holds: 'always' as const }),
    ...(until !== undefined && { until }),
    ...(when !== undefined && { when, holds: 'always' as const }),
  }))
}

function cutQuote(statement: Statement): Statement {
  return { ...statement, quote: statement.quote.slice(0, quote_chars_max) }
}
