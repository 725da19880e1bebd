import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toBlankQuestion } from './blank-question.ts'
import { compareAnswers } from './compare-answers.ts'

test.each([
  ['The tower is 330 m tall.', 'The tower is ____1 tall.', ['330 m']],
  ['It opened on 31 March 1989.', 'It opened on ____1.', ['31 March 1989']],
  ['It has 3 decks and 5 lifts.', 'It has ____1 decks and ____2 lifts.', ['3', '5']],
  [
    'The 40 seats cost €9; 40 seats remain.',
    'The ____1 seats cost ____2; ____1 seats remain.',
    ['40', '€9'],
  ],
  ['The tower was built by Gustave Eiffel.', 'The tower was built by ____1.', ['Gustave Eiffel']],
  ['A son of Ada, Ada said.', 'A son of ____1, ____1 said.', ['Ada']],
])('%s is asked as %s', (claim, sentence, texts) => {
  const question = toBlankQuestion(claim)
  expect(question?.sentence).toBe(sentence)
  expect(question?.blanks.map(({ text }) => text)).toEqual(texts)
})

test.each([
  'The tower is very tall.',
  'Rows: 11, 12, 13, 14, 15.',
  `The tower is 330 m tall. ${'a'.repeat(2_000)}`,
])('%s is not asked', (claim) => {
  expect(toBlankQuestion(claim)).toBeUndefined()
})

test('no question has a text of its blanks', () => {
  const word = fc.constantFrom(
    'the',
    'Nova',
    '20',
    'euros',
    '3.5',
    '%',
    'May',
    '2024',
    '(',
    '____1',
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), (words) => {
      const { sentence = '', blanks = [] } = toBlankQuestion(words.join(' ')) ?? {}
      for (const { text } of blanks) expect(` ${sentence} `).not.toContain(` ${text} `)
    }),
  )
})

const kind = 'quantity' as const

test.each([
  ['330 m', ['330 m', '330 metres'], 'agree'],
  ['330 m', ['329 m', '331 m'], 'agree'],
  ['330 m', ['0.33 km', '1083 feet'], 'agree'],
  ['330 m', ['330 m', '300 m'], 'unclear'],
  ['330 m', ['330 m', '330 m', '12 m'], 'agree'],
  ['330 m', ['300 m', '300 m'], 'disagree'],
  ['330 m', ['300 m', '200 m'], 'unclear'],
  ['200 m', ['100 m', '300 m'], 'unclear'],
  ['330 m', ['330 m'], 'unclear'],
  ['330 m', ['330 kg', '330 kg'], 'unclear'],
  ['more than 300 m', ['330 m', '331 m'], 'agree'],
  ['about 1,200 people', ['1,240 people', '1,230 people'], 'agree'],
  ['1,200,431', ['1.2 million', '1,203,000'], 'agree'],
  ['1889', ['1889', 'in 1889'], 'agree'],
  ['1889', ['1890', '1890'], 'disagree'],
  ['1889', ['1890', '1889'], 'unclear'],
  ['330 m', ['between 300 and 400 m', 'lots'], 'unclear'],
])('%s and the answers %j: %s', (text, answers, expected) => {
  expect(compareAnswers({ kind, text }, answers)).toBe(expected)
})

test.each([
  ['date', '31 March 1989', ['1989-03-31', 'March 31, 1989'], 'agree'],
  ['date', '31 March 1989', ['1 April 1989', '1 April 1989'], 'disagree'],
  ['name', 'Gustave Eiffel', ['Eiffel', 'gustave eiffel.'], 'agree'],
  ['name', 'Gustave Eiffel', ['Stephen Sauvestre', 'Stephen Sauvestre'], 'disagree'],
  ['name', 'Gustave Eiffel', ['Maurice Koechlin', 'Stephen Sauvestre'], 'unclear'],
] as const)('the %s %s and the answers %j: %s', (own, text, answers, expected) => {
  expect(compareAnswers({ kind: own, text }, answers)).toBe(expected)
})

test('the order of the answers has no influence', () => {
  const answer = fc.constantFrom('330 m', '331 m', '300 m', '0.3 km', 'unknown', '12 kg', '')
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 6 }), (answers) => {
      const blank = { kind, text: '330 m' }
      expect(compareAnswers(blank, answers.toReversed())).toBe(compareAnswers(blank, answers))
    }),
  )
})
