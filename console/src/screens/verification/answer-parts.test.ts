import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findAnswer, splitAnswer } from './answer-parts.ts'

/** Characters of one and two UTF-16 units, and a half of a pair. */
const character = fc.constantFrom('a', 'é', '👍', '\ud83d')

const answer = 'The amount is $5. You paid it 👍 already.'
const claimOf = (start: number, end: number, text = answer) => ({
  claim_id: `${start}-${end}`,
  text: text.slice(start, end),
  at: [start, end],
})

test('the parts are the answer, and each claim is at its place', () => {
  const claims = fc.array(
    fc.tuple(fc.nat(60), fc.nat(60)).map(([start, end]) => claimOf(start, end)),
    { maxLength: 8 },
  )
  fc.assert(
    fc.property(fc.string({ maxLength: 50, unit: character }), claims, (text, all) => {
      const parts = splitAnswer(text, all)
      expect(parts.map((part) => part.text).join('')).toBe(text)
      for (const { claim, text: own } of parts) {
        if (claim !== undefined) expect(text.slice(claim.at[0], claim.at[1])).toBe(own)
      }
      expect(new Set(parts.map(({ key, claim }) => `${claim !== undefined} ${key}`)).size).toBe(
        parts.length,
      )
    }),
  )
})

test('claims that do not overlap are all marked', () => {
  const parts = splitAnswer(answer, [claimOf(18, answer.length), claimOf(0, 17)])
  expect(parts.map(({ claim }) => claim?.claim_id)).toEqual([
    '0-17',
    undefined,
    `18-${answer.length}`,
  ])
})

test('finds the answer in a text, in messages, and nowhere else', () => {
  const claims = [claimOf(0, 17)]
  const message = JSON.stringify([{ role: 'assistant', content: [{ type: 'text', text: answer }] }])
  expect(findAnswer(answer, answer.length, claims)).toBe(answer)
  expect(findAnswer(message, answer.length, claims)).toBe(answer)
  expect(findAnswer(answer, answer.length, [claimOf(0, 5, 'Other')])).toBeUndefined()
  expect(findAnswer(`${answer} `, answer.length, claims)).toBeUndefined()
  expect(findAnswer('', 3, [])).toBeUndefined()
})
