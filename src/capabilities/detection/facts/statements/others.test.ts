import { expect, test } from 'vitest'
import type { Message } from '../../reconstruction/index.ts'
import { readStatements } from './read-statements.ts'

/** Rules of a message as `slot=value`. */
function rulesOf(role: 'system' | 'user', text: string): string[] {
  const { statements } = readStatements({ role, text } as Message)
  return statements.flatMap(({ kind, slot, value }) => (kind === 'fact' ? [] : `${slot}=${value}`))
}

test.each([
  'My boss wrote: Please keep it under 50 words and use no emojis. What should I reply?',
  'Here is the email I got:\n\nHi team,\nplease never use bullet points.\nBest, Ana\n\nCan you sum it up?',
  '> Please answer in French only.\n> No bullet points.\n\nIs that polite enough?',
  'This is what the teacher handed out:\n- Write at least 500 words\n- No headings\nWhich one is hard?',
  "Here's my prompt. What could be better?\n\nYou are a bot. Always answer in JSON. Never use emojis.",
  'Rate this prompt: Answer in exactly three bullet points, no more than ten words each.',
  'Translate this to Spanish: Always end your messages with thanks.',
  'The client asked: "Can you keep it to 100 words?" Draft a reply.',
  '"""\nNever use commas.\n"""\nIs that a good rule?',
  '<email>Always answer in English.</email> Is that rude?',
])('a text of another person: %s', (text) => {
  expect(rulesOf('user', text)).toEqual([])
})

test.each([
  'Our house style for the newsletter is: no exclamation marks, at most 120 words.',
  'Draft a style guide for our team: no bold, no emojis, replies under 80 words.',
  'Write a prompt that tells a bot to never use emojis and to answer in at most two sentences.',
  'Write a letter to the school: they should not send messages longer than 100 words.',
  'The bot we bought always ends with "Have a nice day!" and it drives me mad.',
  'Imagine a bot that must answer in one word. Would it be useful?',
  "I'm writing guidelines for our chatbot. It must answer in at most two sentences.",
  'Explain why legal documents avoid contractions.',
  'How do I make ChatGPT answer in one sentence only?',
  'Give me a list of words without the letter e.',
  'Put the seating and table arrangements in the catering section.',
  'Use at most ten words in all capital letters.',
  'Do not write more than five sentences that begin with "I".',
  'Do not begin more than five sentences with "I".',
])('a rule for another person: %s', (text) => {
  expect(rulesOf('user', text)).toEqual([])
})

test.each([
  'Authors must submit abstracts of at most 150 words and must not use bullet points.',
  'Callers are not allowed to use the word "bomb". If they do, transfer them.',
  "The user's essay must be at least 500 words. Tell them when it is shorter.",
  'You moderate a forum. Posts of users must not contain links or emojis.',
  'You are a tutor. Students should answer in full sentences and never use contractions.',
  'Product titles have at most 60 characters.',
  'When writing commit messages use at most 50 characters.',
  'Text on the cake up to 25 characters.',
  'Answers about accidents are given in at most three sentences.',
  'If the user writes in Spanish, reply in Spanish. Otherwise reply in English.',
  'The house style says: articles never exceed 800 words, headlines carry no full stop, no brackets.',
  'Text of the board, for reference:\n | 1. Quiet from 22 to 7.\n | 2. Answer in one sentence.',
  'Every reply starts with a category in capitals and a colon.',
  'Work emails: always close with "Best, Ingrid".',
  'Do not end with a question.',
  'No punctuation at the end.',
])('a rule for others, or for a part: %s', (text) => {
  expect(rulesOf('system', text)).toEqual([])
})

test.each([
  ['My screen is small, no tables please.', 'table=none'],
  ['You are not allowed to use any commas in your response.', 'sign:,=none'],
  ['Write a poem. The word "rock" should not appear in it.', 'forbidden:rock=rock'],
  ['Write a story. It must have at least 600 words.', 'length:words=600..'],
  ['The entire response should have less than 300 words.', 'length:words=..299'],
  ['There should be exactly 4 paragraphs.', 'length:paragraphs=4..4'],
  ['Answer with more than 800 words.', 'length:words=801..'],
  ['Write a summary of 300+ words.', 'length:words=300..'],
  ['Rules: (a) no tables (b) no emojis.', 'table=none', 'emoji=none'],
  ['[manager] From now on reply in English.', 'language=en'],
  ['Responde sin listas y en menos de 40 palabras.', 'bullets=none', 'length:words=..39'],
  ['Use no punctuation like parentheses.', 'sign:()=none'],
  ['Give me bullets instead of tables, always.', 'bullets=bullets'],
  ['Summarize this in two sentences:\n\nNever use emojis at work.', 'length:sentences=2..2'],
])('a rule for the assistant: %s', (text, ...rules) => {
  expect(rulesOf('user', text)).toEqual(rules)
})

test.each([
  ['The assistant never uses emojis.', 'emoji=none'],
  ['Be Mira, a guide. Mira answers in at most two sentences.', 'length:sentences=..2'],
  ['No more than one "luxury" per text.', 'uses:luxury=..1 luxury'],
  ['280 characters per post at the very most.', 'length:characters=..280'],
  ['No uses negritas.', 'bold=none'],
])('a rule of a system text for the assistant: %s', (text, ...rules) => {
  expect(rulesOf('system', text)).toEqual(rules)
})

test('a rule of one request ends with it', () => {
  const { statements } = readStatements({
    role: 'user',
    text: 'Do not use any commas in your response.',
  } as Message)
  expect(statements.map(({ slot, holds }) => `${slot} ${holds}`)).toEqual(['sign:, turn'])
})
