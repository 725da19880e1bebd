import type { Statement } from '../../contract.ts'
import { mentions, ownVoiceOf, sentencesOf, wordsOf } from '../prose.ts'
import type { AnswerText } from './answer-text.ts'
import type { Breach, Instruction } from './instruction.ts'

const phrases_max = 8
const phrase_chars_max = 120

/** Reads words forbidden in answers: "never use the word "cheap"". */
export function readForbidden({ sentence, body, is_lasting }: Instruction): Statement[] {
  const opened = ban.exec(body)
  if (opened === null) return []
  const rest = body.slice(opened[0].length)
  return readBanned(rest, opened[0]).map((value) => ({
    kind: 'forbidden' as const,
    slot: `forbidden:${value.toLowerCase()}`,
    value,
    holds: is_lasting ? ('always' as const) : ('turn' as const),
    quote: sentence,
  }))
}

const ban =
  /^(?:you )?(?:(?:do not|don't|must not|mustn't|may not|should not|shouldn't|cannot|can not|can't|shall not|are not allowed to|are never to|never|refrain from|avoid)(?: (?:ever|at any time|under any circumstances))?,? (?:say|saying|use|using|mention|mentioning|utter|write|writing|include|including|refer to|referring to|name|naming|call (?:it|them|us|anything)|speak of|talk about|talking about|bring up)|(?:verwende|benutze|benutz|sag|sage|schreib|schreibe|nutze|erwähne)(?:n sie)? (?:bitte )?(?:niemals|nie|nicht)|ban(?:ned)? (?:words?|phrases?|terms?)(?: are| is)?:?|forbidden (?:words?|phrases?|terms?)(?: are| is)?:?)(?: (?:of|anywhere|in (?:your|any|an) (?:answers?|repl(?:y|ies)|responses?))){0,2}/i

function readBanned(rest: string, opened: string): string[] {
  const quoted = readQuoted(rest)
  if (quoted.length > 0) {
    // "Use" can refer to things; only "say" always refers to words.
    const isWord = namesWord.test(rest) || !usesOnly.test(opened)
    return isCodeLike(rest) || !isWord ? [] : quoted.filter((phrase) => /\p{L}/u.test(phrase))
  }
  const word =
    /^:? ?(?:the|any of the)? ?(?:words?|terms?|phrases?|names?|brands?|(?:das )?wort|(?:den )?namen)(?: of)?:? (.{1,120})/i.exec(
      rest,
    )
  if (word !== null) return readList(word[1] ?? '')
  if (/forbidden|banned/i.test(opened)) return readList(rest)
  if (!/mention|refer|name|talk|bring up|speak/i.test(opened)) return []
  const named =
    /^ (?:(?:our|the|any|a) )?(?:(?:competitors?|rivals?|company|product|project|brand|customer)s?,? )?(\p{Lu}[\p{L}\p{N}-]{2,30}(?: \p{Lu}[\p{L}\p{N}-]{2,30}){0,2})(?=[\s.,;!?]|$)/u.exec(
      rest,
    )
  return named?.[1] === undefined ? [] : [named[1]]
}

const usesOnly = /\b(?:use|using|include|including|verwende|benutze?|nutze)\b/i
const namesWord =
  /^:?.{0,40}\b(?:words?|terms?|phrases?|expressions?|names?|wort|wörter|begriff)\b/i

/** Tells whether a rule is about code, where the word is not a violation. */
function isCodeLike(rest: string): boolean {
  return /\b(?:functions?|librar(?:y|ies)|modules?|commands?|keywords?|operators?|flags?|types?|tools?|imports?|packages?|variables?|loops?|statements?|commits?|files?|code|comments?|titles?|docs?)\b/i.test(
    rest,
  )
}

/**
 * Returns the words of an unquoted list: "cheap, free or discount"; empty for a list of sentences.
 */
function readList(text: string): string[] {
  const parts = text
    .replace(/[.!?;].*$/s, '')
    .split(/,| or | and |\//i)
    .map((part) => part.replace(/^\s*(?:or|and|the|words?)\s+/i, '').trim())
    .filter((part) => part !== '')
  const clean = parts.map((part) =>
    part.replace(/\s+(?:in|anywhere|at all|to|with|when|again)\b.*$/i, ''),
  )
  const usable = clean.every(
    (part) => /^[\p{L}\p{N}' -]{2,40}$/u.test(part) && wordsOf(part).length <= 2,
  )
  return usable ? clean.slice(0, phrases_max) : []
}

/** Reads words required in every answer: "end every reply with "Best, Ada"". */
export function readRequired({ sentence, body, is_lasting }: Instruction): Statement[] {
  // Quoted words are the requirement, not the instruction.
  const voice = ownVoiceOf(sentence)
  if (!is_lasting || !lasting.test(voice) || aboutSomethingElse.test(voice)) return []
  const asked =
    /^(?:you )?(?:always )?(end|finish|close|conclude|sign off|sign|begin|start|open|prefix|include|mention|add|append|contain|say|put|use|write|state|greet)\b/i.exec(
      body,
    )
  const passive =
    /^(?:every|each|all|any|your)(?: (?:of your|single))?(?: (?:answers?|repl(?:y|ies)|responses?|messages?|emails?)) (?:must|should|has to|have to|needs? to|is to|are to|shall)? ?(?:always )?(end|finish|close|begin|start|open|include|mention|contain|ends|starts|begins|includes)\b/i.exec(
      body,
    )
  const verb = (asked ?? passive)?.[1]?.toLowerCase()
  if (verb === undefined || !aboutAnswers.test(voice)) return []
  const phrase =
    readQuoted(body)[0] ??
    /\b(?:with|phrase|words?|line|sentence|text|tag|signature|disclaimer)(?: the)?(?: (?:phrase|words?|line|sentence|text|tag))?: ?(.{2,120}?)[.]?$/i.exec(
      body,
    )?.[1]
  if (phrase === undefined || /[[\]{}<>]|\.\.\.|…/.test(phrase)) return []
  const where = placeOfVerb(verb, body)
  return [
    {
      kind: 'required',
      slot: `required:${where}${where === 'anywhere' ? `:${phrase.toLowerCase()}` : ''}`,
      value: phrase,
      holds: 'always',
      quote: sentence,
    },
  ]
}

const lasting = /\b(?:always|every|each|all|any|must|never)\b/i
const aboutSomethingElse =
  /\b(?:ask|asks|tool|function|file|commit|code|argument|field|parameter|prompt)s?\b/i
const aboutAnswers =
  /\b(?:answers?|repl(?:y|ies)|responses?|messages?|everything you (?:say|write)|always (?:end|finish|close|sign|start|begin|open|include|mention|add|append|greet))\b/i

function placeOfVerb(verb: string, body: string): 'start' | 'end' | 'anywhere' {
  if (/^(?:end|finish|close|conclude|sign|append)/.test(verb)) return 'end'
  if (/^(?:begin|start|open|prefix|greet)/.test(verb)) return 'start'
  if (/\bat the (?:very )?(?:end|bottom)\b/i.test(body)) return 'end'
  if (/\bat the (?:very )?(?:start|beginning|top)\b/i.test(body)) return 'start'
  return 'anywhere'
}

/** Returns the quoted phrases in order. An apostrophe inside a word is not a quote. */
function readQuoted(text: string): string[] {
  const found: string[] = []
  const pattern =
    /„([^“”\n]{1,120})[“”]|"([^"\n]{1,120})"|“([^”\n]{1,120})”|`([^`\n]{1,120})`|«([^»\n]{1,120})»|(?<![\p{L}\p{N}])['‘]([^'’\n]{1,120})['’](?![\p{L}\p{N}])/gu
  for (const match of text.matchAll(pattern)) {
    const phrase = match
      .slice(1)
      .find((group) => group !== undefined)
      ?.trim()
      .replace(/[,.]$/, '')
    if (phrase !== undefined && phrase !== '' && phrase.length <= phrase_chars_max)
      found.push(phrase)
    if (found.length >= phrases_max) break
  }
  return found
}

/**
 * Checks for a forbidden word; it is allowed in code, in quotes and where the answer declines to
 * use it.
 */
export function checkForbidden({ value }: Statement, { voice }: AnswerText): Breach | undefined {
  if (!mentions(voice, value)) return undefined
  const said = sentencesOf(voice).find(
    (sentence) => mentions(sentence, value) && !declines.test(sentence),
  )
  return said === undefined
    ? undefined
    : { violation: `The answer says "${value}": ${said.slice(0, 200)}`, confidence: 0.92 }
}

const declines =
  /\b(?:can(?:'t|not| not)|won't|will not|not allowed|unable|not able|am not|avoid|instead of|shouldn't|don't (?:use|say|mention|discuss)|do not (?:use|say|mention|discuss)|rather not|without (?:using|saying|mentioning)|never (?:use|say|mention)|the word|the term|the phrase)\b/i

/** Maximum distance of required words from the start or end, which allows for a signature. */
const margin_chars = 40

/** Checks for words required in every answer. */
export function checkRequired(
  { slot, value }: Statement,
  { text }: AnswerText,
): Breach | undefined {
  const wanted = plain(value)
  const said = plain(text)
  if (wanted === '' || said === '') return undefined
  const where = slot.split(':')[1]
  const at = where === 'end' ? said.lastIndexOf(wanted) : said.indexOf(wanted)
  if (at === -1) return { violation: `The answer lacks "${value}".`, confidence: 0.92 }
  const isOff =
    (where === 'end' && said.length - at - wanted.length > margin_chars) ||
    (where === 'start' && at > margin_chars)
  return isOff
    ? { violation: `"${value}" is not at the ${where} of the answer.`, confidence: 0.7 }
    : undefined
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[*_`"“”'‘’]/g, '')
    .replace(/\s+/g, ' ')
    .replace(/[.,!:;]+( |$)/g, '$1')
    .trim()
}

/** Reads forbidden tools: "never call delete_file". The value is the tool's name. */
export function readTools({ sentence, body, is_lasting }: Instruction): Statement[] {
  const value = toolPatterns
    .map((pattern) => pattern.exec(body)?.[1])
    .find((name) => name !== undefined)
  if (value === undefined) return []
  const holds = is_lasting ? 'always' : 'turn'
  return [{ kind: 'tool', slot: `tool:${value.toLowerCase()}`, value, holds, quote: sentence }]
}

const not =
  "(?:do not|don't|must not|mustn't|may not|should not|shouldn't|cannot|can't|never|are not allowed to|are never to|avoid)(?: ever)?"
const name = '[`"\'“]?([a-zA-Z][\\w.-]{1,63})[`"\'”]?'

const toolPatterns: readonly RegExp[] = [
  // A name with an underscore, a dot or quotes is an identifier, not an ordinary word.
  new RegExp(
    `^(?:you )?${not} (?:call|use|run|invoke|calling|using|running|execute) (?:the )?(?:tool |function )?[\`"'“]?([a-zA-Z]\\w*[_.-]\\w+)[\`"'”]?(?: tool| function)?(?: again)?(?=[\\s.,;!]|$)`,
    'i',
  ),
  new RegExp(
    `^(?:you )?${not} (?:call|use|run|invoke|calling|using|running|execute) (?:the )?(?:tool|function) ${name}(?=[\\s.,;!]|$)`,
    'i',
  ),
  new RegExp(
    `^(?:you )?${not} (?:call|use|run|invoke|calling|using|running|execute) (?:the )?${name} (?:tool|function)\\b`,
    'i',
  ),
]
