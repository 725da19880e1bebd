import { expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { budget } from './budget.ts'

test('reports steps over the limit as info', () => {
  const run = agentRun('long')
    .user('Read all.')
    .times(6, (agent, at) => agent.tool({ name: 'read', args: { at } }, `${at}`))
  expect(foundBy(budget, run, { steps_max: 6 })).toEqual([])
  expect(foundBy(budget, run, { steps_max: 4 })).toMatchObject([
    {
      type: 'budget',
      severity: 'info',
      start_step: 4,
      end_step: 5,
      anchor: 'steps',
      wasted_tokens: 0,
    },
  ])
})
