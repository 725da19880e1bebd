import { isDemand, isDirective, isQuestion, removeGreetings } from './mood.ts'

/**
 * Tells whether a sentence of a user only limits or forbids a form, with its reason, and asks for nothing
 * else: "no more than 30 words please, I read on a watch". Such a rule lasts, while one within a request
 * ("explain it in 30 words") is for its answer.
 */
export function isStandalone(text: string): boolean {
  // A rule may follow its header: "here it is again: no bullets".
  const [head = '', ...rest] = text.split(/[:：]\s/)
  const isHeader = rest.length > 0 && !restricts.test(head) && !task.test(head)
  if (rest.length > 0 && !isHeader) return false
  const bare = removeGreetings(isHeader ? rest.join(', ') : text)
  if (!restricts.test(bare) || isQuestion(bare) || /[?？]/.test(text) || task.test(bare))
    return false
  return bare
    .split(parts)
    .some((part) => (isDirective(part) || isDemand(part)) && !ofThird.test(part.trim()))
}

const parts = /[,;:(&]|(?<!\p{L})(?:so|and|but|because|then)(?!\p{L})|\s[–—-]+\s/iu
/** A part with a subject of its own: "in the monastery …", "never uses names". */
const ofThird =
  /^(?:(?:in|at|on) (?:the|my|our|his|her|their|this|that|most|some)|(?:never|always|only) \p{L}{2,}s)(?!\p{L})/iu
const restricts =
  /(?<!\p{L})(?:no|not|never|don'?t|do not|can'?t|cannot|without|w\/o|zero|nothing|none|stop|avoid|skip|drop|ditch|lose|quit|only|max(?:imum)?|at most|up to|within|under|below|cap|limit|keep|stick|tops|less|fewer|shorter|more than|longer than|over|above|must|off|out|dropped|stopped|skipped|avoided|all (?:i|we|my)|enough|plenty|as much|ohne|keine?[nrm]?|nicht|nur|höchstens|maximal|sin|nada de|no|máximo|solo|sólo|sans|pas|maximum|seulement)(?!\p{L})|不|别|勿|禁|最多|以内|以下|だけ|のみ|ない|まで|なし/iu
/** Words of a request for one answer, and of its subject. */
const task =
  /(?<!\p{L})(?:tell me|explain|describe|rewrite|rephrase|reword|translate|summari[sz]e|compare|convert|define|draft|compose|continue|correct|proofread|shorten|settle|name (?:a|an|the|some|two|three)|list (?:the|some|all)|give me (?:an?|the|some|two|three|five|ten)|(?:write|make|do|say|put|end|start|begin|finish|redo|try) (?:it|that|this|them|one|an?)|same (?:for|with|again)|in (?:your|the) (?:whole |entire )?(?:response|answer|reply)|(?:recipe|poem|story|letter|speech|headline|haiku|limerick|song|essay|summary|list|email|mail|text|message|note|plan) (?:for|about|of|to|on)|about (?:the|a|an|my)|as an? \p{L}+|übersetze?|erkläre?|beschreib\p{L}*|schreib\p{L}*|explique[zr]?|traduis|résume|écris|explica|traduce|resume|escribe|dime|sag mir|dis-moi)(?!\p{L})|説明|翻訳|书写|写一|解释|翻译/iu
