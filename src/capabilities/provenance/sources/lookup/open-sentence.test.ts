import { expect, test } from 'vitest'
import { openSentence } from './open-sentence.ts'

test.each([
  ['It costs ', 'It costs '],
  ['It fell. It costs ', ' It costs '],
  ['It fell to 5.5 and costs ', 'It fell to 5.5 and costs '],
  ['A line\nIt costs ', 'It costs '],
  ['Really? It costs ', ' It costs '],
  ['It costs.', ''],
  ['', ''],
  ['a | b ', 'a | b '],
])('%j', (text, sentence) => {
  expect(openSentence(text)).toBe(sentence)
})

test('in a cell', () => {
  expect(openSentence('a. b | c d', { inCell: true })).toBe(' c d')
})
