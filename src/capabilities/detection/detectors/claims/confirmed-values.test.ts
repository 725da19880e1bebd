import { expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf } from '../../../../../test/support/failure-findings.ts'
import { unsupportedValue } from './unsupported-value.ts'

const order = '{"id":"PB-7731","total_cents":4250,"items":3,"eta":"2026-03-12"}'
const offer = 'Order PB-7731 costs €42.50, delivery is €6.80. Shall I send it?'
const asked = (name: string) =>
  agentRun(name)
    .user('My order?')
    .tool({ name: 'get_order', args: { latest: true } }, order)
const sent = '{"sent":true,"delivery":"€6.80"}'
const severitiesOf = (run: ReturnType<typeof asked>) =>
  findingsOf(unsupportedValue, run).map(({ severity }) => severity)

test('an amount that a later result has is at most low', () => {
  const open = asked('open').assistant(offer)
  const later = asked('later')
    .assistant(offer)
    .user('Yes')
    .tool({ name: 'send', args: { id: 'PB-7731' } }, sent)
    .assistant('Sent.')
  expect([open, later].map(severitiesOf)).toEqual([['medium'], ['low']])
})

test('a result that only repeats what the agent gave confirms nothing', () => {
  const run = asked('echo')
    .assistant(offer)
    .user('Yes')
    .tool({ name: 'send', args: { id: 'PB-7731', delivery: '€6.80' } }, sent)
    .assistant('Sent.')
  expect(severitiesOf(run)).toEqual(['medium'])
})

test('an answer can repeat what an earlier answer calculated', () => {
  const fees = 'Fees: £88 for an adult, £57 for a child.'
  const run = agentRun('sum')
    .system(fees)
    .user('One adult, two children?')
    .assistant('That is £88 + £57 + £57 = £202.')
    .user('Book 16 September, please')
    .tool({ name: 'reserve', args: { day: '2026-09-16' } }, 'reserved P84 on 2026-09-16')
    .assistant('Reserved: P84 on 16 September. Please bring £202.')
  expect(findingsOf(unsupportedValue, run)).toEqual([])
})

test('an amount that follows from what an earlier answer worked out is at most low', () => {
  const run = (last: string) =>
    agentRun(last)
      .system('A visit is €90, at once €140. The way: 10 km are free, then €0.80 a km.')
      .user('At once, to Mill Lane 4.')
      .tool({ name: 'distance', args: { to: 'Mill Lane 4' } }, '24 km')
      .assistant('That is €140, and 14 × €0.80 = €11.20 for the way: €151.20 together.')
      .user('And not at once?')
      .assistant(last)
  expect(severitiesOf(run('A visit is €90, at once €140, with the way €101.20.'))).not.toContain(
    'medium',
  )
  expect(severitiesOf(run('A visit is €90, at once €140, with the way €178.35.'))).toContain(
    'medium',
  )
})

test('an invented code stays what it is when it is said again', () => {
  const said = 'Order PB-7713 costs €42.50, due 2026-03-12.'
  const run = asked('code').assistant(said).user('Sure?').assistant(said)
  expect(severitiesOf(run)).toEqual(['medium', 'medium'])
})
