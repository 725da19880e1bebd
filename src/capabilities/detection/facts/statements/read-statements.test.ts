import { expect, test } from 'vitest'
import type { Message } from '../../reconstruction/index.ts'
import { readStatements } from './read-statements.ts'

/** Rules of a message as `slot=value`; those for one answer begin with `once`. */
function rulesOf(role: 'system' | 'user', text: string): string[] {
  const { statements } = readStatements({ role, text } as Message)
  return statements.map(
    ({ slot, value, holds }) => `${holds === 'always' ? '' : 'once '}${slot}=${value}`,
  )
}

test.each([
  ['Keep replies to a maximum of 40 words.', 'length:words=..40'],
  ['Your answers may not exceed 60 words.', 'length:words=..60'],
  ['Answer length: 20–40 words.', 'length:words=20..40'],
  ['Every response has exactly three paragraphs.', 'length:paragraphs=3..3'],
  ['Use between two and four bullet points per answer.', 'bullets=bullets', 'length:bullets=2..4'],
  ['Length: max. 50 words', 'length:words=..50'],
  ['Hard limit: 160 characters.', 'length:characters=..160'],
  ['Present every comparison as a table.', 'table=table'],
  ['You answer with code and nothing else.', 'code=only'],
  ['Answers are plain text; markdown is not supported.', 'shape=plain'],
  ['Never, ever use an emoji.', 'emoji=none'],
  ['Put at least one emoji in each reply.', 'emoji=some'],
  ['No lists, tables or headings.', 'bullets=none', 'table=none', 'heading=none'],
  ['Do not: use emojis, ask questions', 'emoji=none', 'question=none'],
  ['No commas. No colons.', 'sign:,=none', 'sign::=none'],
  ['You never use the letter "k".', 'letter:k=none'],
  ['Close each reply by asking a question.', 'ending=question'],
  ['Each reply contains the phrase "stay safe" exactly once.', 'uses:stay safe=1..1 stay safe'],
  ['Refer to users as "members", never as "customers".', 'forbidden:customers=customers'],
  ['Sign each mail with "Kind regards, Ines".', 'required:end=Kind regards, Ines'],
  ['Language of all output: French.', 'language=fr'],
  ['Titles: title case in every answer.', 'case=title'],
  ['Höchstens 30 Wörter pro Antwort.', 'length:words=..30'],
  ['No uses nunca la palabra "barato".', 'forbidden:barato=barato'],
  ["N'utilise jamais le mot « gratuit ».", 'forbidden:gratuit=gratuit'],
  ['每次回答不超过50个字。', 'length:characters=..50'],
  ['「安い」という言葉は使わないでください。', 'forbidden:安い=安い'],
  ['回答は100文字以内にしてください。', 'length:characters=..100'],
])('a system text: %s', (text, ...rules) => {
  expect(rulesOf('system', text)).toEqual(rules)
})

test.each([
  ['For the entirety of our conversation, keep responses under 75 words.', 'length:words=..74'],
  ['Throughout this chat I want answers no longer than two sentences.', 'length:sentences=..2'],
  ['For our chat, use no commas.', 'sign:,=none'],
  ['Each response must start with "Listen:".', 'required:start=Listen:'],
  ['Use the expression "by the way" in each response.', 'uses:by the way=1.. by the way'],
  [
    "Always begin with the phrase 'It's important to note…'.",
    "required:start=It's important to note",
  ],
  [
    'Do not repeat the word "driving" more than once in your responses.',
    'uses:driving=..1 driving',
  ],
  ['you say "absolutely" too much, stop using it', 'forbidden:absolutely=absolutely'],
  ['Emojis break my terminal. Leave them out from now on.', 'emoji=none'],
  ['Two sentences per answer, please. What is a quark?', 'length:sentences=2..2'],
  ['Stop writing in English, French only.', 'language:not:en=not en', 'language=fr'],
  ['no longer than two sentences please', 'once length:sentences=..2'],
  ['In 20 words or fewer, what is entropy?', 'once length:words=..20'],
  ['Max 20 words. This goes for all your answers. What is rain?', 'length:words=..20'],
  ['Ab jetzt bitte nur noch zwei Sätze. Was ist Strom?', 'length:sentences=2..2'],
  ['A partir de ahora, respóndeme en dos frases como mucho.', 'length:sentences=..2'],
  ['À partir de maintenant, réponds en anglais.', 'language=en'],
  ['以后都用日语回答我。', 'language=ja'],
  ['これからは英語で答えてください。', 'language=en'],
])('a message of a user: %s', (text, ...rules) => {
  expect(rulesOf('user', text)).toEqual(rules)
})

test.each([
  'Why do people write emails in three sentences?',
  'My teacher said no more than 200 words.',
  'is it bad to use bullet points in a CV',
  'What does "answer in no more than 50 words" mean?',
  'Translate "never use emojis" into French.',
  'I never use emojis in emails. Is that rude?',
  'How do I say "thank you" in Japanese?',
  'I need a table with 4 legs and no drawers.',
  'Write a commit message under 50 characters.',
  'Convert data.xls to CSV.',
  'Unser alter Chef verlangte, dass jede Mail höchstens drei Sätze hat.',
  'can you explain this config line to me: max_sentences: 2',
])('no rule: %s', (text) => {
  expect(rulesOf('user', text)).toEqual([])
})

test.each([
  ['For billing questions, end with "Open 9 to 17".', 'has bill'],
  ['Questions that begin with "Q:" get one sentence.', 'start Q:'],
  ['When I say "short", give me ten words at most.', 'has short'],
])('a rule for some questions: %s', (text, when) => {
  const [rule] = readStatements({ role: 'user', text } as Message).statements
  expect(rule).toMatchObject({ when, holds: 'always' })
})

test('a rule can end with an event', () => {
  const text = 'Only numbered steps from you until the desk is built, ok?'
  const [rule] = readStatements({ role: 'user', text } as Message).statements
  expect(rule).toMatchObject({ slot: 'bullets', value: 'numbered', until: 'desk built' })
})
