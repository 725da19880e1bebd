import type { Statement } from '../../contract.ts'
import type { AnswerText } from './answer-text.ts'
import type { Breach, Instruction } from './instruction.ts'

/** Reads an upper limit on the length of answers; the value is the count. */
export function readLength({ sentence, body, is_lasting }: Instruction): Statement[] {
  if (!aboutAnswers.test(body) || aboutSomethingElse.test(sentence)) return []
  for (const pattern of lengthPatterns) {
    const groups = pattern.exec(body)?.groups
    const count = numberOf(groups?.['n'] ?? '')
    const unit = unitOf(groups?.['unit'] ?? '')
    if (count === undefined || unit === undefined) continue
    const below = /\b(?:fewer|less|under|below|shorter)\b/i.test(groups?.['how'] ?? '') ? 1 : 0
    return [
      {
        kind: 'length',
        slot: `length:${unit}`,
        value: String(Math.max(1, count - below)),
        holds: is_lasting ? 'always' : 'turn',
        quote: sentence,
      },
    ]
  }
  return []
}

const aboutAnswers =
  /\b(?:answers?|repl(?:y|ies)|respon(?:d|ses?)|messages?|output|keep (?:it|them|your|everything|all)|be (?:brief|concise)|stay (?:under|below|within)|write|summari[sz]e|describe|explain|say it|limit|antworte|antworten|antwort|schreibe?|fasse dich)\b/i
const aboutSomethingElse =
  /\b(?:commit|docstrings?|files?|functions?|arguments?|parameters?|fields?|tools?|code|comments?|scripts?|titles?|subject|headline|variables?|thoughts?|reasoning|plan|test|query|queries|input|product|per (?:section|item|bullet|point|paragraph|line)|each (?:section|item|bullet|point|paragraph|line|sentence)|at least|minimum|story|essay|poem|article|email|e-mail|bio|slogan)\b/i

const n =
  '(?<n>\\d{1,5}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|a hundred|one hundred|eine[mnr]?|zwei|drei|vier|fünf|zehn)'
const unit =
  '(?:short |single |full |simple |complete |plain )?(?<unit>words?|sentences?|characters?|chars|lines?|paragraphs?|bullets?|bullet points?|wörtern?|sätzen?|satz|zeichen|zeilen?|absätzen?)'
const lengthPatterns: readonly RegExp[] = [
  new RegExp(
    `(?<how>at most|höchstens|maximal|nicht mehr als|no more than|not more than|never more than|max(?:imum)?(?: of)?|a maximum of|up to|under|below|fewer than|less than|shorter than|within|not exceed|never exceed|not (?:be )?longer than|no longer than|never longer than|limit(?:ed)?(?: \\p{L}+){0,4} to)(?: a maximum of)? ${n}[ -]${unit}\\b`,
    'iu',
  ),
  new RegExp(`\\b(?<how>in)(?: exactly| only| just)? ${n}[ -]${unit}\\b`, 'iu'),
  new RegExp(`\\b${n} ${unit} (?:or (?<how>less|fewer)|at most|max(?:imum)?|tops)\\b`, 'iu'),
  new RegExp(
    `\\b(?<how>with|using|use)(?: exactly| only| just| a single){1,2} ${n}[ -]${unit}\\b`,
    'iu',
  ),
  new RegExp(`\\b(?<how>to) ${n} ${unit}\\b`, 'iu'),
]

const numbers: Record<string, number> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  twelve: 12,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  ein: 1,
  eine: 1,
  einem: 1,
  einen: 1,
  einer: 1,
  zwei: 2,
  drei: 3,
  vier: 4,
  fünf: 5,
  zehn: 10,
  'a hundred': 100,
  'one hundred': 100,
}

function numberOf(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text)
  const low = text.toLowerCase()
  return Object.hasOwn(numbers, low) ? numbers[low] : undefined
}

const units: readonly (readonly [start: string, unit: string])[] = [
  ['word', 'words'],
  ['sentence', 'sentences'],
  ['char', 'characters'],
  ['line', 'lines'],
  ['paragraph', 'paragraphs'],
  ['bullet', 'bullets'],
  ['wört', 'words'],
  ['sätz', 'sentences'],
  ['satz', 'sentences'],
  ['zeichen', 'characters'],
  ['zeile', 'lines'],
  ['absätz', 'paragraphs'],
]

function unitOf(text: string): string | undefined {
  return units.find(([start]) => text.toLowerCase().startsWith(start))?.[1]
}

/** Tolerance above a limit, because people and models count words differently. */
const slack: Record<string, number> = { words: 0.1, characters: 0.05 }

/** Checks the length of an answer, with a tolerance. */
export function checkLength({ slot, value }: Statement, answer: AnswerText): Breach | undefined {
  const unit = slot.slice('length:'.length)
  const limit = Number(value)
  const length = measureLength(unit, answer)
  if (length === undefined || length <= limit + Math.floor(limit * (slack[unit] ?? 0))) {
    return undefined
  }
  const beyond = length / limit
  return {
    violation: `The answer has ${length} ${unit}, more than ${limit}.`,
    confidence: beyond >= 1.5 ? 0.9 : beyond >= 1.2 ? 0.8 : 0.7,
  }
}

function measureLength(unit: string, answer: AnswerText): number | undefined {
  switch (unit) {
    case 'words':
      return answer.words
    case 'sentences':
      return answer.sentences
    case 'characters':
      return answer.prose.trim().length
    case 'lines':
      return answer.lines
    case 'paragraphs':
      return answer.paragraphs
    case 'bullets':
      return answer.bullets
    default:
      return undefined
  }
}
