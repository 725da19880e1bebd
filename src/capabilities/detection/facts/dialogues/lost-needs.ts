import { mentions, sentencesOf, toTokenSet, verbsLike } from '../../../provenance/text/index.ts'
import type { FindingDraft, WorkBudget } from '../../contract.ts'
import type { Message, Step, TaskRun, ToolUse } from '../../reconstruction/index.ts'
import { toContextDraft } from '../drafts.ts'
import { placeOf, placesOfUses } from '../finding-parts.ts'
import { remember, rememberFor } from '../remember.ts'
import { effectOfTool } from '../tools/tool-effect.ts'
import { wordsOfTool } from '../tools/tool-words.ts'
import { contextOf, readDialogues } from './dialogues.ts'
import type { CallInDialogue, LostNeed } from './needs.ts'
import { findOtherChoice } from './other-choices.ts'
import { findWitness } from './witness.ts'
import { findWrongOption } from './wrong-options.ts'

/**
 * Finds calls that take, of the things in a list, one that the user had ruled out while the list has
 * another; and calls that the user had forbidden.
 */
export function findLostNeeds(run: TaskRun, budget: WorkBudget): FindingDraft[] {
  if (!run.tools.some(isChoice)) return []
  return readDialogues(run).dialogues.flatMap((dialogue) => {
    const placeOfStep = new Map<number | null, number>()
    for (const [at, { step }] of dialogue.messages.entries()) {
      if (!placeOfStep.has(step)) placeOfStep.set(step, at)
    }
    return run.tools.flatMap((use) => {
      const step = run.steps[use.step ?? -1]
      if (step === undefined || use.thread !== dialogue.thread.index || !isChoice(use)) return []
      const at = placeOfStep.get(step.index) ?? 0
      const lost = lostByUse(use, contextOf(run, dialogue, { step, at }), () => {
        budget.spend(at * 4)
        const call = { run, use, before: dialogue.messages.slice(0, at) }
        return findForbidden(call) ?? findWrongOption(call) ?? findOtherWord(call)
      })
      if (lost === undefined) return []
      const { quote, isIn } = lost
      const said = isIn && { quote, isIn }
      const witness =
        said && findWitness(run, { dialogue, answer: { step, at }, found: lost, said }, budget)
      return [
        toDraft(run, use, step, witness === undefined ? lost : { ...lost, severity: 'medium' }),
      ]
    })
  })
}

const lostByUse = rememberFor<ToolUse, LostNeed | undefined>()

const isChoice = remember(
  (use: ToolUse): boolean =>
    use.fault === null && (effectOfTool(use) === 'changes' || choosing.test(use.name)),
)

/** Names of calls that choose, without a known verb: “besichtigung”, “appointment”. */
const choosing = /^(?:appointment|callback|hold|besichtigung|termin|buch\w*|reserv\w*|reserva\w*)$/i

function findForbidden({ use, before }: CallInDialogue): LostNeed | undefined {
  const words = wordsOfTool(use.name)
  for (const [at, said] of before.entries()) {
    if (said.role !== 'user') continue
    for (const { quote, word } of readForbidden(said)) {
      const tool = words.find((one) => isNamedBy(one, word))
      const later = before.slice(at + 1)
      const isLifted = later.some(
        ({ role, text }) =>
          role === 'user' && [...toTokenSet(text)].some((one) => isNamedBy(tool ?? '', one)),
      )
      const isOffered = later.some(
        ({ role, text }) =>
          role === 'assistant' &&
          /\?/.test(text) &&
          [...toTokenSet(text)].some((one) => isNamedBy(tool ?? '', one)),
      )
      if (tool === undefined || isLifted || isOffered) continue
      const violation = `The agent called "${use.name}".`
      const isIn = (text: string) => forbiddenIn(text).some((one) => one.word === word)
      return { said, quote, violation, severity: 'low', isIn }
    }
  }
  return undefined
}

function isNamedBy(tool: string, word: string): boolean {
  if (word.length < 3 || tool === '') return false
  const isBeginning = word.length >= 4 && tool.startsWith(word)
  return (
    isBeginning ||
    (verbsLike(word).has(tool) && word !== 'put') ||
    contacts.some((group) => group.includes(word) && group.includes(tool))
  )
}

const contacts = ['call phone ring callback', 'text sms', 'mail email'].map((group) =>
  group.split(' '),
)

/** Returns the verbs of actions that a message forbids: “don't cancel it”, “no text messages please”. */
const readForbidden = remember(({ text }: Message) => forbiddenIn(text))

function forbiddenIn(text: string): { quote: string; word: string }[] {
  return sentencesOf(text).flatMap((quote) => {
    if (/\?$|\b(?:if|unless|until|before|after|when|twice|again|wenn|bevor)\b/i.test(quote))
      return []
    const match = forbidding.exec(quote.replaceAll('’', "'"))
    const word = (match?.groups?.['verb'] ?? match?.groups?.['noun'])?.toLowerCase()
    return word === undefined ? [] : [{ quote, word }]
  })
}

const forbidding =
  /(?:^|[,.;:!–-] ?|\b(?:please|but|and|so) )(?:(?:please )?(?:do not|don't|never) (?:ever )?(?<verb>\p{L}{3,})|(?:please )?no (?<noun>\p{L}{3,}?)s?\b[^,.;]{0,20}(?=,? please|!|$))/iu

/** Finds an argument for which the user had named another of its choices. */
function findOtherWord({ run, use, before }: CallInDialogue): LostNeed | undefined {
  const other = findOtherChoice(run, use, before)
  if (other === undefined) return undefined
  const { said, quote, taken, wanted } = other
  const violation = `The agent took "${taken}", not "${wanted}".`
  return { said, quote, violation, severity: 'low', isIn: (text) => mentions(text, wanted) }
}

function toDraft(run: TaskRun, use: ToolUse, step: Step, lost: LostNeed): FindingDraft {
  const { said, quote, violation, severity } = lost
  const call = run.calls[said.call]
  const [place = placeOf(run.calls[step.call] ?? { trace_id: '', observation_id: '' })] =
    placesOfUses([use])
  return toContextDraft(run, {
    type: 'lost_context',
    severity,
    topic: `need:${use.index}`,
    violation,
    confidence: 0.75,
    summary: `${violation} The user had said: ${quote}`,
    original_context: quote,
    original: call === undefined ? place : placeOf(call),
    steps: [step.index],
    begins_at: placeOf(run.calls[step.call] ?? place),
    is_waste: true,
    recovered: false,
    evidence: { rule: 'need', said_by: 'user', tool: use.name },
  })
}
