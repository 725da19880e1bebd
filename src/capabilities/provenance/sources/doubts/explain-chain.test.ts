import { expect, it } from 'vitest'
import { checkAnswer } from '../check-answer.ts'
import { indexSeen } from '../seen/seen-index.ts'

/** The doubts of the amounts of an answer that have no source. */
const doubts = (answer: string, ...texts: string[]) =>
  checkAnswer(answer, indexSeen(texts.map((text, at) => ({ source: `tool ${at}`, text }))))
    .filter(({ verdict, kind }) => verdict === 'unsupported' && kind === 'money')
    .map(({ doubt }) => doubt)

it.each([
  [
    'a price times a count less a discount',
    'That is €114.05.',
    'stock 18, price 7.20, from 10 on 12 % off',
  ],
  [
    'a price times people times days',
    'Son 96 €.',
    'Desayuno 12 € por persona y día',
    '2 adultos, 4 noches',
  ],
  [
    'a price times people, both ways',
    'Son 228 €.',
    'Maleta 38 € por trayecto',
    'Somos 3 con 3 maletas',
  ],
  [
    'a fee for each of two months',
    'You pay €432.60.',
    'open: €420.00',
    'Late fee 1.5 % per month',
    '2 months late',
  ],
  [
    'seats for a year, with a discount',
    'It is $921.60.',
    'Seats $12 a month, 20 % less yearly',
    '8 seats',
  ],
  [
    'two lines with a discount and a voucher',
    'You pay €94.88.',
    '{"items":[{"name":"Riesling","qty":6,"each":9.90},{"name":"Merlot","qty":6,"each":8.50}],"voucher":10}',
    'From 12 bottles 5 % off',
  ],
])('%s explains an amount', (_what, answer, ...texts) => {
  expect(doubts(answer, ...texts)).toEqual(['calculable'])
})

it('an amount that no chain gives has no explanation', () => {
  expect(doubts('That is €114.15.', 'stock 18, price 7.20, from 10 on 12 % off')).toEqual([
    undefined,
  ])
})

it('an amount with two digits of a seen one swapped is not explained', () => {
  const quote = '{"usd":2000.00,"fee_usd":14.60,"rate":129.05,"receives_kes":258100}'
  expect(doubts('The fee is $16.40.', 'Quotes hold 10 minutes.', quote)).toEqual([undefined])
})

it('many numbers explain nothing, because some chain gives nearly any amount', () => {
  const prices = Array.from({ length: 30 }, (_, at) => `${at + 2} items at €${(at * 7919) % 97}.31`)
  expect(doubts('It costs €81.77.', ...prices, '5 % off')).toEqual([undefined])
})
