import { expect, test } from 'vitest'
import { natureOfTool } from './tool-nature.ts'

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
