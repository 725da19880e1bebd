import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf } from '../../../../../test/support/failure-findings.ts'
import { refusal } from './refusal.ts'

test.each([
  "I'm sorry, but I can't assist with that request.",
  'I cannot help with this request.',
  'I’m unable to help you with that.',
  'Das tut mir leid. Dabei kann ich leider nicht helfen.',
  'Je ne peux pas vous aider avec cela.',
  'Lo siento, no puedo ayudarte con eso.',
])('the words “%s” are a refusal, and low', (text) => {
  const run = agentRun('words').user('Do it.').assistant(text)
  expect(findingsOf(refusal, run)).toMatchObject([
    { type: 'refusal', severity: 'low', start_step: 0, recovered: false },
  ])
  expect(findingsOf(refusal, run, { state: 'failed' })).toMatchObject([{ severity: 'medium' }])
})

test('a refusal marked by the provider is medium, with any words', () => {
  const run = agentRun('marked').user('Do it.').assistant({ refusal: 'Nope.' })
  expect(findingsOf(refusal, run)).toMatchObject([
    { severity: 'medium', confidence: 1, evidence: { marked_by_provider: true } },
  ])
})

describe('healthy twins', () => {
  test.each([
    "I can't find the file in src/, so I will look in lib/.",
    'I could not reach the server; please check the address.',
    'Can I help with anything else?',
    'The API is unable to help with more than 10 ids at a time, so I sent two requests.',
    'People say “I can’t help with that” when they have no time.',
    'The vendor said: the warranty does not cover this.',
  ])('“%s” is not a refusal', (text) => {
    expect(findingsOf(refusal, agentRun('no').user('x').assistant(text))).toEqual([])
  })

  test('the user rephrases and is answered', () => {
    const run = agentRun('again')
      .user('Do it.')
      .assistant("I'm sorry, I can't help with that.")
      .user('I mean the report.')
      .assistant('Here is the report.')
    expect(findingsOf(refusal, run)).toMatchObject([{ recovered: true, severity: 'info' }])
  })

  test('a long answer that starts like one and helps', () => {
    const text = `I can't help with legal advice. ${'But here is what the statute says. '.repeat(30)}`
    expect(findingsOf(refusal, agentRun('long').user('x').assistant(text))).toEqual([])
  })
})
