import { expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { contentChant } from './content-chant.ts'

const sentence = 'I am sorry, but I can not help with that at the very moment. '
const said = (text: string, asked = 'What is the number of the mayor?') =>
  agentRun(`${text.length} ${text.slice(0, 40)} ${asked}`)
    .user(asked)
    .assistant(text)

test('a piece of text ten times in one answer is a loop', () => {
  const [found] = foundBy(contentChant, said(`It is not public. ${sentence.repeat(10)}`))
  expect(found).toMatchObject({
    type: 'content_chant',
    severity: 'medium',
    start_step: 0,
    repeats: 10,
  })
  expect(found?.evidence).toMatchObject({ periods: 1 })
  expect(found?.wasted_tokens).toBeGreaterThan(100)
  expect(foundBy(contentChant, said(sentence.repeat(30)))).toMatchObject([{ severity: 'high' }])
})

const rows = (row: (at: number) => string) =>
  Array.from({ length: 14 }, (_, at) => row(at)).join('\n')
const words =
  'amber basil cedar daisy ember fable grove hazel ivory jolly karma lemon mango noble'.split(' ')

test.each<[string, string]>([
  ['nine times', sentence.repeat(9)],
  [
    'code',
    `So:\n\`\`\`ts\n${rows(() => "expect(await page.locator('#save').isVisible()).toBe(true)")}\n\`\`\``,
  ],
  ['a table', rows(() => '| the same long cell of the table | and another one that is as long |')],
  ['a list', rows(() => '- the same long entry of a list that says the same as all the others')],
  [
    'numbers before',
    rows((at) => `${at + 1}. the same long entry of a list that says the same as all`),
  ],
  ['a rule', `${'='.repeat(400)}\n${'- '.repeat(300)}`],
  ['data', `[${rows(() => '{"status":"active","category":"electronics","currency":"EUR"},')}{}]`],
  [
    'markup',
    `<ul>${rows(() => '<li class="entry entry-wide entry-blue">Entry of the list</li>')}</ul>`,
  ],
  [
    'a list without signs, of different things',
    rows(
      (at) =>
        `The ${words[at]} is a fine thing to have in every garden of the whole town, ${words[13 - at]}`,
    ),
  ],
  ['a cheer', 'hahaha'.repeat(20)],
  ['far apart', rows((at) => `${sentence}${words.join(` ${at} `).repeat(4)}`)],
])('no chant: %s', (_, text) => {
  expect(foundBy(contentChant, said(text))).toEqual([])
})

test('a text that the user asked for is not a chant', () => {
  const asked = 'Write fifty times: "I am sorry, but I can not help with that at the very moment."'
  expect(foundBy(contentChant, said(sentence.repeat(50), asked))).toEqual([])
})
