import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { repeatedQuestion } from './repeated-question.ts'

const asked = (question: string, reply: string, then: string) =>
  agentRun(question + reply + then)
    .user('I want to travel.')
    .assistant(question)
    .user(reply)
    .assistant('And in which month would it be?')
    .user('In June.')
    .assistant(then)

test.each([
  ['Where would you like to go?', 'To Madeira.'],
  ['What is your e-mail address?', 'kim@example.org'],
  ['Does anybody have an allergy?', 'Yes, to nuts.'],
  ['Welche Schuhgröße haben Sie?', '43'],
])('%s', (question, reply) => {
  expect(foundBy(repeatedQuestion, asked(question, reply, `Good. ${question}`))).toMatchObject([
    { type: 'repeated_question', severity: 'medium', start_step: 2 },
  ])
  expect(foundBy(repeatedQuestion, asked(question, reply, 'Good.'))).toEqual([])
})

describe('questions that may be repeated', () => {
  test.each([
    ['no reply', 'Where would you like to go?', 'I am not sure yet.'],
    ['agreement alone', 'Does anybody have an allergy?', 'No.'],
    ['what changes', 'Does it work now?', 'Not the sound.'],
    ['a courtesy', 'Can I help you with anything else?', 'With the hotel.'],
  ])('%s', (_what, question, reply) => {
    expect(foundBy(repeatedQuestion, asked(question, reply, question))).toEqual([])
  })

  test('whether something is right', () => {
    const run = agentRun('right')
      .user('I submit my readings.')
      .assistant('G-07: 5,031 m³. Right?')
      .user('no, 5013, sorry')
      .assistant('What does W-03 say?')
      .user('388')
      .assistant('W-03: 388 m³. Right?')
    expect(foundBy(repeatedQuestion, run)).toEqual([])
  })

  test('the same words for another question', () => {
    const run = asked('Where would you like to go?', 'To Madeira.', 'Where would you like to stay?')
    expect(foundBy(repeatedQuestion, run)).toEqual([])
  })

  test('an insufficient reply', () => {
    const run = agentRun('wrong', { tools: ['find'] })
      .user('Where is my parcel?')
      .assistant('What is your order number?')
      .user('4711')
      .tool({ name: 'find', args: { order: 4711 } }, 'order not found')
      .assistant('I can not find it. What is your order number?')
    expect(foundBy(repeatedQuestion, run)).toEqual([])
  })

  test('a new request', () => {
    const pay = (run: ReturnType<typeof agentRun>, to: string, tan: string) =>
      run.user(`Pay 20 euros to ${to}.`).assistant('What is the TAN?').user(tan).assistant('Paid.')
    const run = pay(pay(agentRun('tan'), 'Ann', '118'), 'Bob', '204')
    expect(foundBy(repeatedQuestion, run)).toEqual([])
  })
})
