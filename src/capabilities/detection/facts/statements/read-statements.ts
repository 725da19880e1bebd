import { quote_chars_max, type Statement } from '../../contract.ts'
import type { Message } from '../../reconstruction/index.ts'
import { proseOf, sentencesOf } from '../prose.ts'
import { remember } from '../remember.ts'
import { readFormat } from './format.ts'
import { readInstruction } from './instruction.ts'
import { readLanguage } from './language.ts'
import { readLength } from './length.ts'
import { readPersona } from './persona.ts'
import { readFacts } from './values.ts'
import { readForbidden, readRequired, readTools } from './words.ts'

/** Checkable statements of a system or user message. */
type MessageStatements = {
  statements: readonly Statement[]
  /** Sentences that lift earlier rules: "you can use emojis again". */
  releases: readonly string[]
}

/**
 * Reads the statements of a system or user message, once per message; other roles state nothing.
 */
export const readStatements: (message: Message) => MessageStatements = remember(readMessage)

const noStatements: MessageStatements = { statements: [], releases: [] }
const statements_max = 60
/** Longer user messages are documents, whose sentences are not instructions. */
const maxUserMessageChars = 6_000
/** Longer texts are policies, whose numbers apply to single cases. */
const facts_chars_max = { system: 1_500, user: 4_000 }

const readers = [
  readLanguage,
  readFormat,
  readLength,
  readForbidden,
  readRequired,
  readTools,
] as const

function readMessage({ role, text, is_harness = false }: Message): MessageStatements {
  if ((role !== 'system' && role !== 'user') || is_harness) return noStatements
  if (role === 'user' && (text.length > maxUserMessageChars || isToolOutput(text)))
    return noStatements
  const sentences = sentencesOf(proseOf(text))
  const statements: Statement[] = []
  const releases: string[] = []
  for (const sentence of sentences) {
    if (role === 'user' && release.test(sentence)) releases.push(sentence.toLowerCase())
    else statements.push(...readRules(sentence, role))
    if (text.length <= facts_chars_max[role]) statements.push(...readFacts(sentence))
    if (statements.length >= statements_max) break
  }
  return { statements: statements.slice(0, statements_max).map(cutQuote), releases }
}

/** Recognises tool output: agents without tool calls in their format send it as a user message. */
function isToolOutput(text: string): boolean {
  return /^\s*(?:[<[{]|observation\b|output\b|result\b|tool\b|stdout|stderr|\$ |traceback|error:)/i.test(
    text.slice(0, 40),
  )
}

const release =
  /\b(?:(?:you|u) (?:can|may|could)(?: now| again)? (?:use|say|write|answer|mention|go|stop|drop|ignore)|feel free|it(?:'s| is) (?:ok|okay|fine|alright) (?:to|now|again|if)|no longer|no need|don't need|do not need|don't have to|do not have to|needn't|stop (?:answering|replying|responding|using|writing|ending|starting|adding)|forget (?:about )?(?:the|that|my|what)|ignore (?:the|that|my)|drop (?:the|that)|lift the|not? anymore|any ?more|instead of|back to normal)\b/i

function readRules(sentence: string, role: 'system' | 'user'): Statement[] {
  const persona = role === 'system' ? readPersona(sentence) : []
  const instruction = readInstruction(sentence)
  if (instruction === undefined) return persona
  const read = readers.flatMap((reader) => reader(instruction))
  // System rules apply to the whole conversation; questions state nothing.
  if (role === 'system')
    return [...persona, ...read.map((s) => ({ ...s, holds: 'always' as const }))]
  return sentence.trim().endsWith('?') && !/^(?:can|could|would|will) you\b/i.test(sentence)
    ? []
    : read
}

function cutQuote(statement: Statement): Statement {
  return { ...statement, quote: statement.quote.slice(0, quote_chars_max) }
}
