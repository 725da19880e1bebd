import { z } from 'zod'
import { isTurned, readAssertions } from '../../../provenance/text/index.ts'
import type { Detector, FindingDraft, MemoryEntry, WorkBudget } from '../../contract.ts'
import {
  type Answer,
  answerTextOf,
  type Contradiction,
  contextOf,
  type Dialogue,
  factValueOf,
  findArgumentContradictions,
  findContradictions,
  findSlips,
  findWitness,
  isCompatible,
  mentions,
  ownVoiceOf,
  placeOf,
  readDialogues,
  readValues,
  remember,
  rememberFor,
  type Slip,
  sentencesOf,
  toContextDraft,
} from '../../facts/index.ts'
import type { Message, TaskRun } from '../../reconstruction/index.ts'

const settings = z.strictObject({})

/**
 * Finds values of the system or the user that the agent states or uses differently: of low severity, and
 * medium if the value has a second witness in the run (`findWitness`).
 */
export const contradictedFact: Detector<typeof settings> = {
  name: 'contradicted_fact',
  kind: 'context',
  types: ['contradicted_fact'],
  version: 4,
  needs: ['texts', 'history'],
  settings,
  detect(run, _settings, budget, prior) {
    return readDialogues(run, prior).dialogues.flatMap((dialogue) => {
      const courses = new Map<string, FactCourse>()
      for (const answer of dialogue.answers) addClaims(run, { dialogue, answer, courses }, budget)
      const used = new Set([...courses.values()].map(({ wrong }) => wrong[0]?.answer.step.index))
      const slips = dialogue.answers
        .filter(({ step }) => step.tools.length > 0 && !used.has(step.index))
        .flatMap((answer) =>
          findSlips(run, dialogue, answer, budget)
            .slice(0, 1)
            .map((slip) => toSlipFinding(run, dialogue, { answer, slip }, budget)),
        )
      const turns = findTurns(run, dialogue, budget)
      return [
        ...[...courses.values()].flatMap((course) => toFindings(run, dialogue, course, budget)),
        ...slips,
        ...turns,
      ]
    })
  },
}

/** The contradictions of one fact, and whether the agent corrected itself since. */
type FactCourse = { wrong: { answer: Answer; claim: Contradiction }[]; isRight: boolean }
type AnswerReading = { dialogue: Dialogue; answer: Answer; courses: Map<string, FactCourse> }

function addClaims(
  run: TaskRun,
  { dialogue, answer, courses }: AnswerReading,
  budget: WorkBudget,
): void {
  budget.spend(1)
  const facts = factsIn(answer.active)
  if (facts.length === 0 || answer.step.is_partial) return
  budget.spend(facts.length)
  const claims = claimsOf(run, answer, facts)
  for (const course of courses.values()) course.isRight ||= isCorrected(course, answer)
  for (const claim of claims) {
    if (isSourced(run, dialogue, { answer, claim }, budget)) continue
    const key = `${claim.fact.slot} ${claim.fact.value}`
    const course = courses.get(key) ?? { wrong: [], isRight: false }
    course.wrong.push({ answer, claim })
    course.isRight = false
    courses.set(key, course)
  }
}

/** The facts of valid statements: many answers share one list of them. */
const factsIn = remember((active: readonly MemoryEntry[]) =>
  active.filter(({ kind }) => kind === 'fact'),
)
const keyOf = remember((facts: readonly MemoryEntry[]) =>
  facts.map(({ slot, value }) => `${slot}=${value}`).join('\n'),
)

/** Claims of each answer, by the facts it was compared with. */
const claimsByFacts = remember((_message: Message) => new Map<string, Contradiction[]>())

function claimsOf(run: TaskRun, { message, step }: Answer, facts: readonly MemoryEntry[]) {
  const known = claimsByFacts(message)
  const key = keyOf(facts)
  const { voice } = answerTextOf(message)
  const claims = known.get(key) ?? [
    ...findContradictions(voice, facts).filter((claim) => !isPart(claim, voice)),
    ...step.tools.flatMap((index) =>
      findArgumentContradictions(run.tools[index]?.arguments ?? '', facts),
    ),
  ]
  known.set(key, claims)
  return claims
}

/**
 * Tells whether a count is a part of the stated one: the rest is counted in the answer, or was in
 * the user's own sentence (“35 people, 5 of them vegan”).
 */
function isPart({ fact, claimed }: Contradiction, voice: string): boolean {
  if (fact.slot !== 'fact:people') return false
  const rest = Number(factValueOf(fact).normal) - Number(claimed.normal)
  return rest > 0 && (mentions(voice, String(rest)) || mentions(fact.quote, String(rest)))
}

const sourcedByClaim = rememberFor<Contradiction, boolean>()

type ClaimOfAnswer = { answer: Answer; claim: Contradiction }

/** Tells whether the claimed value has its own source: a tool's result, or another message. */
function isSourced(
  run: TaskRun,
  dialogue: Dialogue,
  { answer, claim }: ClaimOfAnswer,
  budget: WorkBudget,
): boolean {
  const depends = [...contextOf(run, dialogue, answer), dialogue.thread.index]
  return sourcedByClaim(claim, depends, () => {
    budget.spend(answer.at + run.tools.length)
    return findSource(run, dialogue, { answer, claim })
  })
}

function findSource(
  run: TaskRun,
  { messages, thread }: Dialogue,
  { answer, claim }: ClaimOfAnswer,
): boolean {
  const value = claim.claimed.text.toLowerCase()
  const isSaid = messages
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

function isCorrected({ wrong }: FactCourse, { message }: Answer): boolean {
  const fact = wrong[0]?.claim.fact
  return fact !== undefined && message.text.toLowerCase().includes(factValueOf(fact).normal)
}

/** A value with fewer characters is in many texts by chance. */
const short_chars_max = 2

function toFindings(
  run: TaskRun,
  dialogue: Dialogue,
  { wrong, isRight }: FactCourse,
  budget: WorkBudget,
): FindingDraft[] {
  const [first] = wrong
  if (first === undefined) return []
  const { fact, claimed, sentence } = first.claim
  const key = fact.slot.slice('fact:'.length)
  const { kind, normal } = factValueOf(fact)
  const said = {
    quote: fact.quote,
    isIn: (text: string) =>
      mentions(text, normal) ||
      readValues(text, kind).some((value) => isCompatible(kind, value, normal)),
    isShort: normal.length <= short_chars_max,
  }
  const { answer, claim: found } = first
  // An agent that corrects itself is its own witness.
  const witness = isRight ? 'agent' : findWitness(run, { dialogue, answer, found, said }, budget)
  return [
    toContextDraft(run, {
      type: 'contradicted_fact',
      severity: witness === undefined ? 'low' : 'medium',
      topic: `${fact.slot}=${fact.value}`,
      summary: `The agent gives "${claimed.text}" as the ${key}; the ${fact.role} had said: ${fact.quote}`,
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
        expected: normal,
        claimed: claimed.normal,
        said_by: fact.role,
        said_in_task: fact.task_id,
        witness: witness ?? null,
      },
    }),
  ]
}

/** Finds answers that say the opposite of what was said, though the agent learnt nothing new. */
function findTurns(run: TaskRun, dialogue: Dialogue, budget: WorkBudget): FindingDraft[] {
  return dialogue.answers.flatMap((answer) => {
    const { message, step, call, at } = answer
    if (step.tools.length > 0 || step.is_partial) return []
    const turn = turnByAnswer(message, contextOf(run, dialogue, answer), () => {
      const before = dialogue.messages.slice(Math.max(0, at - messages_before_max), at)
      const learnt = before.findLastIndex(({ role }) => role === 'tool')
      const known = before.filter(({ role }, index) => role !== 'assistant' || index > learnt)
      budget.spend(known.length)
      return findTurn(message, known)
    })
    if (turn === undefined) return []
    const original = placeOf(run.calls[turn.earlier.call] ?? call)
    return [
      toContextDraft(run, {
        type: 'contradicted_fact',
        severity: 'low',
        topic: `turn:${turn.sentence}`,
        original,
        summary: `The agent says "${turn.sentence}"; before, it was said: ${turn.said}`,
        original_context: turn.said,
        violation: turn.sentence,
        steps: [step.index],
        begins_at: placeOf(call),
        recovered: false,
        confidence: 0.6,
        evidence: { said_by: turn.earlier.role, said_in_task: run.task_id },
      }),
    ]
  })
}

const turnByAnswer = rememberFor<Message, Turn | undefined>()
const messages_before_max = 40

/** A sentence of an answer, and the opposite one that was said before. */
type Turn = { earlier: Message; said: string; sentence: string }

function findTurn(answer: Message, before: readonly Message[]): Turn | undefined {
  const isTold = (number: string) => before.some(({ text }) => mentions(text, number))
  for (const now of assertionsOf(answer)) {
    for (const earlier of before) {
      if (earlier.role === 'user') continue
      const then = assertionsOf(earlier).find((one) => isTurned(now, one, isTold))
      if (then !== undefined) return { earlier, said: then.sentence, sentence: now.sentence }
    }
  }
  return undefined
}

const assertionsOf = remember(({ text }: Message) => readAssertions(sentencesOf(ownVoiceOf(text))))

/** Creates the finding of an argument that differs from what the user said. */
function toSlipFinding(
  run: TaskRun,
  dialogue: Dialogue,
  { answer, slip }: { answer: Answer; slip: Slip },
  budget: WorkBudget,
): FindingDraft {
  const { key, value, said, quote, use } = slip
  const { step, call } = answer
  const witness = findWitness(run, { dialogue, answer, found: slip, said: slip }, budget)
  const original = run.calls[said.call] ?? call
  return toContextDraft(run, {
    type: 'contradicted_fact',
    severity: witness === undefined ? 'low' : 'medium',
    topic: `argument:${key}=${value}`,
    summary: `The agent calls "${use.name}" with "${value}" as the ${key}; the user had said: ${quote}`,
    original_context: quote,
    violation: `${key}: ${value}`,
    original: placeOf(original),
    steps: [step.index],
    begins_at: placeOf(call),
    is_waste: true,
    recovered: false,
    confidence: 0.8,
    evidence: { fact: key, claimed: value, said_by: 'user', witness: witness ?? null },
  })
}
