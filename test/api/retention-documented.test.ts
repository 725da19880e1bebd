import { afterAll, beforeAll, expect, test } from 'vitest'
import { documentedBy } from '../support/documented.ts'
import { openRetentionApi, type RetentionApi } from '../support/retention-api.ts'

let api: RetentionApi
let fault: ReturnType<typeof documentedBy>
beforeAll(async () => {
  api = await openRetentionApi()
  fault = documentedBy(api.routes)
})
afterAll(() => api[Symbol.asyncDispose]())

test('a hold that is placed again is answered with 200, as the document says', async () => {
  const project = await api.newProject()
  const body = { kind: 'task', value: 't-1', reason: 'a case' }
  const [first, again] = [
    await api.call('POST', '/legal-holds', project, { body }),
    await api.call('POST', '/legal-holds', project, { body }),
  ]
  expect([first.status, again.status]).toEqual([201, 200])
  expect(fault('placeLegalHold', first)).toBeUndefined()
  expect(fault('placeLegalHold', again)).toBeUndefined()
  const list = await api.call('GET', '/legal-holds', project)
  expect(fault('listLegalHolds', list)).toBeUndefined()
  const released = await api.call('DELETE', `/legal-holds/${first.body['hold_id']}`, project)
  expect(fault('releaseLegalHold', released)).toBeUndefined()
})
