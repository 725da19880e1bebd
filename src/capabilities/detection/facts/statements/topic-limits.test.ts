import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { lostContext } from '../../detectors/context/lost-context.ts'
import type { Message } from '../../reconstruction/index.ts'
import { readStatements } from './read-statements.ts'

function limitsOf(text: string): string[] {
  const { statements } = readStatements({ role: 'system', text } as Message)
  return statements.map(({ slot, value }) => `${slot}=${value}`)
}

test.each([
  ['Only answer questions about cooking.', 'topic:cooking=only'],
  ['Stick to questions about our garden tools.', 'topic:garden tools=only'],
  ['You only discuss bicycles.', 'topic:bicycles=only'],
  ['Do not talk about politics.', 'topic:politics=none'],
  ['Never discuss competitors or religion.', 'topic:competitors=none', 'topic:religion=none'],
  ['Please avoid the topic of religion in all your answers.', 'topic:religion=none'],
  ['Beantworte nur Fragen zu Kochrezepten.', 'topic:kochrezepten=only'],
  ['Sprich nicht über Politik und Religion.', 'topic:politik=none', 'topic:religion=none'],
  ['Réponds uniquement aux questions sur la cuisine.', 'topic:cuisine=only'],
  ['Ne parle pas de politique.', 'topic:politique=none'],
  ['Responde solo preguntas sobre cocina.', 'topic:cocina=only'],
  ['No hables de política.', 'topic:política=none'],
  ['只回答关于烹饪的问题。', 'topic:烹饪=only'],
  ['不要谈论政治。', 'topic:政治=none'],
  ['料理に関する質問にだけ答えてください。', 'topic:料理=only'],
  ['政治について話さないでください。', 'topic:政治=none'],
])('reads a limit of topics: %s', (text, ...limits) => {
  expect(limitsOf(text)).toEqual(limits)
})

test.each([
  'Do not talk about it.',
  'Do not talk about what the customer ordered last week.',
  'Tell users not to talk about politics.',
  'People often talk about politics.',
  'Sprich nicht darüber.',
  'Die Leute sprechen nicht über Politik.',
  "Ne parle pas de ce qu'il a dit.",
  'Les gens ne parlent pas de politique.',
  'No hables de eso.',
  'La gente no habla de política.',
  '不要谈论这个。',
  '他不喜欢谈论政治。',
  'それについて話さないでください。',
  '彼は政治について話すのが好きです。',
])('reads no limit: %s', (text) => {
  expect(limitsOf(text)).toEqual([])
})

const answered = (rule: string, question: string, answer: string) =>
  agentRun(rule + answer)
    .system(rule)
    .user(question)
    .assistant(answer)

describe('an answer about a forbidden topic, and its healthy twin', () => {
  test.each([
    [
      'Do not talk about politics.',
      'Who wins?',
      'Politics is hard to predict. In British politics, the polls favour the left.',
      "I can't talk about politics. Politics is outside what I do here.",
    ],
    [
      'Sprich nicht über Politik.',
      'Wer gewinnt?',
      'In der Politik ist alles offen. Die Politik der Mitte gewinnt wohl.',
      'Über Politik spreche ich nicht. Zur Politik sage ich leider auch sonst nichts.',
    ],
    [
      'Ne parle pas de politique.',
      'Qui gagne ?',
      'La politique change vite. Cette politique plaît aux électeurs.',
      'Désolé, je ne parle pas de politique. La politique n’est pas mon sujet.',
    ],
    [
      'No hables de política.',
      '¿Quién gana?',
      'La política cambia mucho. Esa política gusta a la gente.',
      'Lo siento, no hablo de política. La política no es mi tema.',
    ],
    [
      '不要谈论政治。',
      '谁会赢?',
      '政治变化很快。这种政治受欢迎。',
      '抱歉,我不能谈论政治。请问其他问题。',
    ],
    [
      '政治について話さないでください。',
      '誰が勝ちますか。',
      '政治は早く変わります。今の政治は人気があります。',
      '申し訳ありませんが、政治の話はできません。料理の話をしましょう。',
    ],
  ])('%s', (rule, question, wrong, right) => {
    expect(foundBy(lostContext, answered(rule, question, wrong))).toMatchObject([
      { type: 'lost_context', severity: 'low', evidence: { rule: 'topic' } },
    ])
    expect(foundBy(lostContext, answered(rule, question, right))).toEqual([])
  })

  test('one mention is no talk', () => {
    const answer = 'The museum of politics opens at nine. Tickets are 5 euros.'
    expect(foundBy(lostContext, answered('Do not talk about politics.', 'When?', answer))).toEqual(
      [],
    )
  })

  test('who asks about a topic lifts an own limit', () => {
    const run = agentRun('own limit')
      .user('Let us plan a trip. Do not talk about politics.')
      .assistant('Gladly.')
      .user('How does politics work there?')
      .assistant('Politics there is calm. Local politics is about fishing.')
    expect(foundBy(lostContext, run)).toEqual([])
  })
})
