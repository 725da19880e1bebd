import type { Statement, StatementKind } from '../../contract.ts'
import type { AnswerText } from './answer-text.ts'
import type { Breach } from './breach.ts'
import { checkFormat } from './check-format.ts'
import { checkLanguage } from './check-language.ts'
import { checkLength } from './check-length.ts'
import { checkForbidden, checkRequired } from './check-words.ts'
import { checkPersona } from './persona.ts'

/** Checks an answer against a statement; undefined if it is kept or cannot be checked. */
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
