import { z } from 'zod'
import { answerTextOf } from '../../context/answer-text.ts'
import { contextFinding } from '../../context/context-finding.ts'
import { type Answer, type Dialogue, dialoguesOf } from '../../context/dialogues.ts'
import {
  type Contradiction,
  contradictionsIn,
  contradictionsInArguments,
  factValueOf,
} from '../../context/fact-claims.ts'
import type { LedgerEntry } from '../../context/ledger.ts'
import { mentions } from '../../context/prose.ts'
import type { Detector, FindingDraft, WorkBudget } from '../../contract.ts'
import { placeOf } from '../../evidence/places.ts'
import { remember } from '../../evidence/remember.ts'
import type { Message, TaskRun } from '../../reconstruction/contract.ts'

const settings = z.strictObject({})

/** A value that the system or the user gave, and that the agent tells or uses otherwise. */
export const contradictedFact: Detector<typeof settings> = {
  name: 'contradicted_fact',
  kind: 'context',
  types: ['contradicted_fact'],
  version: 1,
  needs: ['texts'],
  settings,
  detect(run, _settings, budget, prior) {
    return dialoguesOf(run, prior).dialogues.flatMap((dialogue) => {
      const courses = new Map<string, Course>()
      for (const answer of dialogue.answers) follow(run, { dialogue, answer, courses }, budget)
      return [...courses.values()].flatMap((course) => findingOf(run, course))
    })
  },
}

/** How one fact fared: where it was told otherwise, and whether it was told rightly at last. */
type Course = { wrong: { answer: Answer; claim: Contradiction }[]; isRight: boolean }
type Reading = { dialogue: Dialogue; answer: Answer; courses: Map<string, Course> }

function follow(run: TaskRun, { dialogue, answer, courses }: Reading, budget: WorkBudget): void {
  budget.spend(1)
  const facts = answer.active.filter(({ kind }) => kind === 'fact')
  if (facts.length === 0 || answer.step.is_partial) return
  budget.spend(facts.length)
  const claims = claimsOf(run, answer, facts)
  for (const course of courses.values()) course.isRight ||= isSaidRight(course, answer)
  for (const claim of claims) {
    if (isSourced(run, dialogue, { answer, claim }, budget)) continue
    const key = `${claim.fact.slot} ${claim.fact.value}`
    const course = courses.get(key) ?? { wrong: [], isRight: false }
    course.wrong.push({ answer, claim })
    course.isRight = false
    courses.set(key, course)
  }
}

/** What each answer was found to claim, by the facts that it was read with. */
const read = remember((_message: Message) => new Map<string, Contradiction[]>())

function claimsOf(run: TaskRun, { message, step }: Answer, facts: readonly LedgerEntry[]) {
  const known = read(message)
  const key = facts.map(({ slot, value }) => `${slot}=${value}`).join('\n')
  const claims = known.get(key) ?? [
    ...contradictionsIn(answerTextOf(message).voice, facts),
    ...step.tools.flatMap((index) =>
      contradictionsInArguments(run.tools[index]?.arguments ?? '', facts),
    ),
  ]
  known.set(key, claims)
  return claims
}

/** The claimed value has a source of its own: a tool's result, or something else that was said. */
function isSourced(
  run: TaskRun,
  { heard, thread }: Dialogue,
  { answer, claim }: { answer: Answer; claim: Contradiction },
  budget: WorkBudget,
): boolean {
  const value = claim.claimed.text.toLowerCase()
  budget.spend(answer.at + run.tools.length)
  const isSaid = heard
    .slice(0, answer.at)
    .some(({ role, text, step }) => step === null && role !== 'assistant' && mentions(text, value))
  return (
    isSaid ||
    run.tools.some(
      ({ thread: of, result, step }) =>
        of === thread.index &&
        (step === null || step < answer.step.index) &&
        result !== null &&
        mentions(result, value),
    )
  )
}

function isSaidRight({ wrong }: Course, { message }: Answer): boolean {
  const fact = wrong[0]?.claim.fact
  return fact !== undefined && message.text.toLowerCase().includes(factValueOf(fact).normal)
}

function findingOf(run: TaskRun, { wrong, isRight }: Course): FindingDraft[] {
  const [first] = wrong
  if (first === undefined) return []
  const { fact, claimed, sentence } = first.claim
  const key = fact.slot.slice('fact:'.length)
  return [
    contextFinding(run, {
      type: 'contradicted_fact',
      severity: 'medium',
      topic: `${fact.slot}=${fact.value}`,
      summary: `The agent has "${claimed.text}" for the ${key}; the ${fact.role} had said: ${fact.quote}`,
      original_context: fact.quote,
      violation: sentence,
      original: fact.place,
      steps: [...new Set(wrong.map(({ answer }) => answer.step.index))],
      begins_at: placeOf(first.answer.call),
      is_waste: true,
      recovered: isRight,
      confidence: fact.task_id === run.task_id ? 0.85 : 0.7,
      evidence: {
        fact: key,
        expected: factValueOf(fact).normal,
        claimed: claimed.normal,
        said_by: fact.role,
        said_in_task: fact.task_id,
      },
    }),
  ]
}
