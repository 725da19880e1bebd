import { expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { runOf } from '../../../../../test/support/detect-one.ts'
import { effectOfTool, isAcknowledged, natureOfTool } from './tool-effect.ts'

function useOf(name: string, args: unknown = {}, result = 'some text') {
  const key = JSON.stringify([name, args, result])
  const run = runOf(agentRun(key).user('Go.').tool({ name, args }, result).assistant('Done.'))
  const [use] = run.tools
  if (use === undefined) throw new RangeError('the run has no tool')
  return use
}

test.each<[string, unknown, string?]>([
  ['read_file', { path: 'a' }],
  ['hotel_reviews', { id: 1 }],
  ['run_tests', {}],
  ['db', { sql: 'SELECT 1' }],
  ['http', { method: 'GET', url: '/a' }],
  ['bash', { command: 'cd src && git status | head -5' }],
  ['bash', { command: 'pytest -q 2>&1 | tail -3' }],
])('%s %j reads', (name, args) => {
  expect(effectOfTool(useOf(name, args))).toBe('reads')
})

test.each<[string, unknown, string?]>([
  ['write_file', { path: 'a' }],
  ['mcp__jira__createIssue', {}],
  ['db', { sql: 'update t set a = 1' }],
  ['http', { method: 'POST', url: '/a' }],
  ['bash', { command: 'ls > out.txt' }],
  ['bash', { command: "sed -i 's/a/b/' f" }],
  ['bash', { command: 'sleep 5' }],
  ['konto', {}, '{"ok":true}'],
])('%s %j changes something', (name, args, result = 'some text') => {
  expect(effectOfTool(useOf(name, args, result))).toBe('changes')
})

test('a short result acknowledges a change', () => {
  expect(isAcknowledged(useOf('add_item', {}, 'added'))).toBe(true)
  expect(isAcknowledged(useOf('click', {}, '<main>the page as it was</main>'))).toBe(false)
  expect(isAcknowledged(useOf('read_file', {}, 'ok'))).toBe(false)
})

test.each([
  ['send_email', { isEffect: true, isOnce: true }],
  ['createIssue', { isEffect: true, isOnce: true }],
  ['github.create_issue', { isEffect: true, isOnce: true }],
  ['update_order', { isEffect: true, isOnce: false }],
  ['get_order', { isEffect: false, isOnce: false }],
  ['order_status', { isEffect: false, isOnce: false }],
  ['create', { isEffect: true, isOnce: false }],
  ['bash', { isShell: true, isEffect: false }],
  ['execute_command', { isShell: true }],
  ['submit_order', { isEnd: false, isOnce: true }],
  ['submit', { isEnd: true, isEffect: false }],
  ['transfer_to_human', { isEnd: true }],
  ['transfer_money', { isEnd: false, isOnce: true }],
  ['complete_task', { isEnd: true }],
  ['', { isEffect: false, isOnce: false, isShell: false, isEnd: false }],
])('%s', (name, expected) => {
  expect(natureOfTool(name)).toMatchObject(expected)
})
