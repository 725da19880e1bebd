import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf, serious } from '../../../../../test/support/failure-findings.ts'
import { unknownTool } from './unknown-tool.ts'

const tools = ['list_events', 'delete_event']

test('a tool that no request declared', () => {
  const run = agentRun('made up', { tools })
    .user('Cancel my Friday.')
    .tool({ name: 'delete_all' }, "Error: unknown tool 'delete_all'")
    .assistant('I can not.')
  expect(findingsOf(unknownTool, run)).toMatchObject([
    { type: 'unknown_tool', severity: 'medium', recovered: false, start_step: 0 },
  ])
  expect(findingsOf(unknownTool, run)[0]?.evidence).toMatchObject({
    tool: 'delete_all',
    declared: tools,
  })
})

describe('healthy twins', () => {
  test('the model then takes the right one', () => {
    const run = agentRun('corrected', { tools })
      .user('Cancel lunch.')
      .tool({ name: 'remove_event', args: { id: 1 } }, "Error: unknown tool 'remove_event'")
      .tool({ name: 'delete_event', args: { id: 1 } }, 'deleted')
      .assistant('Cancelled.')
    expect(findingsOf(unknownTool, run)).toMatchObject([{ recovered: true, severity: 'low' }])
  })

  test('the client knew it nevertheless', () => {
    const run = agentRun('served', { tools })
      .user('x')
      .tool({ name: 'hidden' }, 'ok')
      .assistant('y')
    expect(serious(findingsOf(unknownTool, run))).toEqual([])
  })

  test('declared tools, and requests that list none', () => {
    const known = agentRun('known', { tools }).user('x').tool({ name: 'list_events' }, '[]')
    expect(findingsOf(unknownTool, known.assistant('None.'))).toEqual([])
    const untold = agentRun('untold').user('x').tool({ name: 'any' }, 'x').assistant('y')
    expect(findingsOf(unknownTool, untold)).toEqual([])
  })
})
