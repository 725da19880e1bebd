import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf, serious } from '../../../../../test/support/failure-findings.ts'
import { emptyCompletion } from './empty-completion.ts'

test.each(['', ' \n '])('an answer of “%s” is empty', (text) => {
  const run = agentRun('empty').user('Hi').assistant({ text })
  expect(findingsOf(emptyCompletion, run)).toMatchObject([
    { type: 'empty_completion', severity: 'medium', start_step: 0, recovered: false },
  ])
})

test('several in a row are one finding', () => {
  const run = agentRun('row')
    .user('Hi')
    .times(3, (agent) => agent.assistant({ text: '' }))
  expect(findingsOf(emptyCompletion, run)).toMatchObject([{ repeats: 3 }])
  const asked = agentRun('asked again')
    .user('Hi')
    .times(3, (agent) => agent.assistant({ text: '', kept: false }))
  expect(findingsOf(emptyCompletion, asked).every(({ recovered }) => !recovered)).toBe(true)
})

describe('healthy twins', () => {
  test('asked again, it answers', () => {
    const run = agentRun('again')
      .user('Hi')
      .assistant({ text: '', kept: false })
      .assistant('Hello!')
    expect(serious(findingsOf(emptyCompletion, run))).toEqual([])
  })

  test('nothing more to say after the result was delivered', () => {
    const run = agentRun('done')
      .user('Fix it.')
      .tool({ name: 'submit', args: { patch: 'x' } }, 'submitted')
      .assistant({ text: '' })
    expect(findingsOf(emptyCompletion, run)).toEqual([])
  })

  test('a tool call without text is an answer, and so is a cut one', () => {
    const run = agentRun('call').user('Hi').tool({ name: 'look' }, 'x').assistant('There.')
    expect(findingsOf(emptyCompletion, run)).toEqual([])
    const cut = agentRun('cut').user('Hi').assistant({ text: '', finish_reason: 'length' })
    expect(findingsOf(emptyCompletion, cut)).toEqual([])
  })

  test('without content, an answer with tokens is not empty', () => {
    const run = agentRun('quiet', { source: 'otlp_no_content' }).user('Hi').assistant('Hello!')
    expect(findingsOf(emptyCompletion, run)).toEqual([])
  })
})
