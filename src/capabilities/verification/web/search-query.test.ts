import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { searchQuery } from './search-query.ts'

const query = (text: string, question = '', values: { value: string; kind: string }[] = []) =>
  searchQuery(
    {
      text,
      at: [0, text.length],
      values: values.map((value) => ({
        ...value,
        ...{ at: [0, 0] as const, verdict: 'seen' as const, derivation: null, evidence: [] },
      })),
    },
    question,
  )

describe('a query has', () => {
  test('the words and numbers of the claim, and the names of the question', () => {
    expect(query('The tower is 330 m tall [1].', 'How tall is the Eiffel Tower in Paris?')).toBe(
      'The tower is 330 m tall Eiffel Paris',
    )
  })

  test('amounts, percentages and years', () => {
    expect(query('Revenue rose 12.5% to €1,200,000 in 2024, an all-time high.')).toBe(
      'Revenue rose 12.5% to €1,200,000 in 2024 an all-time high',
    )
  })

  test('at most 200 characters, cut after a word', () => {
    const text = query('Lighthouse keepers '.repeat(100)) ?? ''
    expect(text.length).toBeLessThanOrEqual(200)
    expect(text).toMatch(/(?:Lighthouse|keepers)$/)
  })
})

test.each(['', 'It is [1].', 'ORD-48291 https://example.com', '😀 !!! ???'])(
  'without words of its own, "%s" is not searched',
  (text) => expect(query(text)).toBeUndefined(),
)

const secrets: readonly (readonly [string, string])[] = [
  ['an e-mail address', 'jane.doe+vip@mail.example.com'],
  ['an order id', 'ORD-48291-XZ'],
  ['a UUID', '3f2c8a10-6a5e-4f0e-9f7e-2f7c1f6f0b11'],
  ['a URL', 'https://intranet.example.com/orders?id=77&token=abc'],
  ['a path', '/home/jane/contracts/draft'],
  ['a number of a card', '4111 1111 1111 1111'],
  ['a number of an account', 'DE89 3704 0044 0532 0130 00'],
  ['a phone number', '+49 30 1234567'],
  ['a phone number without a country', '555-867-5309-11'],
  ['a key', 'sk-proj-aB3dE5gH7jK9mN1pQ3sT5vW7'],
  ['a key of letters', 'aBcDeFgHiJkLmNoP'],
  ['a long word', 'abcdefghijklmnopqrstuvwxyzabcdef'],
  ['a customer number', '88213377'],
  ['an IP address', '10.1.22.33'],
]

describe('a query never has', () => {
  test.each(secrets)('%s, anywhere in a claim', (_, secret) => {
    for (const text of [
      `The ferry ticket of ${secret} costs thirty euros today.`,
      `Ferry tickets cost thirty euros (${secret}).`,
      `"${secret}": ferry tickets cost thirty euros`,
    ]) {
      const sent = query(text, `Is ${secret} valid for the Ferry?`) ?? ''
      expect(sent).toContain('erry')
      for (const part of secret.split(/[^\p{L}\p{N}]+/u).filter((one) => one.length > 3)) {
        expect([text, sent.includes(part)]).toEqual([text, false])
      }
    }
  })

  test('a value that provenance read as an id', () => {
    const sent = query('Patient Zimmerline paid for the ferry ticket.', '', [
      { kind: 'id', value: 'Zimmerline' },
    ])
    expect(sent).toBe('Patient paid for the ferry ticket')
  })

  test('characters that search engines read as commands', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (noise) => {
        const sent = query(`Ferry ${noise} tickets !!g -site:x "cost" thirty euros ${noise}`) ?? ''
        expect(sent).not.toMatch(/[!"<>:;?*()|~[\]{}@\\]|(?:^| )[-+]/)
      }),
    )
  })
})
