import { expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { contextOverflow } from './context-overflow.ts'

const filled = (input_tokens: number, model = 'gpt-4o') =>
  agentRun(`${model} ${input_tokens}`, { model })
    .user('Read.')
    .assistant({ text: 'Yes.', input_tokens })
const tooLong = { status: 400, type: 'context_length_exceeded', message: 'maximum context length' }

test.each([
  [110_000, 'low'],
  [126_000, 'medium'],
])('%d tokens of 128,000 are %s', (tokens, severity) => {
  expect(foundBy(contextOverflow, filled(tokens))).toMatchObject([
    { type: 'context_overflow', severity, start_step: 0, evidence: { window_tokens: 128_000 } },
  ])
})

test('a window with room is not a finding', () => {
  expect(foundBy(contextOverflow, filled(100_000))).toEqual([])
})

test('an unknown model has no window unless it is set', () => {
  expect(foundBy(contextOverflow, filled(7_900, 'our-own'))).toEqual([])
  const windows = { 'our-': 8_000 }
  expect(foundBy(contextOverflow, filled(7_900, 'our-own'), { windows })).toMatchObject([
    { severity: 'medium' },
  ])
  expect(foundBy(contextOverflow, filled(110_000), { windows: { 'gpt-4o': 1_000_000 } })).toEqual(
    [],
  )
})

test('content is not needed', () => {
  const run = agentRun('bare', { model: 'gpt-4', source: 'otlp_no_content' })
    .user('A')
    .assistant({ text: 'b', input_tokens: 8_000 })
  expect(foundBy(contextOverflow, run)).toHaveLength(1)
})

test('a refusal as too long is high, and low after a shorter call succeeded', () => {
  const run = (name: string) =>
    agentRun(name, { model: 'our-own' }).user('Read all.').assistant({ error: tooLong })
  expect(foundBy(contextOverflow, run('a'))).toMatchObject([{ severity: 'high', recovered: false }])
  expect(foundBy(contextOverflow, run('b').assistant('Done.'))).toMatchObject([
    { severity: 'low', recovered: true },
  ])
})

test('another provider error is not an overflow', () => {
  const error = { status: 400, type: 'invalid_request_error', message: 'no such parameter' }
  const run = agentRun('other').user('Read.').assistant({ error })
  expect(foundBy(contextOverflow, run)).toEqual([])
})
