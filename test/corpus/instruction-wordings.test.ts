import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readStatements } from '../../src/capabilities/detection/facts/statements/read-statements.ts'
import type { Message } from '../../src/capabilities/detection/reconstruction/index.ts'

/** Wordings of instructions, below the rule that each of them means: `# slot=value`. */
const wordings = readFileSync('test/corpus/instruction-wordings.txt', 'utf8')
  .split('\n# ')
  .map((part) => part.replace(/^# /, '').trim().split('\n'))

/** A system text in prose, and one with a list. */
const frames: readonly ((wording: string) => string)[] = [
  (wording) => `You are a helpful assistant for a small shop. ${wording}`,
  (wording) => `House rules\n- Be friendly.\n- ${wording.replace(/\.$/, '')}\n- Stay polite.`,
]

test.each(wordings.map(([rule = '', ...texts]) => ({ rule, texts })))(
  '$rule',
  ({ rule, texts }) => {
    const unread = texts.flatMap((text) =>
      frames.map((frame) => frame(text)).filter((said) => !rulesOf(said).includes(rule)),
    )
    expect(unread).toEqual([])
  },
)

function rulesOf(text: string): string[] {
  const { statements } = readStatements({ role: 'system', text } as Message)
  // "One sentence" is at most one, or exactly one.
  return statements.map(({ slot, value }) => `${slot}=${value === '1..1' ? '..1' : value}`)
}
