import { describe, expect, test } from 'vitest'
import {
  findAnnouncement,
  findRefusal,
  findSuccessClaims,
  splitSentences,
} from './answer-claims.ts'

describe('sentences', () => {
  test('are split, without code and quotations', () => {
    expect(splitSentences('Done. I ran:\n```\nfailed to run\n```\nIt’s “fine”!')).toEqual([
      'done.',
      'i ran:',
      "it's  !",
    ])
  })

  test('do not end at an abbreviation', () => {
    expect(splitSentences('It is in the U.S. store. Done.')).toHaveLength(2)
  })

  test('of a long text are read at both ends', () => {
    const text = `First. ${'filler '.repeat(2_000)}. Last one.`
    expect(splitSentences(text)[0]).toBe('first.')
    expect(splitSentences(text).at(-1)).toBe('last one.')
  })
})

describe('a claim of success', () => {
  test.each([
    'Your order has been placed.',
    'I have updated the address.',
    'Die Buchung wurde erstellt.',
    'La réservation a été annulée.',
    'Se ha pagado la factura.',
    '订单已完成。',
    '✅ Deployment complete!',
    'Version 7 is now live.',
    'Your order is paid and will be posted.',
  ])('%s', (text) => {
    expect(findSuccessClaims(text)).toHaveLength(1)
  })

  test.each([
    'I have not updated the address.',
    'It may have been sent.',
    'If it was sent, you will see it.',
    'Once you confirm, the order is placed and paid.',
    'Has it been sent?',
    'I tried, and it has been sent, but I could not confirm it.',
    'It was already sent.',
    'Es wurde leider nicht gesendet.',
    'La réservation n’a pas été annulée.',
    'The log says "has been sent".',
  ])('not: %s', (text) => {
    expect(findSuccessClaims(text)).toEqual([])
  })
})

test.each(['It failed again.', 'No se pudo enviar.', 'Échec de l’envoi.', '发送失败。'])(
  'who admits “%s” claims nothing',
  (text) => {
    expect(findSuccessClaims('The order was placed.')).toHaveLength(1)
    expect(findSuccessClaims(`The order was placed. ${text}`)).toEqual([])
  },
)

test('an announcement is the last sentence and does not wait for the user', () => {
  expect(findAnnouncement('Found it. Now I will fix it.')).toBe('now i will fix it.')
  expect(findAnnouncement('Now I will fix it. It is fixed.')).toBeUndefined()
  expect(findAnnouncement('Let me know.')).toBeUndefined()
})

test.each([
  'Let me read that back: two nights from 3 May, breakfast included.',
  'Let me confirm: Friday at 10:30 with Dr Vane.',
  'Let me correct what I said about the fee, which is £12.',
  'Let me add that the office is closed on Monday.',
  'Let me be clear that nothing was charged.',
  "Let's leave the booking as it is.",
  "Let's keep Friday at ten then.",
  "I'm going to leave it at that.",
  "I'm going to be honest, the lease runs until June.",
  "Then I'll say goodbye and wish you a pleasant stay.",
])('words that are the act themselves announce nothing: %s', (text) => {
  expect(findAnnouncement(text)).toBeUndefined()
})

test.each([
  'Let me check the stock.',
  'Let me confirm that with the warehouse.',
  "I'm going to cancel the order.",
  "Let's run the tests.",
  'Now I will fix it:',
])('but %s does', (text) => {
  expect(findAnnouncement(text)).toBeDefined()
})

test('a refusal is at the beginning', () => {
  expect(findRefusal("I'm sorry. I can't help with that.")).toBeDefined()
  expect(findRefusal('One. Two. Three. I can’t help with that.')).toBeUndefined()
})

test('reads texts of any length quickly', () => {
  const text = `${'"'.repeat(20_000)}${' '.repeat(20_000)}${'i have '.repeat(5_000)}`
  expect(findSuccessClaims(text)).toEqual([])
  expect(findRefusal(text)).toBeUndefined()
})
