import type { AnswerText } from './answer-text.ts'
import type { Breach } from './breach.ts'
import { checkFormat } from './check-format.ts'
import { checkPersona } from './check-persona.ts'
import { checkForbidden, checkRequired } from './check-words.ts'
import type { Statement, StatementKind } from './ledger.ts'

/** Checks one answer against one statement; undefined when it keeps it or nobody can tell. */
export function checkAnswer(rule: Statement, answer: AnswerText): Breach | undefined {
  return checks[rule.kind]?.(rule, answer)
}

const checks: Partial<
  Record<StatementKind, (rule: Statement, answer: AnswerText) => Breach | undefined>
> = {
  language: checkLanguage,
  format: checkFormat,
  length: checkLength,
  forbidden: checkForbidden,
  required: checkRequired,
  persona: checkPersona,
}

function checkLanguage({ value }: Statement, { language }: AnswerText): Breach | undefined {
  if (language === undefined || language === value) return undefined
  return { violation: `The answer is in "${language}", not in "${value}".`, confidence: 0.9 }
}

/** What a writer may be over a bound before it counts: people and models count words differently. */
const slack: Record<string, number> = { words: 0.1, characters: 0.05 }

function checkLength({ slot, value }: Statement, answer: AnswerText): Breach | undefined {
  const unit = slot.slice('length:'.length)
  const limit = Number(value)
  const length = lengthIn(unit, answer)
  if (length === undefined || length <= limit + Math.floor(limit * (slack[unit] ?? 0))) {
    return undefined
  }
  const beyond = length / limit
  return {
    violation: `The answer has ${length} ${unit}, more than ${limit}.`,
    confidence: beyond >= 1.5 ? 0.9 : beyond >= 1.2 ? 0.8 : 0.7,
  }
}

function lengthIn(unit: string, answer: AnswerText): number | undefined {
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
