import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeByFacts } from './judge-by-facts.ts'

const facts = [
  { source: 's', subject: 'Lake Ina', attribute: 'area', value: 412, unit: 'km²' },
  { source: 's', subject: 'Lake Ina', attribute: 'length', value: 61, unit: 'km' },
  { source: 's', subject: 'Rover X', attribute: 'weight', value: 3.14, unit: 'kg' },
  { source: 's', subject: 'Rover X Pro', attribute: 'weight', value: 4.2, unit: 'kg' },
  { source: 's', subject: 'Orlan', attribute: 'revenue 2024', value: 842.6, unit: 'EUR million' },
  { source: 's', subject: 'Gold', attribute: 'points needed', value: 600, unit: 'points' },
]

function verdict(text: string, context?: string): string {
  return judgeByFacts({ text, context }, facts).verdict
}

describe('structured facts', () => {
  test.each([
    ['Lake Ina has an area of 412 km².', 'supported'],
    ['Lake Ina has an area of 41,200 ha.', 'supported'],
    ['Lake Ina has an area of about 400 km².', 'supported'],
    ['Lake Ina has an area of more than 400 km².', 'supported'],
    ['Lake Ina has a length of 61,000 m.', 'supported'],
    ['The weight of the Rover X is 3.1 kg.', 'supported'],
    ['Orlan had a revenue of €842.6 million in 2024.', 'supported'],
    ['Orlan had a revenue of 843 million euros in 2024.', 'supported'],
    ['Gold needs 600 status points.', 'supported'],
    ['Lake Ina has an area of 512 km².', 'contradicted'],
    ['Lake Ina has an area of less than 400 km².', 'contradicted'],
    ['The weight of the Rover X Pro is 3.1 kg.', 'contradicted'],
    ['Orlan had a revenue of €84 million in 2024.', 'contradicted'],
    ['Gold needs 500 points.', 'contradicted'],
  ])('%s → %s', (text, expected) => {
    expect(verdict(text)).toBe(expected)
  })

  test.each([
    ['another subject', 'Lake Orta has an area of 512 km².'],
    [
      'two subjects',
      'The weight of the Rover X is 1 kg less than that of the Rover X Pro, Orlan says.',
    ],
    ['another attribute', 'Lake Ina has a depth of 512 km.'],
    ['another year', 'Orlan had a revenue of €612 million in 2023.'],
    ['a year of its own', 'In 1950 Lake Ina had an area of 512 km².'],
    ['a change', 'The revenue of Orlan rose by €60 million in 2024.'],
    ['a negation', 'Lake Ina does not have an area of 512 km².'],
    ['a condition', 'If it floods, Lake Ina has an area of 512 km².'],
    ['another currency', 'Orlan had a revenue of $842.6 million in 2024.'],
    ['a rate', 'Lake Ina had an area of 512 km² a year.'],
    ['a part of several', 'Two of the three parts of Lake Ina have an area of 512 km².'],
    ['a further part', 'Lake Ina has a further area of 512 km².'],
    ['two numbers', 'Lake Ina has an area of 300 km² or 500 km².'],
    ['another rounding', 'Lake Ina has an area of 411 km².'],
    ['a rounding to whole units', 'The weight of the Rover X is 3 kg.'],
    ['an attribute in other words', 'Lake Ina covers 512 km².'],
  ])('%s stays open', (_name, text) => {
    expect(verdict(text)).toBe('unverifiable')
  })

  test('the question names the subject that the claim leaves out', () => {
    expect(verdict('The area is 500 km².', 'How big is Lake Ina?')).toBe('contradicted')
    expect(verdict('The area is 500 km².')).toBe('unverifiable')
  })

  describe('a subject whose name is a word of plans and comparisons', () => {
    const plan = (attribute: string, value: number | string, unit = '') => ({
      ...{ source: 's', subject: 'Starter plan', attribute, value, unit },
    })
    const ofPlan = [
      plan('price', 29, 'EUR/month'),
      plan('storage', 20, 'GB'),
      plan('users', 5),
      plan('discount', 10, '%'),
      plan('launch date', '2026-03-05'),
      plan('single sign-on', 'no'),
      plan('audit log', 'yes'),
      plan('support channel', 'e-mail'),
    ]
    test.each([
      ['The Starter plan costs 29 EUR per month.', 'supported'],
      ['The Starter plan costs €39 a month.', 'contradicted'],
      ['The price of the Starter plan is 29 euros monthly.', 'supported'],
      ['The Starter plan has 20 GB of storage.', 'supported'],
      ['The Starter plan has a storage of 20,000 MB.', 'supported'],
      ['The Starter plan has 50 GB of storage.', 'contradicted'],
      ['The Starter plan is for 5 users.', 'supported'],
      ['The Starter plan is for 8 users.', 'contradicted'],
      ['The Starter plan has a discount of 10 %.', 'supported'],
      ['The launch date of the Starter plan was 5 March 2026.', 'supported'],
      ['The launch date of the Starter plan was 6 March 2026.', 'contradicted'],
      ['The Starter plan includes single sign-on.', 'contradicted'],
      ['The Starter plan does not include single sign-on.', 'supported'],
      ['The Starter plan comes with an audit log.', 'supported'],
      ['The Starter plan has no audit log.', 'contradicted'],
      // Open: another period or currency, an end of the date, other conditions, other words.
      ['The Starter plan costs 348 EUR a year.', 'unverifiable'],
      ['The Starter plan costs $29 per month.', 'unverifiable'],
      ['The Starter plan costs 29 EUR.', 'unverifiable'],
      ['The Starter plan costs 9 EUR per month less than before.', 'unverifiable'],
      ['The launch date of the Starter plan was in spring 2026.', 'unverifiable'],
      ['The Starter plan includes single sign-on for administrators.', 'unverifiable'],
      ['Does the Starter plan include single sign-on?', 'unverifiable'],
      ['The Starter plan has a support channel by phone.', 'unverifiable'],
    ])('%s → %s', (text, expected) => {
      expect(judgeByFacts({ text }, ofPlan).verdict).toBe(expected)
    })
  })

  test('another thing than the question names has its own price and length', () => {
    const camera = { source: 's', subject: 'Rover X', attribute: 'price', value: 899, unit: 'EUR' }
    const judged = (text: string) =>
      judgeByFacts({ text, context: 'What does the Rover X cost?' }, [camera]).verdict
    expect(judged('A charger costs 69 EUR.')).toBe('unverifiable')
    expect(judged('It costs 69 EUR.')).toBe('contradicted')
    expect(judged('The Rover X costs 899 EUR.')).toBe('supported')
  })

  test('facts that disagree decide nothing', () => {
    const other = { source: 't', subject: 'Lake Ina', attribute: 'area', value: 500, unit: 'km²' }
    const text = 'Lake Ina has an area of 500 km².'
    expect(judgeByFacts({ text }, [...facts, other]).verdict).toBe('unverifiable')
  })

  test('a value agrees with itself and disputes a distant one, in every unit of its kind', () => {
    const units = fc.constantFrom(['km', 1000], ['m', 1], ['mi', 1609.344]) as fc.Arbitrary<
      [string, number]
    >
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        units,
        units,
        (value, [unit, size], [other, otherSize]) => {
          const known = {
            source: 's',
            subject: 'Pier',
            attribute: 'length',
            value: (value * size) / otherSize,
            unit: other,
          }
          const text = (stated: number) => `The length of the Pier is ${stated} ${unit}.`
          expect(judgeByFacts({ text: text(value) }, [known]).verdict).toBe('supported')
          expect(judgeByFacts({ text: text(value * 2) }, [known]).verdict).toBe('contradicted')
        },
      ),
    )
  })
})
