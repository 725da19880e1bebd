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
      { type: 'contradicted_fact', severity: 'low', start_step: 1, recovered: false },
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

describe('a second witness makes it medium', () => {
  const order = 'My order number is 4711.'
  const wrong = 'Your order number is 4171.'

  test('the agent had used the value', () => {
    const run = agentRun('used', { tools: ['look_up'] })
      .user(order)
      .tool({ name: 'look_up', args: { order_id: '4711' } }, 'found')
      .assistant(wrong)
    expect(foundBy(contradictedFact, run)).toMatchObject([
      { severity: 'medium', evidence: { witness: 'agent' } },
    ])
  })

  test('a result of a tool has it', () => {
    const run = agentRun('result', { tools: ['last_order'] })
      .user(order)
      .tool({ name: 'last_order' }, '{"order":"4711"}')
      .assistant(wrong)
    expect(foundBy(contradictedFact, run)).toMatchObject([
      { severity: 'medium', evidence: { witness: 'tool' } },
    ])
  })

  test('an earlier answer had confirmed it', () => {
    const run = agentRun('confirmed').user(order).assistant('Order 4711, thank you.')
    expect(foundBy(contradictedFact, run.user('Go on.').assistant(wrong))).toMatchObject([
      { severity: 'medium', evidence: { witness: 'agent' } },
    ])
  })

  test.each(['No, it is 4711.', 'I already told you my number.', 'Das habe ich schon gesagt.'])(
    'the user objects: %s',
    (reply) => {
      const run = stating(order, wrong).user(reply)
      expect(foundBy(contradictedFact, run.assistant('Just a moment.'))).toMatchObject([
        { severity: 'medium', evidence: { witness: 'user' } },
      ])
    },
  )

  test('a day that the agent had repeated, against its call', () => {
    const said = () => agentRun('day', { tools: ['book'] }).user('Lyon on 9 June, please.')
    const call = { name: 'book', args: { date: '2026-07-09' } }
    const repeated = said().assistant('Lyon, the 9th of June. One moment.').user('Thanks.')
    expect(foundBy(contradictedFact, repeated.tool(call, 'ok'))).toMatchObject([
      { severity: 'medium', evidence: { witness: 'agent' } },
    ])
    expect(foundBy(contradictedFact, said().tool(call, 'ok'))).toMatchObject([{ severity: 'low' }])
  })

  test('a number of one digit is in other texts by chance', () => {
    const run = agentRun('digit')
      .user('A table for 4 people, please.')
      .assistant('We have 4 rooms.')
      .user('Go on.')
    expect(foundBy(contradictedFact, run.assistant('A table for 6 people is free.'))).toMatchObject(
      [{ severity: 'low', evidence: { witness: null } }],
    )
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

const booked = (said: readonly string[], call: Record<string, unknown>) =>
  said
    .reduce(
      (run, text, at) => (at === 0 ? run : run.assistant('I see.')).user(text),
      agentRun(said.join() + JSON.stringify(call), { tools: ['book'] }),
    )
    .tool({ name: 'book', args: call }, 'ok')
    .assistant('Done.')

describe('an argument that differs from the only value', () => {
  test.each([
    [['I moved in on 1 June 2025.'], { date: '2025-07-01' }],
    [['Lyon on 9 September', "sorry it's the 19th of course!", 'yes'], { date: '2026-09-09' }],
    [['the 08:04 train'], { time: '08:34' }],
    [['mail joy@post.example'], { email: 'jay@post.example' }],
    [['ring 0171 555 2030'], { phone: '0171 555 2039' }],
    [['send it to Elm Road 12'], { street: 'Elm Road 21' }],
    [['From Gatwick, not Heathrow.'], { from: 'Heathrow' }],
    [['send 450 to Pohl'], { amount: 540 }],
  ])('%j %j', (said, call) => {
    expect(foundBy(contradictedFact, booked(said, call))).toMatchObject([{ severity: 'low' }])
  })

  test.each([
    [['I moved in on 1 June 2025.'], { date: '2025-06-01' }],
    [['I moved in two weeks ago, today is 15 June 2025'], { date: '2025-06-01' }],
    [['12 to 15 June'], { from: '2025-06-12' }],
    [['Lyon on 9 September', 'and the 12th?', 'then the 9th'], { date: '2026-09-09' }],
    [['ring 0171 555 2030'], { phone: '+441715552030' }],
    [['send the rent, 450, plus 90'], { amount: 540 }],
    [['an invoice for customer 12'], { amount: 80 }],
    [['Heathrow, or not Heathrow if Gatwick is cheaper'], { from: 'Heathrow' }],
    [['at 4pm'], { time: '16:00' }],
  ])('healthy: %j %j', (said, call) => {
    expect(foundBy(contradictedFact, booked(said, call))).toEqual([])
  })
})

const turned = (result: string, first: string, then: string, between = 'sure?') =>
  agentRun(first + then, { tools: ['look'] })
    .user('How is it?')
    .tool({ name: 'look', args: { q: 1 } }, result)
    .assistant(first)
    .user(between)
    .assistant(then)

describe('an answer that says the opposite', () => {
  test.each([
    ['dogs allowed', 'Dogs are allowed.', "I'm sorry, dogs are not allowed at our hotel."],
    ['12', 'The lamp is in stock.', "I'm afraid the lamp is out of stock."],
    ['free', 'Die Kündigung ist kostenlos.', 'Die Kündigung ist leider nicht kostenlos.'],
    ['refundable', 'FLEX is refundable until departure.', 'FLEX is non-refundable.'],
    [
      '4',
      'With Max four devices can watch at the same time.',
      'Max allows two devices at the same time.',
    ],
  ])('%s: %s %s', (result, first, then) => {
    expect(foundBy(contradictedFact, turned(result, first, then))).toMatchObject([
      { severity: 'low' },
    ])
  })

  test.each([
    ['x', 'Dogs are allowed.', 'Dogs are not allowed in the restaurant.'],
    ['x', 'FLEX is refundable until departure.', 'After departure FLEX is not refundable.'],
    ['x', "You don't need a visa for 10 days.", 'For 20 days you need a visa.'],
    ['x', 'K1 has a lift.', 'K2 has no lift.'],
    ['x', 'Parking is free for guests.', "For visitors parking isn't free."],
    ['code LV3', 'The code is LV3.', 'The code is RV3.'],
  ])('healthy: %s %s %s', (result, first, then) => {
    expect(foundBy(contradictedFact, turned(result, first, then))).toEqual([])
  })

  test('is silent when a tool told something new', () => {
    const run = agentRun('learnt', { tools: ['look'] })
      .user('Is it there?')
      .assistant('The lamp is in stock.')
      .user('Buy it.')
      .tool({ name: 'look', args: { q: 1 } }, '{"stock":0}')
      .assistant('The lamp is out of stock.')
    expect(foundBy(contradictedFact, run)).toEqual([])
  })
})
