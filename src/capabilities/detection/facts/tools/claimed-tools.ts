import {
  type DoneClaim,
  isChangeVerb,
  toTokenSet,
  verbsLike,
} from '../../../provenance/text/index.ts'
import type { Step, TaskRun, ToolUse } from '../../reconstruction/index.ts'
import { effectOfTool, endsInReading, isReadingName, natureOfTool } from './tool-effect.ts'
import { wordsOfTool } from './tool-words.ts'

const stem_chars = 5

/** Words of the request that an answer follows: of the user, and of what the user agreed to. */
export type Request = { words: ReadonlySet<string>; isConsent: boolean }

/** Returns what the user last asked for; undefined for a question. */
export function readRequest(run: TaskRun, step: Step): Request | undefined {
  const at = run.messages.findLastIndex(({ call, role }) => call <= step.call && role === 'user')
  const text = run.messages[at]?.text ?? ''
  if (/[?？]/.test(text) || askingStart.test(text)) return undefined
  const isConsent = isConsenting(text)
  const before = isConsent
    ? run.messages.findLast(
        ({ index, call, role, step: of }) =>
          index < at && call <= step.call && role !== 'tool' && of !== null,
      )
    : undefined
  return { words: toTokenSet(`${text} ${before?.text ?? ''}`), isConsent }
}

const askingStart =
  /^\W*(?:what|when|where|who|which|how|is|are|was|did|does|has|wann|wo|was|cuándo|quand)\b/i

/** Tells whether a message begins with words of consent. */
export function isConsenting(text: string): boolean {
  return consent.test(text)
}

const consent =
  /^\W*(?:yes|yep|yeah|ok|okay|sure|please|go|do it|fine|perfect|great|confirm|right|exactly|absolutely|ja|jo|gern|bitte|klar|genau|oui|d'accord|volontiers|sí|si|vale|claro|dale|venga)(?![\p{L}\p{N}])|^\W*(?:是|好|可以|行|はい|お願い)/iu

/**
 * Tells whether a tool takes the claimed action. Its verb and a noun of its name are in the sentence;
 * or the user asked for it, and the answer says of this thing, or of nothing else, that it is done.
 */
export function isToolOf(name: string, claim: DoneClaim, request: Request | undefined): boolean {
  const words = wordsOfTool(name)
  const { verb, sentence, form } = claim
  if (!isEffectName(name)) return false
  const like = verbsLike(verb)
  const nouns = words.filter((word) => word.length > 2 && !like.has(word) && !isChangeVerb(word))
  const isNamed = nouns.some((noun) => sentence.includes(noun.slice(0, stem_chars)))
  if (verb !== '' && words.includes(verb) && form !== 'state') {
    if (nouns.length === 0 || isNamed) return true
  }
  if (
    request === undefined ||
    !(isAsked(words, request) || (request.isConsent && words.includes(verb)))
  )
    return false
  if (verb === '') return claim.participle !== '' || isNamed
  if (!words.some((word) => like.has(word) || isSameStem(word, claim.participle))) return false
  return isNamed || form === 'own' || isSubject(claim, request)
}

/** Tells whether the user asked for what a tool does: by its verb, or by one like it. */
function isAsked(words: readonly string[], { words: said }: Request): boolean {
  return words.some((word) => {
    if (!isChangeVerb(word)) return [...said].some((other) => isSameStem(word, other))
    const like = verbsLike(word)
    return [...said].some((other) => like.has(other) || isSameStem(word, other))
  })
}

/** Tells whether a passive claim is about the user, about nothing, or about what was asked for. */
function isSubject({ subject }: DoneClaim, request: Request): boolean {
  const words = [...toTokenSet(subject)].filter(
    (word) => !/^(?:your|the|that|this|it|ihre?|votre|su|la|le)$/.test(word),
  )
  return words.length === 0 || words.some((word) => word === 'you' || request.words.has(word))
}

function isSameStem(word: string, other: string): boolean {
  return word.length >= stem_chars && other.slice(0, stem_chars) === word.slice(0, stem_chars)
}

/** Tells whether a tool's name is that of a change, also with a verb of another language. */
function isEffectName(name: string): boolean {
  const words = wordsOfTool(name)
  if (natureOfTool(name).isEffect) return true
  return (
    !isReadingName(name) &&
    !natureOfTool(`${name}_`).isEnd &&
    !endsInReading(words) &&
    words.some(isChangeVerb)
  )
}

/** Tells whether an earlier call can be the claimed action, under any name. */
export function mayHaveDone(use: ToolUse, { verb }: DoneClaim, tool: string): boolean {
  const words = wordsOfTool(use.name)
  const like = verbsLike(verb)
  if (use.name === tool || words.some((word) => like.has(word) || carriers.has(word))) return true
  return isChange(use) && (verb === '' || !words.some(isChangeVerb))
}

/** Words of tools that hand a task to others. */
const carriers = new Set(
  'delegate delegation agent subagent assistant task dispatch invoke workflow handover'.split(' '),
)

/** Tells whether a call can have changed something. */
export function isChange(use: ToolUse): boolean {
  const { isEffect, isShell, isEnd } = natureOfTool(use.name)
  return isEffect || isShell || isEnd || effectOfTool(use) === 'changes'
}

/** Tells whether a tool's result, the history, the system or the user said that it was done. */
export function isStated(run: TaskRun, step: Step, { participle, form, verb }: DoneClaim): boolean {
  const isOwn = form === 'own'
  if (verb === '') return false
  const said = run.messages.filter(
    (message) =>
      message.call <= step.call && (message.role !== 'assistant' || message.step === null),
  )
  const last = said.findLast(({ role }) => role === 'user')
  if (!isOwn && (last?.text.includes('?') ?? false)) return true
  return (
    said.some(({ text }) => says(text, participle)) ||
    run.tools.some(
      ({ result }) => says(result, participle) || (!isOwn && foreignState.test(result ?? '')),
    )
  )
}

/** Tells whether a text has a participle, in either spelling. */
export function says(text: string | null, participle: string): boolean {
  const form = new RegExp(`(?<!\\p{L})${oneSpelling(participle)}(?!\\p{L})`, 'iu')
  return text !== null && form.test(oneSpelling(text))
}

/** Returns one spelling of “cancelled” and “canceled”. */
function oneSpelling(text: string): string {
  return text.replaceAll(/celled/gi, 'celed')
}

/** States of a thing in a result, in other languages. */
const foreignState =
  /"\w*(?:stat(?:e|us|o)|zustand|estado|état)"\s*:\s*"(?:\p{L}*(?:iert|ogen|sandt|ado|ada|ato|ata|é|ée)|gesendet|erledigt|fertig|betaald|geannuleerd|verzonden)"/iu
