import {
  type ContextMemory,
  type MemoryEntry,
  maxMemoryEntries,
  type Statement,
} from '../contract.ts'
import type { Message, ModelCall, Place, Step, TaskRun, Thread } from '../reconstruction/index.ts'
import { placeOf } from './finding-parts.ts'
import { mentions, wordsOf } from './prose.ts'
import { findLanguageCode } from './statements/language.ts'
import { readStatements } from './statements/read-statements.ts'

/** An answer of the model, with the statements valid at that time. */
export type Answer = {
  message: Message
  step: Step
  call: ModelCall
  /** Valid statements, newest last. */
  active: readonly MemoryEntry[]
  /** The user's message that it answers; undefined if none was observed. */
  question: Message | undefined
  /** Index in `Dialogue.messages`. */
  at: number
}

/** The messages of a thread in order, including those that a branch inherited. */
export type Dialogue = { thread: Thread; messages: readonly Message[]; answers: readonly Answer[] }

/** All dialogues of a run, and the statements valid at the end of its root threads. */
export type Dialogues = { dialogues: readonly Dialogue[]; memory: ContextMemory }

/** Reads a run's dialogues, once per run and earlier memory. */
export function readDialogues(run: TaskRun, prior?: ContextMemory): Dialogues {
  const known = dialoguesByRun.get(run)
  if (known !== undefined && known.prior === prior) return known.value
  const value = buildDialogues(run, prior)
  dialoguesByRun.set(run, { prior, value })
  return value
}

const dialoguesByRun = new WeakMap<
  TaskRun,
  { prior: ContextMemory | undefined; value: Dialogues }
>()

/**
 * Returns the statements of system and user that are still valid after a task, including those of
 * earlier tasks.
 */
export function readContextMemory(run: TaskRun, prior?: ContextMemory): ContextMemory {
  return readDialogues(run, prior).memory
}

function buildDialogues(run: TaskRun, prior: ContextMemory | undefined): Dialogues {
  const own = groupByThread(run)
  const withdrawn = findWithdrawn(run)
  const messages = new Map<number, readonly Message[]>()
  const dialogues: Dialogue[] = []
  // The user's statements in earlier tasks stay known in the conversation; system rules end with
  // their task.
  const earlier = mergeEntries(
    [],
    (prior?.entries ?? []).filter(({ role }) => role === 'user'),
  )
  let entries: readonly MemoryEntry[] = earlier
  for (const thread of run.threads) {
    const before = inheritMessages(run, thread, { own, messages })
    const all = [...before, ...(own.get(thread.index) ?? [])]
    messages.set(thread.index, all)
    const started = thread.kind === 'sub_agent' ? [] : earlier
    const read = readAnswers(run, all, { withdrawn, entries: started })
    dialogues.push({ thread, messages: all, answers: read.answers })
    if (thread.kind !== 'sub_agent') entries = mergeEntries(entries, read.entries)
  }
  return { dialogues, memory: { version: 1, entries } }
}

function groupByThread(run: TaskRun): Map<number, Message[]> {
  const found = new Map<number, Message[]>()
  for (const message of run.messages) {
    const own = found.get(message.thread)
    if (own === undefined) found.set(message.thread, [message])
    else own.push(message)
  }
  return found
}

/** Returns the messages that a branch inherited from its parent, without those it replaced. */
function inheritMessages(
  run: TaskRun,
  { index, kind, parent }: Thread,
  { own, messages }: { own: Map<number, Message[]>; messages: Map<number, readonly Message[]> },
): readonly Message[] {
  const first = own.get(index)?.[0]
  if (kind !== 'branch' || parent === null || first === undefined) return []
  const lost = new Set(run.breaks.filter(({ thread }) => thread === index).flatMap((b) => b.lost))
  return (messages.get(parent) ?? []).filter(
    (said) => said.index < first.index && !lost.has(said.index),
  )
}

type Withdrawn = ReadonlyMap<number, readonly Message[]>

function readAnswers(
  run: TaskRun,
  messages: readonly Message[],
  { withdrawn, ...start }: { withdrawn: Withdrawn; entries: readonly MemoryEntry[] },
) {
  const answers: Answer[] = []
  let entries = start.entries
  let question: Message | undefined
  let call = -1
  for (const [at, message] of messages.entries()) {
    if (message.call !== call) {
      call = message.call
      entries = removeWithdrawn(run, entries, withdrawn.get(call))
    }
    if (message.role === 'user') question = message
    const source = run.calls[message.call]
    if (source === undefined) continue
    const step = message.step === null ? undefined : run.steps[message.step]
    if (step !== undefined) {
      answers.push({ message, step, call: source, active: entries, question, at })
    } else {
      entries = addStatements(entries, message, { task_id: run.task_id, place: placeOf(source) })
    }
  }
  return { answers, entries }
}

/**
 * Finds the calls at which the client withdrew messages: it edited a message or replaced the system
 * text. Messages that only dropped out of the history stay valid: losing them is lost context.
 */
function findWithdrawn(run: TaskRun): Withdrawn {
  const found = new Map<number, Message[]>()
  const system = run.messages.filter(({ role }) => role === 'system').map(({ call }) => call)
  const bringsSystem = new Set(system)
  for (const { kind, call, lost } of run.breaks) {
    const messages = lost.flatMap((index) => run.messages[index] ?? [])
    const replaced = kind === 'reset' || bringsSystem.has(call)
    const ofSystem = messages.filter(({ role }) => role === 'system' && replaced)
    const taken = kind === 'edited' ? messages : ofSystem
    if (taken.length > 0) found.set(call, [...(found.get(call) ?? []), ...taken])
  }
  return found
}

function removeWithdrawn(
  run: TaskRun,
  entries: readonly MemoryEntry[],
  taken: readonly Message[] | undefined,
): readonly MemoryEntry[] {
  if (taken === undefined || entries.length === 0) return entries
  const roles = new Set(taken.map(({ call, role }) => `${run.calls[call]?.observation_id} ${role}`))
  return entries.filter(({ place, role }) => !roles.has(`${place.observation_id} ${role}`))
}

function mergeEntries(
  one: readonly MemoryEntry[],
  other: readonly MemoryEntry[],
): readonly MemoryEntry[] {
  const entries = new Map(one.map((entry) => [entry.slot, entry]))
  for (const entry of other) if (entry.holds === 'always') entries.set(entry.slot, entry)
  return [...entries.values()]
}

/** Origin of the entries read from a message. */
type Origin = { task_id: string; place: Place }

/**
 * Returns the valid statements after a message: the earlier ones without those it lifts or
 * replaces, and its own. Returns the same array if the message states nothing checkable.
 */
function addStatements(
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
  return [...entries.values()].slice(-maxMemoryEntries)
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
