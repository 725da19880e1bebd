import type { Statement } from '../../contract.ts'
import type { AnswerText } from './answer-text.ts'
import type { Breach, Instruction } from './instruction.ts'

/** Reads the required form of answers: JSON, plain text, bullets, no emoji, one letter case. */
export function readFormat({ sentence, body, is_lasting }: Instruction): Statement[] {
  if (aboutSomethingElse.test(sentence)) return []
  const found: Statement[] = []
  for (const { pattern, slot, value } of forms) {
    if (!pattern.test(body)) continue
    const strict =
      value === 'json' && /\b(?:only|exclusively|nothing (?:else|but)|no other|raw)\b/i.test(body)
    const holds = is_lasting ? 'always' : 'turn'
    found.push({
      kind: 'format',
      slot,
      value: strict ? 'json_only' : value,
      holds,
      quote: sentence,
    })
    break
  }
  return found
}

/**
 * Rules about an agent's work (files, commits, arguments, reasoning) do not apply to its answers.
 */
const aboutSomethingElse =
  /\b(?:commits?|docstrings?|files?|functions?|arguments?|parameters?|fields?|tools?|tool calls?|code|comments?|scripts?|titles?|subjects?|variables?|thoughts?|reasoning|plan|readme|tests?|api|endpoint|database|query|input)\b/i

const say =
  '(?:answer|reply|respond|output|return|write|format|give|provide|produce|use|keep|present|structure|speak)(?: (?:me|us|only|exclusively|always|strictly|to (?:me|us|the user|users|every \\p{L}+|all \\p{L}+)|your (?:whole )?(?:answers?|repl(?:y|ies)|responses?|output)|all (?:your )?(?:answers|replies|responses)|every (?:answer|reply|response|message)|everything|it|them|things)){0,4}'
const be =
  '(?:all|every|each|your|the)(?: (?:of your|your))?(?: (?:entire|whole))? (?:answers?|repl(?:y|ies)|responses?|messages?|output) (?:must|should|has to|have to|needs? to|is to|are to|shall|will)(?: (?:always|only))? be(?: (?:given|written|formatted|returned))?'
const no =
  "(?:do not|don't|never|no|avoid|without|stop)(?: (?:ever|use|using|write|writing|put|include|including|add|adding|any)){0,3}"

const rule = (source: string) => new RegExp(source, 'iu')

const forms: readonly { pattern: RegExp; slot: string; value: string }[] = [
  {
    pattern: rule(
      `^(?:only )?(?:${say}|${be})(?: (?:only|with|in|as|using|exclusively|a|an|single|one|valid|raw|strict|well-formed|pure)){0,5} json\\b(?! schema)`,
    ),
    slot: 'shape',
    value: 'json',
  },
  { pattern: /^(?:valid |raw )?json only\b/i, slot: 'shape', value: 'json' },
  { pattern: rule(`^${no} (?:markdown|formatting)\\b`), slot: 'shape', value: 'plain' },
  {
    pattern: rule(
      `^(?:${say}|${be})(?: (?:only|with|in|as|using)){0,3} (?:plain|unformatted) text\\b`,
    ),
    slot: 'shape',
    value: 'plain',
  },
  { pattern: /^plain text only\b/i, slot: 'shape', value: 'plain' },
  {
    pattern: rule(`^${no} (?:bullet(?:ed)?(?: points?| lists?|s)?|bullets|lists?)\\b`),
    slot: 'bullets',
    value: 'no_bullets',
  },
  {
    pattern: rule(
      `^(?:${say}|${be})(?: (?:only|with|in|as|using|a|short|brief)){0,4} (?:bullet(?:ed)?(?: points?| lists?|s)|bullets|numbered (?:list|points?))\\b`,
    ),
    slot: 'bullets',
    value: 'bullets',
  },
  {
    pattern: rule(
      `^(?:${say}|${be})(?: (?:only|with|in|as|using|a|an|markdown|html)){0,4} tables?\\b`,
    ),
    slot: 'shape',
    value: 'table',
  },
  { pattern: rule(`^${no} emojis?\\b`), slot: 'emoji', value: 'none' },
  {
    pattern: rule(`^${no} exclamation (?:marks?|points?)\\b`),
    slot: 'exclamation',
    value: 'none',
  },
  {
    pattern: rule(
      `^(?:${say}|${be})(?: (?:only|with|in|as|using|all|entirely|exclusively)){0,4} (?:lower ?case|lower-case|small letters)\\b`,
    ),
    slot: 'case',
    value: 'lower',
  },
  {
    pattern: rule(
      `^(?:${say}|${be})(?: (?:only|with|in|as|using|all|entirely|exclusively)){0,4} (?:upper ?case|upper-case|capital letters|caps|all[ -]caps|capitals)\\b`,
    ),
    slot: 'case',
    value: 'upper',
  },
  {
    pattern: rule(
      `^(?:${say})(?: (?:only|just|simply|with|either|a)){0,4} ["']?yes["']? or ["']?no\\b`,
    ),
    slot: 'shape',
    value: 'yes_no',
  },
  {
    pattern: /\b(?:dates?)\b.{0,40}\b(?:iso(?: ?8601)?|yyyy-mm-dd)\b/i,
    slot: 'dates',
    value: 'iso',
  },
  {
    pattern:
      /^(?:only )?(?:use|give|state|report|express)(?: \p{L}+){0,4} metric(?: units| system)?\b/iu,
    slot: 'units',
    value: 'metric',
  },
]

/** Checks the form of an answer. A very short answer satisfies every rule. */
export function checkFormat({ slot, value }: Statement, answer: AnswerText): Breach | undefined {
  const check = Object.hasOwn(checks, value) ? checks[value as 'json'] : undefined
  return check?.(answer) ?? checkLetters({ slot, value }, answer)
}

const short_words_max = 8

const checks: Record<string, (answer: AnswerText) => Breach | undefined> = {
  json: ({ is_json, has_json }) =>
    is_json || has_json ? undefined : toBreach('The answer is not JSON.', 0.95),
  json_only: ({ is_json, has_json }) => {
    if (is_json) return undefined
    return has_json
      ? toBreach('The answer has text besides its JSON.', 0.75)
      : toBreach('The answer is not JSON.', 0.95)
  },
  plain: ({ text, bullets }) => {
    const mark = markdown.find(({ pattern }) => pattern.test(text))?.name
    if (mark !== undefined) return toBreach(`The answer has ${mark} in Markdown.`, 0.9)
    return bullets >= 3 && /^\s*[-*] /m.test(text)
      ? toBreach('The answer has a Markdown list.', 0.7)
      : undefined
  },
  bullets: ({ bullets, words }) =>
    bullets > 0 || words <= short_words_max ? undefined : toBreach('The answer has no list.', 0.85),
  table: ({ text, words }) =>
    words <= short_words_max || /^\s*\|.*\|\s*$/m.test(text) || /<t[rd]\b/i.test(text)
      ? undefined
      : toBreach('The answer has no table.', 0.85),
  no_bullets: ({ bullets }) =>
    bullets >= 2 ? toBreach(`The answer has a list of ${bullets} points.`, 0.9) : undefined,
  yes_no: ({ text }) =>
    /^\W{0,3}(?:yes|no)\W{0,3}$/i.test(text.trim())
      ? undefined
      : toBreach('The answer is more than "yes" or "no".', 0.85),
  iso: ({ voice }) => {
    const found = otherDate.exec(voice)?.[0]
    return found === undefined
      ? undefined
      : toBreach(`The answer writes the date "${found}".`, 0.85)
  },
  metric: ({ voice }) => {
    const found = imperial.exec(voice)?.[0]
    return found === undefined ? undefined : toBreach(`The answer gives "${found}".`, 0.8)
  },
}

function checkLetters(
  { slot, value }: Pick<Statement, 'slot' | 'value'>,
  { voice, prose }: AnswerText,
): Breach | undefined {
  if (slot === 'emoji') {
    const emoji = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F/u.exec(prose)?.[0]
    return emoji === undefined ? undefined : toBreach(`The answer has the emoji ${emoji}.`, 0.95)
  }
  if (slot === 'exclamation') {
    return /[\p{L}\d]!(?:\s|$|")/u.test(voice)
      ? toBreach('The answer has an exclamation mark.', 0.9)
      : undefined
  }
  if (slot !== 'case') return undefined
  const upper = voice.match(/\p{Lu}/gu)?.length ?? 0
  const lower = voice.match(/\p{Ll}/gu)?.length ?? 0
  const wrong = value === 'lower' ? upper : lower
  return wrong >= 3 && wrong / Math.max(1, upper + lower) > 0.02
    ? toBreach(`The answer has ${wrong} letters that are not ${value} case.`, 0.9)
    : undefined
}

const markdown: readonly { name: string; pattern: RegExp }[] = [
  { name: 'a heading', pattern: /^#{1,6} \S/m },
  { name: 'bold text', pattern: /\*\*[^*\n]{1,200}\*\*/ },
  { name: 'a code fence', pattern: /^```/m },
  { name: 'a table', pattern: /^\|[^\n]{1,400}\|\s*$/m },
]

const otherDate =
  /\b(?:\d{1,2}[/.]\d{1,2}[/.]\d{4}|(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}(?:st|nd|rd|th)?(?:, \d{4})?)\b/
const imperial =
  /\b\d[\d,.]{0,12} ?(?:miles?|feet|foot|inch(?:es)?|pounds?|lbs?|yards?|ounces?|gallons?|°F|degrees Fahrenheit)\b/i

function toBreach(violation: string, confidence: number): Breach {
  return { violation, confidence }
}
