import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fuzzRuns } from '../../../../../test/support/suite/budget.ts'
import { checkAnswer } from '../check-answer.ts'
import { indexSeen } from '../seen/seen-index.ts'

const verdictOf = (answer: string, text: string) =>
  checkAnswer(answer, indexSeen([{ source: 'tool', text }])).map(({ verdict }) => verdict)[0]

describe('signs of values', () => {
  it.each([
    ['Your balance is −50 EUR.', '{"balance": -50.0, "currency": "EUR"}'],
    ['The balance is -$1,250.', 'balance: −1250 USD'],
    ['The balance is −1,250 EUR.', 'balance &minus;1,250 EUR'],
    ['The balance is &minus;1,250 EUR.', 'balance −1,250 EUR'],
    ['It takes 2½ hours.', 'duration: 2&frac12; h'],
    // Words of direction say the sign.
    ['Sales fell by 12.5 %.', '{"change_pct": -12.5}'],
    ['Your account is overdrawn by $1,250.', '{"balance": -1250}'],
    ['A refund of $1,250 was made.', '{"type": "refund", "amount": -1250}'],
    ['Discount: −$20', '{"discount": 20}'],
    ['The result is −1,250 EUR.', '| result | (1,250) |\n| tax | 80 |'],
    // A dash between two numbers is not a sign.
    ['Delivery takes 10–20 days.', 'Delivery takes 10-20 days.'],
  ])('%s is seen in %s', (answer, text) => {
    expect(verdictOf(answer, text)).toBe('seen')
  })

  it.each([
    ['The balance is 1,250 EUR.', '{"balance": -1250, "currency": "EUR"}'],
    ['The balance is −1,250 EUR.', '{"balance": 1250, "currency": "EUR"}'],
    ['It will be 7 °C.', '{"temp_c": -7}'],
    ['The balance is 1,250.', 'balance &minus;1,250'],
    ['The balance is 1,250.', '{"balance": "\\u22121,250 EUR"}'],
  ])('%s is not seen in %s', (answer, text) => {
    expect(verdictOf(answer, text)).toBe('unsupported')
  })

  it('many answers leave the sign of an amount out, which is a doubt', () => {
    const text = '[{"shop": "Café Lund", "amount": -42.5}, {"shop": "Ferry", "amount": -80.75}]'
    const doubtOf = (answer: string, seen: string) =>
      checkAnswer(answer, indexSeen([{ source: 'tool', text: seen }]))[0]?.doubt
    expect(doubtOf('It was CHF 129.90.', '{"value": -129.9, "currency": "CHF"}')).toBe('sign')
    expect(doubtOf('| Café Lund | $42.50 |\n| Ferry | $80.75 |', text)).toBe('sign')
  })

  it('calculations keep signs', () => {
    expect(verdictOf('It fell by 25%.', '{"before": 200, "change": -50}')).toBe('derived')
    expect(verdictOf('The rest is $80.25.', '{"paid": 100.25, "fee": -20}')).toBe('derived')
    expect(verdictOf('It is 9.5 °C warmer.', 'Lund −2.5 °C, Turku 7 °C')).toBe('derived')
  })

  it('finds a number with its own sign, and never calls the other sign seen', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1001, max: 999_999 }),
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom('-', '−', '&minus;', '&#8722;', 'minus '),
        (n, isSeenNegative, isToldNegative, sign) => {
          const text = `The result is ${isSeenNegative ? sign : ''}${n} EUR`
          const answer = `The result is ${isToldNegative ? '−' : ''}${n} EUR.`
          expect(verdictOf(answer, text) === 'seen').toBe(isSeenNegative === isToldNegative)
        },
      ),
      { numRuns: fuzzRuns(300) },
    )
  })
})
