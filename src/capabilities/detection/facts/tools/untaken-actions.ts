import {
  type DoneClaim,
  mentionsFailure,
  sentencesOf,
  verbsLike,
} from '../../../provenance/text/index.ts'
import type { Message, Step, TaskRun, ToolUse } from '../../reconstruction/index.ts'
import { callOf } from '../finding-parts.ts'
import { remember } from '../remember.ts'
import { isChange, isConsenting, mayHaveDone } from './claimed-tools.ts'
import { type DeclaredAction, readActions, stemsOf } from './declared-actions.ts'
import { wordsOfTool } from './tool-words.ts'

/**
 * An action that no call took: its tool; the claim, undefined if the answer only goes on as if it was done;
 * and whether the claim names it, and the user has just asked for it or agreed to it.
 */
export type UntakenAction = { tool: string; claim: DoneClaim | undefined; isNamed: boolean }

/** An answer, its claims, the calls before it, and those of its turn. */
export type AnswerAfterCalls = {
  step: Step
  claims: readonly DoneClaim[]
  before: readonly ToolUse[]
  turn: readonly ToolUse[]
}

/**
 * Finds an action that the user asked for or agreed to, that the answer treats as done, and whose
 * declared tool was never called. The tools' own words tell what was asked for, in any language.
 */
export function findUntaken(run: TaskRun, answer: AnswerAfterCalls): UntakenAction | undefined {
  const { step, before } = answer
  const untried = readActions(callOf(run, step)?.tools ?? noTools).filter(
    (action) => !before.some(({ name }) => name === action.name),
  )
  if (untried.length === 0) return undefined
  const exchange = readExchange(run, step)
  const open = untried.filter((action) => !isAskedIn(step, action))
  return findClaimed(answer, open, exchange) ?? findImplied(answer, open, exchange)
}

const noTools: readonly never[] = []

/** The messages before an answer: the user's last one, the end of the agent's message before it, and the stems of both. */
type Exchange = { last: Message | undefined; offer: string; words: ReadonlySet<string> }

function readExchange(run: TaskRun, step: Step): Exchange {
  const said = spokenOf(run)
  const at = said.findLastIndex(
    ({ call, role, step: of }) => role === 'user' && call <= step.call && of !== step.index,
  )
  const before = said.slice(Math.max(0, at - 2), at + 1)
  const reply = said[at - 1]
  const offer = reply?.role === 'assistant' ? (sentencesOf(reply.text).at(-1) ?? '') : ''
  return {
    last: said[at],
    offer,
    words: new Set(before.flatMap((message) => [...stemsOfMessage(message)])),
  }
}

/** The messages of the user and of the agent, in their order. */
const spokenOf = remember(({ messages }: TaskRun) =>
  messages.filter(
    ({ role, is_harness, text }) =>
      (role === 'user' || role === 'assistant') && is_harness !== true && text !== '',
  ),
)

const stemsOfMessage = remember(({ text }: Message) => stemsOf(text))

function isAbout({ own, verbs }: DeclaredAction, words: ReadonlySet<string>): boolean {
  return !own.isDisjointFrom(words) || !verbs.isDisjointFrom(words)
}

/** Tells whether the answer asks about an action: then it does not say that it is done. */
function isAskedIn({ text }: Step, action: DeclaredAction): boolean {
  return sentencesOf(text ?? '').some(
    (sentence) => /[?？]\W*$/.test(sentence) && isAbout(action, stemsOf(sentence)),
  )
}

function findClaimed(
  { claims, before, turn }: AnswerAfterCalls,
  open: readonly DeclaredAction[],
  { last, offer, words: said }: Exchange,
): UntakenAction | undefined {
  const hasChanged = turn.some(isChange)
  const [only, ...others] = open
  // Nothing else can have been offered, and nothing was called since.
  const agreed = others.length === 0 && turn.length === 0 && isOffer(offer) ? only : undefined
  const isQuestion = /[?？]/.test(last?.text ?? '')
  for (const claim of claims) {
    if ((isQuestion && claim.form !== 'own') || isTaken(claim, before, turn)) continue
    const named = findNamed(claim, open, said)
    const action = named ?? agreed
    if (action === undefined || isKnown(before, action, claim)) continue
    const isDirect = isAbout(action, stemsOf(`${last?.text ?? ''} ${offer}`))
    return { tool: action.name, claim, isNamed: named !== undefined && isDirect && !hasChanged }
  }
  return undefined
}

/** Finds the action that a claim names: asked for, and by its own words or its verb; or by both. */
function findNamed(
  claim: DoneClaim,
  open: readonly DeclaredAction[],
  said: ReadonlySet<string>,
): DeclaredAction | undefined {
  const words = stemsOf(claim.sentence)
  const asked = open.filter((action) => isAbout(action, said))
  return (
    asked.find(({ own }) => !own.isDisjointFrom(words)) ??
    (isOfRequest(claim, said) ? asked.find((one) => isLike(one, claim, words)) : undefined) ??
    open.find(
      (one) =>
        !one.verbs.isDisjointFrom(words) &&
        (isOwnClaim(one, claim) || !one.own.isDisjointFrom(words)),
    )
  )
}

/** Tells whether the agent says of itself what the tool does: “I've put a note on it” for `add_note`. */
function isOwnClaim({ name }: DeclaredAction, { form, verb }: DoneClaim): boolean {
  const like = verbsLike(verb)
  return form === 'own' && verb !== '' && wordsOfTool(name).some((word) => like.has(word))
}

/** Tells whether a claim is about the agent, about nothing that it names, or about what was asked for. */
function isOfRequest({ form, subject }: DoneClaim, said: ReadonlySet<string>): boolean {
  const words = stemsOf(subject).difference(pointing)
  return form === 'own' || words.size === 0 || !words.isDisjointFrom(said)
}

const pointing = stemsOf(
  'the that this they your ihr ihre der die das votre sua tus sus todo alles',
)

/** Tells whether a claim has a verb of the tool, or one that can mean the same. */
function isLike(
  { name, verbs }: DeclaredAction,
  { verb }: DoneClaim,
  words: ReadonlySet<string>,
): boolean {
  const like = verbsLike(verb)
  if (!verbs.isDisjointFrom(words)) return true
  return verb !== '' && wordsOfTool(name).some((word) => like.has(word))
}

/** Tells whether a call of the turn can be the claimed action, or an earlier one that the claim repeats. */
function isTaken(claim: DoneClaim, before: readonly ToolUse[], turn: readonly ToolUse[]): boolean {
  return (
    before.some((use) => isOfCall(use, claim)) ||
    turn.some((use) => mayHaveDone(use, claim, '') || hasInArguments(use, claim))
  )
}

/** Tells whether the arguments of a change have the verb: `POST /orders/55/cancel`. */
function hasInArguments(use: ToolUse, { verb }: DoneClaim): boolean {
  return verb !== '' && isChange(use) && (use.arguments ?? '').toLowerCase().includes(verb)
}

/** Tells whether a claim can be about what an earlier call changed. */
function isOfCall(use: ToolUse, { verb }: DoneClaim): boolean {
  if (!isChange(use) || use.fault !== null) return false
  return verb === '' || wordsOfTool(use.name).some((word) => verbsLike(verb).has(word))
}

/** Tells whether a result already says what the claim says: “state: frozen”. */
function isKnown(
  before: readonly ToolUse[],
  { verbs }: DeclaredAction,
  { participle }: DoneClaim,
): boolean {
  const said = new Set([...verbs, ...stemsOf(participle)])
  return before.some((use) => !stemsOfResult(use).isDisjointFrom(said))
}

const stemsOfResult = remember(({ result }: ToolUse) => stemsOf((result ?? '').replace(unset, ' ')))

/** Fields of a result that deny what their name says. */
const unset = /"\w+"\s*:\s*(?:false|null|0|""|"(?:no|none|off)"|\[\])/gi

/** An offer of the agent, or its question what to do. */
function isOffer(sentence: string): boolean {
  return (/[?？]\W*$/.test(sentence) && !choice.test(sentence)) || ability.test(sentence)
}

const choice = /(?<!\p{L})(?:or|oder|ou|o|还是|それとも)(?!\p{L})/iu
const ability = /^(?:\p{L}+,? )?(?:i can|i could|ich kann|je peux|puedo)\b/iu

/** Finds an agreed offer after which nothing was called, and an answer that neither asks nor denies. */
function findImplied(
  { step, turn }: AnswerAfterCalls,
  open: readonly DeclaredAction[],
  { last, offer }: Exchange,
): UntakenAction | undefined {
  const text = step.text ?? ''
  if (turn.length > 0 || last === undefined || !isOffer(offer)) return undefined
  const reply = last.text
  if (/[?？]/.test(reply + text) || reply.length > reply_chars_max) return undefined
  if (!isConsenting(reply) || declining.test(reply) || putOff.test(text) || mentionsFailure(text))
    return undefined
  const words = stemsOf(offer)
  const action = open.find((one) => isAbout(one, words))
  return action && { tool: action.name, claim: undefined, isNamed: false }
}

const reply_chars_max = 60
const declining =
  /(?<!\p{L})(?:no|nope|not|don't|never|keep|leave|wait|later|think|but|nein|nicht|erst|lass\p{L}*|später|aber|non|pas|plus tard|mais|luego|pero|espera|mejor|不|先|いいえ)(?!\p{L})/iu
/** Words of an answer that leaves the action to the user or to later. */
const putOff =
  /(?<!\p{L})(?:if|when|once|as soon as|please|will be able|you can|come back|bitte|wenn|sobald|falls|können sie|kannst du|s'il vous plaît|vous pouvez|quand|si|por favor|puede|cuando|请|如果)(?!\p{L})/iu
