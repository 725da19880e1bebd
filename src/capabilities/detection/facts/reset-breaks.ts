import type { HistoryBreak, Message, TaskRun } from '../reconstruction/index.ts'
import { remember } from './remember.ts'

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
