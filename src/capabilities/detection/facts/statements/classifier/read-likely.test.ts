import { describe, expect, test } from 'vitest'
import type { Message } from '../../../reconstruction/index.ts'
import { readStatements } from '../read-statements.ts'
import { classes } from './kind-weights.ts'
import { likelyKinds } from './read-likely.ts'

/** Rules of a message that the classifier read, as `slot=value`; those for one answer begin with `once`. */
function likelyOf(role: 'system' | 'user', text: string): string[] {
  const { statements } = readStatements({ role, text } as Message)
  return statements.flatMap(({ slot, value, holds, is_likely }) =>
    is_likely ? `${holds === 'always' ? '' : 'once '}${slot}=${value}` : [],
  )
}

test.each([
  ['system', 'Asterisks for bold come out as noise in the screen reader.', 'bold=none'],
  ['system', 'A second text message is billed beyond 160 characters.', 'length:characters=..160'],
  ['user', 'Tables fall apart on my phone.', 'table=none'],
  [
    'system',
    'The speech engine reads hash signs aloud, so headings are a nuisance.',
    'heading=none',
  ],
  // The readers know its topic, but not that it asks the assistant.
  ['user', "I can't stand the letter z, so no word you give me may contain it.", 'letter:z=none'],
] as const)('a rule in a wording that no reader knows, of %s: %s', (role, text, rule) => {
  expect(likelyOf(role, text)).toEqual([rule])
})

describe('no rule', () => {
  test.each([
    ['user', 'What is the tallest tower in Lisbon?'],
    ['user', 'The novel has forty chapters and no dialogue.'],
    ['user', 'Emojis were invented in Japan, in the nineties.'],
    ['system', 'Refunds take five days.'],
    ['user', 'You can use tables again, they fall apart no longer.'],
  ] as const)('of %s: %s', (role, text) => {
    expect(likelyOf(role, text)).toEqual([])
  })

  test('in a known wording that asks others', () => {
    expect(likelyOf('system', 'Posts of users must not contain links or emojis.')).toEqual([])
  })

  test('without what it limits: a length needs one number', () => {
    expect(likelyOf('system', 'A second text message is billed beyond some characters.')).toEqual(
      [],
    )
    expect(
      likelyOf('system', 'A second text message is billed beyond 160 or 170 characters.'),
    ).toEqual([])
  })

  test('for cases that its words do not show', () => {
    expect(likelyOf('system', 'When the moon is full, tables fall apart on our phones.')).toEqual(
      [],
    )
  })
})

test.each([
  'Tables fall apart on my phone. Please never use tables.',
  'Please never use tables. Tables fall apart on my phone.',
])('a rule in a known wording is not only likely: %s', (text) => {
  const { statements } = readStatements({ role: 'user', text } as Message)
  expect(statements.filter(({ slot }) => slot === 'table')).toEqual([
    expect.not.objectContaining({ is_likely: true }),
  ])
})

test('each kind of the classifier is read', () => {
  expect([...likelyKinds, 'none'].sort()).toEqual(classes.split(' ').sort())
})

test('a long text without spaces is read in linear time', () => {
  const text = `${'‹tables›'.repeat(2_000)} fall apart`
  expect(likelyOf('user', text)).toEqual([])
})
