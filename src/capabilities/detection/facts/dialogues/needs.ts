import type { Severity } from '../../contract.ts'
import type { Message, TaskRun, ToolUse } from '../../reconstruction/index.ts'

/** A call against what the user had asked for. */
export type LostNeed = {
  said: Message
  quote: string
  violation: string
  severity: Severity
  /** Tells whether a text forbids the same: then it is a witness of medium severity. */
  isIn?: (text: string) => boolean
}

/** A call of a dialogue, and what was said before it. */
export type CallInDialogue = { run: TaskRun; use: ToolUse; before: readonly Message[] }

/** Tells whether a sentence of the user says what they need or want. */
export function isWish(sentence: string): boolean {
  return isStrict(sentence) || wishing.test(sentence)
}

/** Tells whether a sentence says what has to be so. */
export function isStrict(sentence: string): boolean {
  return strict.test(sentence)
}

/** Tells whether a sentence is a question, a preference or a report of the past, and so no need. */
export function isHedged(sentence: string): boolean {
  return hedging.test(sentence)
}

const hedging =
  /\?$|\b(?:if|or|nice|ideally|prefer\w*|rather|possible|no need|need no|don't (?:need|mind|care)|not? necessarily|isn't|wasn't|last|about|around|was|were|friend|oder|vielleicht|am liebsten|de préférence)\b/i
const strict =
  /\b(?:must\w*|only|never|allerg\w+|can.t|cannot|need\w*|has to|have to|absolutely|not more|no more|at most|maximum|don.t|without|insist|require\w*|muss|nur|kann|höchstens|kein\w*|ohne|seulement|sans|il faut|solo|sin|debe)\b/i
const wishing =
  /(?<!\p{L})(?:please|pls|(?:i|we)(?:'m|'re| am| are| want|'d like| would like)|it's for|bitte|brauch\p{L}+|benötig\p{L}+|möcht\p{L}+|hätte[nr]? gern\p{L}*|s'il vous|j'ai besoin|nous avons besoin|il (?:me|nous) faut|je voudrais|por favor|necesit\p{L}+|quier\p{L}+|quisier\p{L}+)(?!\p{L})/iu
