import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRetentionApi, type RetentionApi } from '../support/retention-api.ts'

let api: RetentionApi
beforeAll(async () => {
  api = await openRetentionApi()
})
afterAll(() => api[Symbol.asyncDispose]())

test('a hold that is placed again is answered with 200, as documented', async () => {
  const project = await api.newProject()
  const body = { kind: 'task', value: 't-1', reason: 'a case' }
  const [first, again] = [
    await api.call('POST', '/legal-holds', project, { body }),
    await api.call('POST', '/legal-holds', project, { body }),
  ]
  expect([first.status, again.status]).toEqual([201, 200])
  expect(again.body).toEqual(first.body)
})
