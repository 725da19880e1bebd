import { expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { runOf } from '../../../../../test/support/detect-one.ts'
import { maxMemoryEntries } from '../../contract.ts'
import { readContextMemory } from './dialogues.ts'

/** Valid statements after these user messages, as `slot=value`. */
function heldAfter(system: string, ...messages: string[]): string[] {
  const run = agentRun(system + messages.join()).system(system)
  for (const message of messages) run.user(message).assistant('Ok.')
  return readContextMemory(runOf(run)).entries.map(({ slot, value }) => `${slot}=${value}`)
}

test.each([
  ['Always answer in French.', 'language=fr'],
  ['Antworte immer auf Deutsch.', 'language=de'],
  ['Respond only with valid JSON.', 'shape=json_only'],
  ['Keep every reply under 50 words.', 'length:words=..49'],
  ['Never use the word "cheap".', 'forbidden:cheap=cheap'],
  ['Verwende niemals das Wort „billig“.', 'forbidden:billig=billig'],
  ['End every reply with "Yours, Ada".', 'required:end=Yours, Ada'],
  ['Your name is Ada.', 'persona=Ada'],
  ['Never use the tool drop_table.', 'tool:drop_table=drop_table'],
  ['The refund window is 30 days.', 'fact:refund window=number:30'],
])('%s', (sentence, entry) => {
  expect(heldAfter(sentence, 'Hello')).toEqual([entry])
})

test.each([
  'If the user writes French, answer in French.',
  'Write a prompt that says "Always answer in French".',
  'You can use JSON.',
  '```\nAlways answer in French.\n```',
  'Keep commit messages under 50 words.',
  'Use the word cheap where it fits.',
  'Suppose my order number is 4711.',
  'Avoid using "cat" to read files; do not use `sed`.',
  'Do not use the word "I" in commits.',
  'The current time is 15:00.',
  'The checked bag price is $50 for each extra bag.',
  'Your response must include exactly ONE bash code block.',
  'Answer with fewer than 4 lines, unless the user asks for detail.',
  'End your final answer with "TERMINATE".',
])('states nothing checkable: %s', (sentence) => {
  expect(heldAfter('You help.', sentence)).toEqual([])
})

test('a later statement of the user replaces the earlier one', () => {
  expect(heldAfter('Always answer in French.', 'From now on answer in German.')).toEqual([
    'language=de',
  ])
  expect(heldAfter('You help.', 'My order number is 1.', 'Sorry, my order number is 2.')).toEqual([
    'fact:order=number:2',
  ])
})

test('a rule for one answer ends with it', () => {
  const system = 'Keep every answer under 50 words.'
  expect(heldAfter(system, 'Answer in one sentence: why?', 'And now?')).toEqual([
    'length:words=..49',
  ])
})

test('another language replaces the one of before', () => {
  const rule = 'Speak to me in French please.'
  expect(heldAfter('You help.', rule, 'German from you from now on.')).toEqual(['language=de'])
})

test('the user lifts a rule', () => {
  expect(heldAfter('Do not use emojis.', 'You can use emojis again.')).toEqual([])
})

test.each([
  ['Do not use emojis from now on.', 'emojis are fine again'],
  ['Max 20 words per answer.', 'Forget the word limit.'],
  ['Max 20 words per answer.', "ok that's enough of that, write normally"],
  ['Always write in capital letters.', 'Thanks, you can stop with the capital letters.'],
  ['Sign all mails with "Cheers, Tom".', 'No need to sign the mails any more.'],
  ['Never use the word "asap".', 'You can use "asap" again.'],
  ['Answer everything in French.', "You don't have to answer in French any more."],
  ['No bold and no bullets in this chat.', 'formatting is fine again'],
  ['Only numbered steps until the desk is built.', 'Desk is built!! Thank you.'],
  ['Only numbered steps until the oak desk is built and painted.', 'The paint looks good!'],
  ['Max 20 words per answer until I say "uncle".', 'ok uncle. tell me all'],
  ['Until we finish slide 3, each reply has max 15 words.', 'Slide 3 is ready.'],
  ['Talk like a pirate and end on "Yarr" every time.', 'They called me, quit the pirate thing.'],
  ['Ab jetzt höchstens zwei Sätze.', 'Vergiss die Satzgrenze.'],
  ['从现在起每次回答不超过20个字。', '不用再限制字数了。'],
])('lifts %s by %s', (rule, change) => {
  expect(heldAfter('You help.', rule)).not.toEqual([])
  expect(heldAfter('You help.', rule, change)).toEqual([])
})

test.each([
  ['no longer than two sentences please', ['length:words=..20']],
  ['Just this once you can write more.', ['length:words=..20']],
  ['keep the word limit, please', ['length:words=..20']],
  ['What does a word limit do? I forget.', ['length:words=..20']],
  ['Make it twelve words instead.', ['length:words=12..12']],
])('does not lift a limit: %s', (change, held) => {
  const rule = 'From now on at most 20 words.'
  expect(heldAfter('You help.', rule, change).sort()).toEqual([...held].sort())
})

test('keeps the user statements of earlier tasks, not their system rules', () => {
  const first = agentRun('first').system('Always answer in French.').user('My budget is 900 euros.')
  const prior = readContextMemory(runOf(first.assistant('Ok.')))
  const next = runOf(agentRun('second').system('You help.').user('Hello').assistant('Ok.'))
  expect(readContextMemory(next, prior).entries).toMatchObject([
    { slot: 'fact:budget', role: 'user', task_id: prior.entries[0]?.task_id },
  ])
  expect(JSON.parse(JSON.stringify(readContextMemory(next, prior)))).toEqual(
    readContextMemory(next, prior),
  )
})

test('a later language in Italian replaces the first', () => {
  const held = heldAfter('Always answer in English.', 'Da ora in poi rispondi in italiano.')
  expect(held).toEqual(['language=it'])
})

test('has a maximum size', () => {
  const lines = Array.from(
    { length: 40 },
    (_, at) => `The key${'abcdefghij'[at % 10]}${'klmno'[at % 5]}${'pqrstuvw'[at % 8]} is ${at}.`,
  )
  const run = agentRun('many')
  for (let at = 0; at < 12; at++) {
    run.user(lines.map((line) => line.replace('key', `key${'abcdefghijkl'[at]}`)).join('\n'))
    run.assistant('Ok.')
  }
  expect(readContextMemory(runOf(run)).entries).toHaveLength(maxMemoryEntries)
})
