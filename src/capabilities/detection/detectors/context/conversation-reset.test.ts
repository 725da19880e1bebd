import { expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { conversationReset } from './conversation-reset.ts'

const system = 'You help with gardens.'
const talk = (name: string) =>
  agentRun(name, { tools: ['build', 'sign'] })
    .system(system)
    .user('My tomatoes have brown spots.')
    .assistant('Are the leaves affected too?')
    .user('Yes, the lower ones.')
    .assistant('Cut them off.')

test('a task that continues without its history', () => {
  const run = talk('again').reset().system(system).user('Should I spray them?').assistant('What?')
  expect(foundBy(conversationReset, run)).toMatchObject([
    { type: 'conversation_reset', severity: 'medium', start_step: 2 },
  ])
})

test('an agent that stops in the middle and starts again', () => {
  const half = agentRun('restart', { tools: ['build', 'sign'] })
    .system('You are the release agent.')
    .user('Release 3.2: build and sign.')
    .tool({ name: 'build' }, 'built 3.2')
    .tool({ name: 'sign' }, 'signed 3.2')
  const run = half.reset().system('You are the release agent.').user('Continue.').assistant('What?')
  expect(foundBy(conversationReset, run)).toMatchObject([{ start_step: 2 }])
})

test('a continued history is not a reset', () => {
  expect(foundBy(conversationReset, talk('on').user('Spray them?').assistant('No.'))).toEqual([])
})

test('parallel agents are not a reset', () => {
  const run = agentRun('side by side')
    .system('You plan.')
    .user('Plan a party.')
    .assistant('I ask two helpers.')
    .parallel(
      (one) => one.system('You cook.').user('A menu.').assistant('Soup.'),
      (two) => two.system('You decorate.').user('A room.').assistant('Balloons.'),
    )
    .user('Well?')
    .assistant('Soup and balloons.')
  expect(foundBy(conversationReset, run)).toEqual([])
})
