import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf, serious } from '../../../../../test/support/failure-findings.ts'
import { toolOutage } from './tool-outage.ts'

const down = 'HTTP 503 Service Unavailable'
const charge = { name: 'charge', args: { order: 12 } }

test('a tool that stayed down', () => {
  const run = agentRun('down')
    .user('Charge order 12.')
    .times(3, (agent) => agent.tool(charge, down))
    .assistant('The service is down.')
  expect(findingsOf(toolOutage, run)).toMatchObject([
    { type: 'tool_outage', severity: 'high', repeats: 3, recovered: false, start_step: 0 },
  ])
  expect(findingsOf(toolOutage, run)[0]?.summary).toContain('503')
})

test('a single outage counts without another attempt', () => {
  const run = agentRun('once').user('Charge order 12.').tool(charge, down)
  expect(findingsOf(toolOutage, run)).toEqual([])
  expect(findingsOf(toolOutage, run.assistant('It is down.'))).toMatchObject([
    { severity: 'medium', repeats: 1 },
  ])
})

describe('healthy twins', () => {
  test('two outages and then it works', () => {
    const run = agentRun('back').user('x').tool(charge, down).tool(charge, down)
    expect(findingsOf(toolOutage, run.tool(charge, 'charged').assistant('Charged.'))).toEqual([])
  })

  test('a long outage that passed is low', () => {
    const run = agentRun('passed')
      .user('x')
      .times(4, (agent) => agent.tool(charge, down).wait(5_000))
      .tool(charge, 'charged')
      .assistant('Charged.')
    const found = findingsOf(toolOutage, run)
    expect(found).toMatchObject([{ recovered: true, severity: 'low' }])
    expect(serious(found)).toEqual([])
  })

  test('another tool does the work', () => {
    const run = agentRun('other way')
      .user('News?')
      .tool({ name: 'web_search', args: { q: 'news' } }, down)
      .tool({ name: 'wiki', args: { q: 'news' } }, 'Today: rain.')
      .assistant('Rain.')
    expect(findingsOf(toolOutage, run)).toEqual([])
  })

  test('a text about outages is not an outage', () => {
    const text = 'The log of yesterday: at 12:01 the server answered 503, at 12:02 it was back.'
    const run = agentRun('log').user('x').tool({ name: 'read_log' }, text).assistant('It was down.')
    expect(findingsOf(toolOutage, run)).toEqual([])
  })
})
