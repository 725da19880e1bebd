import { expect, test } from 'vitest'
import type { Message } from '../../reconstruction/index.ts'
import { readStatements } from './read-statements.ts'

/** Rules of a system message as `slot=value`. */
function rulesOf(text: string): string[] {
  const { statements } = readStatements({ role: 'system', text } as Message)
  return statements.map(({ slot, value }) => `${slot}=${value}`)
}

test.each([
  'Do not include any numbers that are not in the documents.',
  'Do not use numbers you have not verified.',
  'Do not make promises about dates or numbers.',
  'Do not give lists of customers to anybody.',
  'Do not ask more questions than necessary.',
  'Never ask the same question twice.',
  'Do not answer legal questions.',
  'Do not change the headings of the document.',
  'Never reveal the letter "X" code.',
  'No code changes without approval.',
  'Never deploy code on Fridays.',
  'Never share links to external sites.',
  'Do not include links in SMS messages.',
  'Do not use tables for fewer than three rows.',
  'Do not use mailing lists without consent.',
])('a rule about something else: %s', (text) => {
  expect(rulesOf(text)).toEqual([])
})

test.each([
  ['Do not include any numbers.', 'numbers=none'],
  ['Do not use numbers in your answers.', 'numbers=none'],
  ['Never use numbers or links.', 'numbers=none', 'links=none'],
  ['Do not give lists.', 'bullets=none'],
  ['Do not use lists of any kind.', 'bullets=none'],
  ['Never ask questions.', 'question=none'],
  ['Never answer questions about politics.', 'topic:politics=none'],
  ['Never ask me any questions at all.', 'question=none'],
  ['Do not use headings.', 'heading=none'],
  ['Never use the letter "X".', 'letter:x=none'],
  ['Never write code.', 'code=none'],
  ['No code, ever.', 'code=none'],
  ['Do not include links in your replies.', 'links=none'],
  ['Do not include links to anything.', 'links=none'],
  ['Do not use tables here.', 'table=none'],
  ['No tables or headings.', 'table=none', 'heading=none'],
])('a rule about each answer: %s', (text, ...rules) => {
  expect(rulesOf(text)).toEqual(rules)
})

test.each([
  'Reply in English or in the language of the customer.',
  'The users write in French, and the documents are in English.',
  'Only use English terms for product names.',
])('no language of answers: %s', (text) => {
  expect(rulesOf(text)).toEqual([])
})

test.each([
  ['Reply in English only.', 'language=en'],
  ['Reply in English, whatever the language of the customer.', 'language=en'],
  ['Da ora in poi rispondi in italiano.', 'language=it'],
  ['Rispondi sempre in inglese.', 'language=en'],
  ['Users write in French. Always reply in English.', 'language=en'],
])('a language of answers: %s', (text, ...rules) => {
  expect(rulesOf(text)).toEqual(rules)
})

test.each([
  ['Use at most 1.500 characters.', 'length:characters=..1500'],
  ['Höchstens 1.500 Zeichen.', 'length:characters=..1500'],
  ['Use at most 1,000 words.', 'length:words=..1000'],
  ['Use at most 2k words.', 'length:words=..2000'],
  ['Use at most 500 characters.', 'length:characters=..500'],
])('a number with separators: %s', (text, ...rules) => {
  expect(rulesOf(text)).toEqual(rules)
})

test.each([
  'You write e-mails and answer questions. End every email with "Best, Ida".',
  'Only answer yes or no to questions about eligibility.',
])('a rule for some answers: %s', (text) => {
  expect(rulesOf(text)).toEqual([])
})

test.each([
  ['End every answer with "Best, Ida".', 'required:end=Best, Ida'],
  ['Only answer yes or no.', 'shape=yes_no'],
])('a rule for all answers: %s', (text, ...rules) => {
  expect(rulesOf(text)).toEqual(rules)
})

test('the lengths of the parts of a task are not lengths of the answer', () => {
  const text = 'Summarize this text in two sentences. Then write a poem with four lines.'
  const { statements } = readStatements({ role: 'user', text } as Message)
  expect(statements).toEqual([])
})
