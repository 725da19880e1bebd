import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf, serious } from '../../../../../test/support/failure-findings.ts'
import { finishReason } from './finish-reason.ts'

const cut = { text: '{"months":[{"m":1,"su', finish_reason: 'length', output_tokens: 4_096 }

test.each(['length', 'max_tokens'])('an answer that ends with %s and is the last', (reason) => {
  const run = agentRun('cut')
    .user('All months.')
    .assistant({ ...cut, finish_reason: reason })
  expect(findingsOf(finishReason, run)).toMatchObject([
    { type: 'output_truncated', severity: 'medium', recovered: false, start_step: 0 },
  ])
})

test('an answer cut before any text is worse', () => {
  const run = agentRun('mute')
    .user('Think.')
    .assistant({ ...cut, text: '' })
  expect(findingsOf(finishReason, run)).toMatchObject([{ severity: 'high' }])
})

test('the provider’s filter, by its reason or as an error', () => {
  const byReason = agentRun('a').user('x').assistant({ text: '', finish_reason: 'content_filter' })
  expect(findingsOf(finishReason, byReason)).toMatchObject([{ type: 'content_filter' }])
  const error = { status: 400, type: 'content_filter', message: 'The prompt was filtered.' }
  const byError = agentRun('b').user('x').assistant({ error })
  expect(findingsOf(finishReason, byError)).toMatchObject([
    { type: 'content_filter', severity: 'medium' },
  ])
})

test('spans without content show it too', () => {
  const run = agentRun('quiet', { source: 'otlp_no_content' }).user('x').assistant(cut)
  expect(findingsOf(finishReason, run)).toMatchObject([{ type: 'output_truncated' }])
})

describe('healthy twins', () => {
  test('the user asks a cut answer to continue', () => {
    const run = agentRun('on')
      .user('All months.')
      .assistant(cut)
      .user('Go on')
      .assistant('m":98}]}')
    expect(findingsOf(finishReason, run)).toMatchObject([{ recovered: true, severity: 'low' }])
  })

  test('a one-token label is cut on purpose', () => {
    const run = agentRun('label')
      .user('Spam?')
      .assistant({ text: 'yes', finish_reason: 'length', output_tokens: 1 })
    expect(serious(findingsOf(finishReason, run))).toEqual([])
  })

  test('a plain end and a tool call', () => {
    const run = agentRun('plain').user('Hi').tool({ name: 'look' }, 'x').assistant('Done.')
    expect(findingsOf(finishReason, run)).toEqual([])
  })
})
