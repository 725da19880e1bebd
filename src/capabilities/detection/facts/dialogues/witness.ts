import type { WorkBudget } from '../../contract.ts'
import type { Message, TaskRun } from '../../reconstruction/index.ts'
import { rememberFor } from '../remember.ts'
import { complains } from './complaints.ts'
import { type Answer, contextOf, type Dialogue } from './dialogues.ts'

/**
 * The second source of a value of the user: the agent had used the value, a result of a tool has it, or
 * the user gave it again or objected.
 */
export type Witness = 'agent' | 'tool' | 'user'

/** A value that the user gave: its sentence, and how another text has it. */
type SaidValue = {
  quote: string
  isIn: (text: string) => boolean
  /** A short number is in many texts by chance: only the user's reply is a witness. */
  isShort?: boolean
}

type Contradicted = {
  dialogue: Dialogue
  answer: Pick<Answer, 'step' | 'at'>
  /** The contradiction, an object that is kept between analyses: its witness is looked for once. */
  found: object
  said: SaidValue
}

const witnesses = rememberFor<object, Witness | undefined>()

/**
 * Finds a second witness for what an answer contradicts: before the answer, or in the user's reply. One
 * reading of a text makes a finding of low severity (docs/decisions/0064-medium-needs-two-witnesses.md).
 */
export function findWitness(
  run: TaskRun,
  { dialogue, answer, found, said }: Contradicted,
  budget: WorkBudget,
): Witness | undefined {
  const reply = findReply(dialogue, answer.at)
  const depends = [...contextOf(run, dialogue, answer), dialogue.thread.index, reply]
  return witnesses(found, depends, () => {
    budget.spend(answer.at + run.tools.length)
    if (reply !== undefined && (complains(reply.text) || said.isIn(reply.text))) return 'user'
    return said.isShort === true ? undefined : findEarlier(run, { dialogue, answer, said })
  })
}

function findReply({ messages }: Dialogue, at: number): Message | undefined {
  for (let next = at + 1; next < messages.length; next++) {
    const message = messages[next]
    if (message !== undefined && isOfUser(message)) return message
  }
  return undefined
}

function findEarlier(
  run: TaskRun,
  { dialogue, answer, said }: Omit<Contradicted, 'found'>,
): Witness | undefined {
  const before = dialogue.messages.slice(Math.max(0, answer.at - latest_max), answer.at)
  if (before.some(({ role, text }) => role === 'assistant' && said.isIn(text))) return 'agent'
  const uses = run.tools
    .filter(
      ({ thread, step }) =>
        thread === dialogue.thread.index && step !== null && step < answer.step.index,
    )
    .slice(-latest_max)
  if (uses.some((use) => said.isIn(use.arguments ?? ''))) return 'agent'
  if (uses.some((use) => use.fault === null && said.isIn(use.result ?? ''))) return 'tool'
  const isAgain = (one: Message) =>
    isOfUser(one) && !one.text.includes(said.quote) && said.isIn(one.text)
  return before.some(isAgain) ? 'user' : undefined
}

/** Latest messages, and latest calls, in which a witness is looked for. */
const latest_max = 40

function isOfUser({ role, is_harness }: Message): boolean {
  return role === 'user' && is_harness !== true
}
