import type {
  HistoryBreak,
  Message,
  ModelCall,
  Step,
  TaskRun,
  Thread,
  ToolUse,
} from '../../reconstruction/index.ts'
import { remember } from '../remember.ts'
import { hasSucceeded } from './call-fault.ts'

/** Looks ahead in a run; each query takes constant time after one pass over the threads. */
export type RunCourse = {
  /** Tells whether a later call succeeded in the call's own history or in one that continues it. */
  recoversAfter(call: ModelCall): boolean
  /** Returns the tool uses of a thread in the order asked, including those without a known step. */
  usesOf(thread: Thread): readonly ToolUse[]
}

/**
 * Creates the look-ahead of a run. A thread continues in itself, in its branches, in the thread
 * that it left and, for a sub-agent of unknown parent, in the root. `isGood` decides which calls
 * succeeded.
 */
export function createCourse(run: TaskRun, isGood?: (call: ModelCall) => boolean): RunCourse {
  return isGood === undefined ? courseOf(run) : buildCourse(run, isGood)
}

const courseOf = remember((run: TaskRun) => buildCourse(run, hasSucceeded))

function buildCourse(run: TaskRun, isGood: (call: ModelCall) => boolean): RunCourse {
  const lastGood = run.threads.map((thread) => findLastGoodCall(run, thread, isGood))
  const branches = branchesOf(run)
  const uses = usesByThread(run)
  return {
    recoversAfter(call) {
      const family = [...listAncestors(run, call.thread), ...(branches.get(call.thread) ?? [])]
      return family.some((thread) => (lastGood[thread] ?? -1) > call.index)
    },
    usesOf: ({ index }) => uses.get(index) ?? [],
  }
}

const usesByThread = remember(({ tools }: TaskRun) => Map.groupBy(tools, ({ thread }) => thread))

function findLastGoodCall(
  run: TaskRun,
  { calls }: Thread,
  isGood: (call: ModelCall) => boolean,
): number {
  for (let at = calls.length - 1; at >= 0; at--) {
    const call = run.calls[calls[at] ?? -1]
    if (call !== undefined && isGood(call)) return call.index
  }
  return -1
}

function branchesOf(run: TaskRun): Map<number, number[]> {
  const branches = new Map<number, number[]>()
  for (const { index, kind, parent } of run.threads) {
    if (kind !== 'branch' || parent === null) continue
    branches.set(parent, [...(branches.get(parent) ?? []), index])
  }
  return branches
}

const ancestors_max = 64

/** Returns a thread, the threads that it left, and the root for a sub-agent. */
export function listAncestors(run: TaskRun, thread: number): number[] {
  const line: number[] = []
  let at: number | null = thread
  while (at !== null && line.length < ancestors_max) {
    line.push(at)
    const known: Thread | undefined = run.threads[at]
    at = known?.parent ?? null
    if (at === null && known?.kind === 'sub_agent') line.push(...rootsOf(run))
  }
  return line
}

function rootsOf(run: TaskRun): number[] {
  const root = run.threads.find(({ kind }) => kind === 'root')
  return root === undefined ? [] : [root.index]
}

/** Returns the calls of a thread, in order. */
export function callsOf(run: TaskRun, { calls }: Thread): ModelCall[] {
  const list: ModelCall[] = []
  for (const index of calls) {
    const call = run.calls[index]
    if (call !== undefined) list.push(call)
  }
  return list
}

/** Returns the tool uses that these steps asked for, in order. */
export function usesOfSteps(run: TaskRun, steps: readonly Step[]): ToolUse[] {
  const list: ToolUse[] = []
  for (const { tools } of steps) {
    for (const index of tools) {
      const use = run.tools[index]
      if (use !== undefined) list.push(use)
    }
  }
  return list
}

/** Splits the steps of a thread at messages of the user. */
export function turnsOf(run: TaskRun, thread: Thread): Step[][] {
  const turns: Step[][] = []
  for (const index of thread.steps) {
    const step = run.steps[index]
    if (step === undefined) continue
    const turn = turns.at(-1)
    if (turn === undefined || step.after_user) turns.push([step])
    else turn.push(step)
  }
  return turns
}

/** Groups consecutive items with equal keys; an item with a null key ends a streak. */
export function streaksOf<Item, Key>(
  items: readonly Item[],
  keyOf: (item: Item) => Key | null,
): { key: Key; items: Item[] }[] {
  const streaks: { key: Key; items: Item[] }[] = []
  let open: { key: Key; items: Item[] } | undefined
  for (const item of items) {
    const key = keyOf(item)
    if (key === null) open = undefined
    else if (open !== undefined && open.key === key) open.items.push(item)
    else {
      open = { key, items: [item] }
      streaks.push(open)
    }
  }
  return streaks
}

/**
 * Returns the breaks that left nothing of the conversation except a system text, which clients send
 * with each new conversation.
 */
export const findResets: (run: TaskRun) => ReadonlySet<HistoryBreak> = remember((run) => {
  const found = new Set<HistoryBreak>()
  const threads = new Map<number, Course>()
  for (const message of run.messages) {
    const course = getCourse(threads, message.thread)
    course.messages.push(message)
  }
  const resultCalls = findBringingCalls(run)
  for (const broken of run.breaks) {
    const course = getCourse(threads, broken.thread)
    for (const index of broken.lost) course.gone.add(index)
    const isAllGone =
      broken.kind === 'truncated' && !resultCalls.has(broken.call) && isGone(course, broken)
    if (broken.kind === 'reset' || isAllGone) found.add(broken)
  }
  return found
})

/** The messages of a thread; those before `read` were processed. */
type Course = { messages: Message[]; gone: Set<number>; kept: Message[]; read: number }

function getCourse(threads: Map<number, Course>, thread: number): Course {
  const known = threads.get(thread)
  if (known !== undefined) return known
  const course = { messages: [], gone: new Set<number>(), kept: [], read: 0 }
  threads.set(thread, course)
  return course
}

/** Returns the calls that contain a tool result: its call is still in the history. */
function findBringingCalls({ messages }: TaskRun): Set<number> {
  const results = messages.filter(({ role, step }) => role === 'tool' && step === null)
  return new Set(results.map(({ call }) => call))
}

function isGone(course: Course, { call }: HistoryBreak): boolean {
  for (; course.read < course.messages.length; course.read++) {
    const message = course.messages[course.read]
    if (message === undefined || message.call >= call) break
    // The last answer was never re-sent, so whether it was dropped is unknown.
    if (message.role === 'user' || message.role === 'tool') course.kept.push(message)
  }
  course.kept = course.kept.filter(({ index }) => !course.gone.has(index))
  return course.read > 0 && course.kept.length === 0
}
