import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Statement } from '../../src/capabilities/detection/contract.ts'
import { readStatements } from '../../src/capabilities/detection/facts/statements/read-statements.ts'
import type { Message } from '../../src/capabilities/detection/reconstruction/index.ts'

/** Reads wordings of instructions, below the rule that each of them means: `# slot=value`. */
function readWordings(file: string): { rule: string; texts: string[] }[] {
  const parts = readFileSync(`test/corpus/${file}`, 'utf8').split('\n# ')
  return parts.map((part) => {
    const [rule = '', ...texts] = part.replace(/^# /, '').trim().split('\n')
    return { rule, texts }
  })
}

/** A system text in prose, and one with a list. */
const systemTexts: readonly ((wording: string) => string)[] = [
  (wording) => `You are a helpful assistant for a small shop. ${wording}`,
  (wording) => `House rules\n- Be friendly.\n- ${wording.replace(/\.$/, '')}\n- Stay polite.`,
]

test.each(readWordings('instruction-wordings.txt'))('$rule', ({ rule, texts }) => {
  const unread = texts.flatMap((text) =>
    systemTexts
      .map((frame) => frame(text))
      .filter((said) => !rulesOf('system', said).includes(rule)),
  )
  expect(unread).toEqual([])
})

test.each(readWordings('user-wordings.txt'))('of a user, for all answers: $rule', (group) => {
  const { rule, texts } = group
  const unread = texts
    .flatMap((text) => [text, `${text} What is a wok?`])
    .filter((said) => !rulesOf('user', said, ({ holds }) => holds === 'always').includes(rule))
  expect(unread).toEqual([])
})

/** Texts that are no instructions, or those of others: `role: text`, with `\n` for a new line. */
const others = readFileSync('test/corpus/no-instructions.txt', 'utf8').trim().split('\n')

test.each(others)('no instruction: %s', (line) => {
  const role = line.startsWith('system: ') ? 'system' : 'user'
  const text = line.slice(`${role}: `.length).replaceAll('\\n', '\n')
  expect(rulesOf(role, text, ({ kind }) => kind !== 'fact' && kind !== 'persona')).toEqual([])
})

function rulesOf(
  role: 'system' | 'user',
  text: string,
  isMeant: (statement: Statement) => boolean = () => true,
): string[] {
  const { statements } = readStatements({ role, text } as Message)
  // "One sentence" is at most one, or exactly one.
  return statements
    .filter(isMeant)
    .map(({ slot, value }) => `${slot}=${value === '1..1' ? '..1' : value}`)
}
