import type { ContextMemory, MemoryEntry } from '../contract.ts'
import type { Message, ModelCall, Step, TaskRun, Thread } from '../reconstruction/index.ts'
import { addStatements } from './context-memory.ts'
import { placeOf } from './finding-parts.ts'

/** One answer of the model with what held when it was given. */
export type Answer = {
  message: Message
  step: Step
  call: ModelCall
  /** What was said before and held; the newest last. */
  active: readonly MemoryEntry[]
  /** The user's message that it answers; undefined when none was seen. */
  asked: Message | undefined
  /** Its place in `Dialogue.heard`. */
  at: number
}

/** What was said in one thread, in order, with what a branch took over from its parent. */
export type Dialogue = { thread: Thread; heard: readonly Message[]; answers: readonly Answer[] }

/** All dialogues of a run, and what holds at the end of its root threads. */
export type Dialogues = { dialogues: readonly Dialogue[]; ledger: ContextMemory }

/** Reads a run's dialogues; the same run with the same earlier ledger is read once. */
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

/** What a task's system and user said that still holds, on top of what earlier tasks said. */
export function readContextMemory(run: TaskRun, prior?: ContextMemory): ContextMemory {
  return readDialogues(run, prior).ledger
}

function buildDialogues(run: TaskRun, prior: ContextMemory | undefined): Dialogues {
  const own = groupByThread(run)
  const withdrawn = findWithdrawn(run)
  const heard = new Map<number, readonly Message[]>()
  const dialogues: Dialogue[] = []
  // What a user told an earlier task is known in the conversation; its system's rules were its own.
  const told = mergeEntries(
    [],
    (prior?.entries ?? []).filter(({ role }) => role === 'user'),
  )
  let entries: readonly MemoryEntry[] = told
  for (const thread of run.threads) {
    const before = inheritMessages(run, thread, { own, heard })
    const all = [...before, ...(own.get(thread.index) ?? [])]
    heard.set(thread.index, all)
    const started = thread.kind === 'sub_agent' ? [] : told
    const read = readAnswers(run, all, { withdrawn, entries: started })
    dialogues.push({ thread, heard: all, answers: read.answers })
    if (thread.kind !== 'sub_agent') entries = mergeEntries(entries, read.entries)
  }
  return { dialogues, ledger: { version: 1, entries } }
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

/** A branch begins with what its parent heard before it, without the messages that it replaced. */
function inheritMessages(
  run: TaskRun,
  { index, kind, parent }: Thread,
  { own, heard }: { own: Map<number, Message[]>; heard: Map<number, readonly Message[]> },
): readonly Message[] {
  const first = own.get(index)?.[0]
  if (kind !== 'branch' || parent === null || first === undefined) return []
  const lost = new Set(run.breaks.filter(({ thread }) => thread === index).flatMap((b) => b.lost))
  return (heard.get(parent) ?? []).filter(
    (said) => said.index < first.index && !lost.has(said.index),
  )
}

type Withdrawn = ReadonlyMap<number, readonly Message[]>

function readAnswers(
  run: TaskRun,
  heard: readonly Message[],
  { withdrawn, ...told }: { withdrawn: Withdrawn; entries: readonly MemoryEntry[] },
) {
  const answers: Answer[] = []
  let entries = told.entries
  let asked: Message | undefined
  let call = -1
  for (const [at, message] of heard.entries()) {
    if (message.call !== call) {
      call = message.call
      entries = removeWithdrawn(run, entries, withdrawn.get(call))
    }
    if (message.role === 'user') asked = message
    const brought = run.calls[message.call]
    if (brought === undefined) continue
    const step = message.step === null ? undefined : run.steps[message.step]
    if (step !== undefined) {
      answers.push({ message, step, call: brought, active: entries, asked, at })
    } else {
      entries = addStatements(entries, message, { task_id: run.task_id, place: placeOf(brought) })
    }
  }
  return { answers, entries }
}

/**
 * The calls at which the client itself took back what was said: it edited a message, or replaced
 * the system's text. What merely fell out of the history still holds: that is how context is lost.
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
