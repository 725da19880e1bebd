import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { contradictedFact } from './contradicted-fact.ts'

const stating = (fact: string, then: string) =>
  agentRun(fact + then)
    .user(fact)
    .assistant('Noted.')
    .user('Go on.')
    .assistant(then)

describe('a value that is stated differently', () => {
  test.each([
    ['My order number is 4711.', 'Your order number is 4171.', 'Your order number is 4711.'],
    [
      'My budget is 900 euros.',
      'Since your budget is 1,500 euros, take this.',
      'Your budget is 900.',
    ],
    [
      'My phone number is 555-0101.',
      'Your phone number is 555-0110.',
      'Your phone number is 555 0101.',
    ],
    ['The deadline is March 3.', 'The deadline is March 5.', 'The deadline is the 3rd of March.'],
    ['The meeting is on Tuesday.', 'The meeting is on Friday.', 'The meeting is on Tuesday.'],
    ['My name is Martina.', 'Hello Monika, here it is.', 'Hello Martina, here it is.'],
    [
      'A table for 4 people, please.',
      'A table for 6 people is free.',
      'A table for four people is free.',
    ],
    [
      'Mein Budget beträgt 400 Euro.',
      'Ihr Budget beträgt 900 Euro.',
      'Ihr Budget beträgt 400 Euro.',
    ],
  ])('%s', (fact, wrong, right) => {
    expect(foundBy(contradictedFact, stating(fact, wrong))).toMatchObject([
      { type: 'contradicted_fact', severity: 'medium', start_step: 1, recovered: false },
    ])
    expect(foundBy(contradictedFact, stating(fact, right))).toEqual([])
  })

  test('in the arguments of a tool', () => {
    const run = (order_id: string) =>
      agentRun(order_id, { tools: ['look_up'] })
        .user('My order number is 4711.')
        .tool({ name: 'look_up', args: { order_id } }, 'found')
        .assistant('Found.')
    expect(foundBy(contradictedFact, run('4712'))).toMatchObject([
      { start_step: 0, evidence: { expected: '4711', claimed: '4712' } },
    ])
    expect(foundBy(contradictedFact, run('4711'))).toEqual([])
  })
})

describe('statements without contradiction', () => {
  test('a part of the people', () => {
    const people = 'A buffet for 35 people, 5 of them vegan.'
    const parts = 'For 30 people I suggest the country buffet.'
    expect(foundBy(contradictedFact, stating(people, parts))).toEqual([])
    const sums = 'For 20 people the hall, and for the other 15 the garden.'
    expect(foundBy(contradictedFact, stating('We are 35 people.', sums))).toEqual([])
    expect(foundBy(contradictedFact, stating('We are 35 people.', parts))).toHaveLength(1)
  })

  test('a correction by the user', () => {
    const run = stating('My order number is 4711.', 'Noted.').user(
      'Sorry, my order number is 4712.',
    )
    expect(foundBy(contradictedFact, run.assistant('Your order number is 4712.'))).toEqual([])
  })

  test('a value that a tool gave', () => {
    const run = agentRun('tool', { tools: ['move'] })
      .user('The meeting is on Tuesday. Find a better day.')
      .tool({ name: 'move' }, 'moved to Friday')
      .assistant('The meeting is on Friday.')
    expect(foundBy(contradictedFact, run)).toEqual([])
  })

  test.each([
    'If your order number is 5555, tell me.',
    'Is your order number 5555?',
    'Your new order number is 5555.',
    'Write: `your order number is 5555`.',
    'You gave 4711; another order is 5555.',
  ])('%s', (then) => {
    expect(foundBy(contradictedFact, stating('My order number is 4711.', then))).toEqual([])
  })
})

test('corrected later, it is recovered', () => {
  const run = stating('My order number is 4711.', 'Your order number is 4171.')
    .user('No!')
    .assistant('I am sorry: it is 4711.')
  expect(foundBy(contradictedFact, run)).toMatchObject([{ recovered: true, severity: 'low' }])
})
