import type { Message, TaskRun } from '../reconstruction/contract.ts'
import type { StepFacts } from './step-facts.ts'

/** Characters of the order that are read. */
const order_chars_max = 2_000

const repetition =
  /\b(\d{1,6}|two|three|four|five|six|ten|twelve|twenty|fifty|hundred|several|multiple|many)( more)? times\b|\brepeat(ed|edly)?\b|\b(in a loop|over and over|flaky|stress test|load test|benchmark)\b|\d ?(mal|fois|veces)\b/i

/** Whether the user's last message before a step asks for the same more than once. */
export function asksForRepetition(run: TaskRun, facts: StepFacts | undefined): boolean {
  const asked = facts && lastOrder(run, facts)
  return asked !== undefined && repetition.test(asked.text.slice(0, order_chars_max))
}

function lastOrder({ messages }: TaskRun, { step }: StepFacts): Message | undefined {
  return messages.findLast(
    ({ role, thread, call }) => role === 'user' && thread === step.thread && call <= step.call,
  )
}
