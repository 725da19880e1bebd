import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf, serious } from '../../../../../test/support/failure-findings.ts'
import { prematureStop } from './premature-stop.ts'

const tools = ['search_flights', 'book_flight']

test.each([
  'Let me search for flights to Oslo on Friday.',
  'I have changed the loop. Now I will run the tests.',
  "Next, I'll add the header to c.c.",
  "I'll start by reading nightly-2.log to see where it failed:",
  'Als Nächstes prüfe ich die Preise.',
])('“%s” is followed by nothing', (text) => {
  const run = agentRun('stops', { tools }).user('Find and book a flight.').assistant(text)
  expect(findingsOf(prematureStop, run)).toMatchObject([
    { type: 'premature_stop', severity: 'medium', start_step: 0, recovered: false },
  ])
})

test('a task that failed with an open tool call', () => {
  const run = agentRun('open', { tools })
    .user('Book it.')
    .assistant({ calls: [{ name: 'book_flight' }] })
  expect(findingsOf(prematureStop, run)).toEqual([])
  expect(findingsOf(prematureStop, run, { state: 'completed' })).toEqual([])
  expect(findingsOf(prematureStop, run, { state: 'failed' })).toMatchObject([
    { type: 'premature_stop', severity: 'medium' },
  ])
})

describe('healthy twins', () => {
  test.each([
    'Your flight is booked. Let me know if you need anything else.',
    'Shall I search for flights now?',
    'I will now wait for your confirmation.',
    'Once you confirm, I will book it.',
    'Please confirm, and then I will book the flight.',
    "I'll be happy to help with the hotel, too.",
    'Let me summarize: the flight leaves at nine.',
  ])('“%s” is an end', (text) => {
    const run = agentRun('ends', { tools }).user('x').assistant(text)
    expect(findingsOf(prematureStop, run)).toEqual([])
  })

  test('it announces and does it', () => {
    const run = agentRun('does', { tools })
      .user('x')
      .tool({ name: 'search_flights', text: 'Let me search for flights.' }, '[]')
      .assistant('There are none.')
    expect(findingsOf(prematureStop, run)).toEqual([])
  })

  test('the user asks it to continue', () => {
    const run = agentRun('goes on', { tools })
      .user('x')
      .assistant('Let me search for flights.')
      .user('Yes, do.')
      .tool({ name: 'search_flights' }, '[]')
      .assistant('There are none.')
    expect(serious(findingsOf(prematureStop, run))).toEqual([])
  })

  test('an agent without tools only talks', () => {
    const run = agentRun('talks').user('Tell me a story.').assistant('Let me tell you of a fox.')
    expect(findingsOf(prematureStop, run)).toEqual([])
  })
})
