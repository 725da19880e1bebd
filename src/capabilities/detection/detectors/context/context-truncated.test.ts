import { expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { contextTruncated } from './context-truncated.ts'

const talk = (name: string, first: string) =>
  agentRun(name)
    .system('You help with tax.')
    .user(first)
    .assistant('Noted.')
    .user('What about the train?')
    .assistant('It counts.')
    .user('And the bicycle?')
    .assistant('It counts too.')

test('messages dropped from the history, with their statements', () => {
  const run = talk('fact', 'My budget is 900 euros.').truncate(2).user('Sum up.').assistant('Done.')
  expect(foundBy(contextTruncated, run)).toMatchObject([
    {
      type: 'context_truncated',
      severity: 'medium',
      start_step: 3,
      evidence: { by: 'truncated', original_context: 'My budget is 900 euros.' },
    },
  ])
})

test('nothing checkable was lost: low', () => {
  const run = talk('none', 'Let us talk.').truncate(2).user('Sum up.').assistant('Done.')
  expect(foundBy(contextTruncated, run)).toMatchObject([{ severity: 'low' }])
})

test('a summary by the client is info', () => {
  const run = talk('summary', 'My budget is 900 euros.')
    .compact(
      'Summary of the conversation so far: the budget is 900 euros; train and bicycle count.',
      1,
    )
    .user('Sum up.')
    .assistant('Done.')
  for (const { severity } of foundBy(contextTruncated, run)) expect(severity).toBe('info')
})

test('a history that only grows is complete', () => {
  expect(foundBy(contextTruncated, talk('whole', 'My budget is 900 euros.'))).toEqual([])
})
