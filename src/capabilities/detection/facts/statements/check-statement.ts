import type { Statement, StatementKind } from '../../contract.ts'
import type { AnswerText } from './checks/answer-text.ts'
import type { Breach } from './checks/breach.ts'
import { checkFormat } from './checks/check-format.ts'
import { checkLanguage } from './checks/check-language.ts'
import { checkLength } from './checks/check-length.ts'
import { checkTopic } from './checks/check-topic.ts'
import { checkForbidden, checkRequired } from './checks/check-words.ts'
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
  topic: checkTopic,
}
