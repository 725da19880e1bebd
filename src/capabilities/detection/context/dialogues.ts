import { placeOf } from '../evidence/places.ts'
import type { Message, ModelCall, Step, TaskRun, Thread } from '../reconstruction/contract.ts'
import type { ContextLedger, LedgerEntry } from './ledger.ts'
import { entriesAfter } from './ledger-entries.ts'

/** One answer of the model with what held when it was given. */
export type Answer = {
  message: Message
  step: Step
  call: ModelCall
  /** What was said before and held; the newest last. */
  active: readonly LedgerEntry[]
  /** The user's message that it answers; undefined when none was seen. */
  asked: Message | undefined
  /** Its place in `Dialogue.heard`. */
  at: number
}

/** What was said in one thread, in order, with what a branch took over from its parent. */
export type Dialogue = { thread: Thread; heard: readonly Message[]; answers: readonly Answer[] }

/** All dialogues of a run, and what holds at the end of its root threads. */
export type Dialogues = { dialogues: readonly Dialogue[]; ledger: ContextLedger }

/** Reads a run's dialogues; the same run with the same earlier ledger is read once. */
export function dialoguesOf(run: TaskRun, prior?: ContextLedger): Dialogues {
  const known = made.get(run)
  if (known !== undefined && known.prior === prior) return known.value
  const value = readDialogues(run, prior)
  made.set(run, { prior, value })
  return value
}

const made = new WeakMap<TaskRun, { prior: ContextLedger | undefined; value: Dialogues }>()

/** What a task's system and user said that still holds, on top of what earlier tasks said. */
export function ledgerOf(run: TaskRun, prior?: ContextLedger): ContextLedger {
  return dialoguesOf(run, prior).ledger
}

function readDialogues(run: TaskRun, prior: ContextLedger | undefined): Dialogues {
  const own = messagesByThread(run)
  const withdrawn = withdrawnAt(run)
  const heard = new Map<number, readonly Message[]>()
  const dialogues: Dialogue[] = []
  // What a user told an earlier task is known in the conversation; its system's rules were its own.
  const told = merged(
    [],
    (prior?.entries ?? []).filter(({ role }) => role === 'user'),
  )
  let entries: readonly LedgerEntry[] = told
  for (const thread of run.threads) {
    const before = inherited(run, thread, { own, heard })
    const all = [...before, ...(own.get(thread.index) ?? [])]
    heard.set(thread.index, all)
    const started = thread.kind === 'sub_agent' ? [] : told
    const read = answersOf(run, all, { withdrawn, entries: started })
    dialogues.push({ thread, heard: all, answers: read.answers })
    if (thread.kind !== 'sub_agent') entries = merged(entries, read.entries)
  }
  return { dialogues, ledger: { version: 1, entries } }
}

function messagesByThread(run: TaskRun): Map<number, Message[]> {
  const found = new Map<number, Message[]>()
  for (const message of run.messages) {
    const own = found.get(message.thread)
    if (own === undefined) found.set(message.thread, [message])
    else own.push(message)
  }
  return found
}

/** A branch begins with what its parent heard before it, without the messages that it replaced. */
function inherited(
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

function answersOf(
  run: TaskRun,
  heard: readonly Message[],
  { withdrawn, ...told }: { withdrawn: Withdrawn; entries: readonly LedgerEntry[] },
) {
  const answers: Answer[] = []
  let entries = told.entries
  let asked: Message | undefined
  let call = -1
  for (const [at, message] of heard.entries()) {
    if (message.call !== call) {
      call = message.call
      entries = withoutWithdrawn(run, entries, withdrawn.get(call))
    }
    if (message.role === 'user') asked = message
    const brought = run.calls[message.call]
    if (brought === undefined) continue
    const step = message.step === null ? undefined : run.steps[message.step]
    if (step !== undefined) {
      answers.push({ message, step, call: brought, active: entries, asked, at })
    } else {
      entries = entriesAfter(entries, message, { task_id: run.task_id, place: placeOf(brought) })
    }
  }
  return { answers, entries }
}

/**
 * The calls at which the client itself took back what was said: it edited a message, or replaced
 * the system's text. What merely fell out of the history still holds: that is how context is lost.
 */
function withdrawnAt(run: TaskRun): Withdrawn {
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

function withoutWithdrawn(
  run: TaskRun,
  entries: readonly LedgerEntry[],
  taken: readonly Message[] | undefined,
): readonly LedgerEntry[] {
  if (taken === undefined || entries.length === 0) return entries
  const roles = new Set(taken.map(({ call, role }) => `${run.calls[call]?.observation_id} ${role}`))
  return entries.filter(({ place, role }) => !roles.has(`${place.observation_id} ${role}`))
}

function merged(
  one: readonly LedgerEntry[],
  other: readonly LedgerEntry[],
): readonly LedgerEntry[] {
  const entries = new Map(one.map((entry) => [entry.slot, entry]))
  for (const entry of other) if (entry.holds === 'always') entries.set(entry.slot, entry)
  return [...entries.values()]
}
