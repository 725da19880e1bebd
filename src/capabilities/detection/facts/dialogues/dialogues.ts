import {
  type ContextMemory,
  type MemoryEntry,
  maxMemoryEntries,
  type Statement,
} from '../../contract.ts'
import type {
  Message,
  ModelCall,
  Place,
  Step,
  TaskRun,
  Thread,
} from '../../reconstruction/index.ts'
import { placeOf } from '../finding-parts.ts'
import { remember } from '../remember.ts'
import { readStatements, slotAndValue } from '../statements/read-statements.ts'
import { lifts, type Release } from '../statements/releases.ts'
import { reportsEvent } from '../statements/sentence/scope.ts'
import { conflicts } from '../statements/supersede.ts'

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
 * Returns the dependencies, for `rememberFor`, of a fact that is read from the messages before a step and
 * the tools until then: these messages, and the number of known results.
 */
export function contextOf(
  run: TaskRun,
  { messages }: Dialogue,
  { step, at }: Pick<Answer, 'step' | 'at'>,
): readonly unknown[] {
  return [messages[0], messages[at - 1], at, step.tools.length, resultsUntil(run)[step.index]]
}

/** Known results of tools until each step. */
const resultsUntil = remember(({ steps, tools }: TaskRun) => {
  const known = new Map<number | null, number>()
  for (const { step, result } of tools) {
    if (result !== null) known.set(step, (known.get(step) ?? 0) + 1)
  }
  let results = 0
  return steps.map(({ index }) => {
    results += known.get(index) ?? 0
    return results
  })
})

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
  const { statements, releases, changes } = readStatements(message)
  const kept =
    isUser && before.some((entry) => entry.holds === 'turn' || isLifted(entry, releases, message))
      ? before.filter((entry) => entry.holds === 'always' && !isLifted(entry, releases, message))
      : before
  if (statements.length === 0 || (message.role !== 'system' && !isUser)) return kept
  const said = statements.map((statement) =>
    changes.has(slotAndValue(statement)) && kept.some((entry) => conflicts(entry, statement))
      ? { ...statement, holds: 'always' as const }
      : statement,
  )
  return replaceStatements(kept, said, { ...origin, role: isUser ? 'user' : 'system' })
}

function replaceStatements(
  before: readonly MemoryEntry[],
  statements: readonly Statement[],
  said: Origin & { role: 'system' | 'user' },
): readonly MemoryEntry[] {
  const kept = before.filter((entry) => !isReplaced(entry, statements, said.role))
  const entries = new Map(kept.map((entry) => [keyOf(entry), entry]))
  for (const statement of statements) {
    const key = keyOf(statement)
    const known = entries.get(key)
    // A repeated statement keeps its first origin, unless only a classifier had read it.
    const isSurer = known?.is_likely === true && !statement.is_likely
    if (known?.value === statement.value && !isSurer) continue
    entries.delete(key)
    entries.set(key, { ...statement, ...said })
  }
  return [...entries.values()].slice(-maxMemoryEntries)
}

function keyOf({ slot, holds }: Statement): string {
  return `${slot} ${holds}`
}

/** Tells whether a later statement of the user replaces an entry. */
function isReplaced(
  entry: MemoryEntry,
  statements: readonly Statement[],
  role: 'system' | 'user',
): boolean {
  if (entry.holds === 'turn' || role === 'system') return false
  return statements.some((statement) => statement.holds === 'always' && conflicts(entry, statement))
}

/**
 * Returns the entries for the next answer: a statement for one answer overrides the lasting ones
 * that it conflicts with.
 */
export function selectEffective(entries: readonly MemoryEntry[]): readonly MemoryEntry[] {
  const now = entries.filter(({ holds }) => holds === 'turn')
  if (now.length === 0) return entries
  return entries.filter(
    (entry) => entry.holds === 'turn' || !now.some((statement) => conflicts(entry, statement)),
  )
}

function isLifted(entry: MemoryEntry, releases: readonly Release[], { text }: Message): boolean {
  return (
    (entry.until !== undefined && reportsEvent(entry.until, text)) ||
    releases.some((release) => !release.isOnce && lifts(release, entry))
  )
}
