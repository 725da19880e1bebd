import { expect, test } from 'vitest'
import { createLogger } from '../../platform/telemetry/index.ts'
import type { ServiceRequest } from '../service/service-client.ts'
import { createGrantBook } from '../tenancy/grant-book.ts'
import { reportGrants } from './report-grants.ts'

/** Runs rounds of ten seconds; `step` changes the world before each, and the last one ends it. */
async function rounds(steps: readonly (() => void)[], serve: () => void = () => undefined) {
  const book = createGrantBook(() => undefined)
  const sent: ServiceRequest[] = []
  const end = new AbortController()
  let [now_ms, at] = [1_000_000, 0]
  const step = () => {
    if (at === steps.length) end.abort()
    else steps[at]?.call(undefined)
    at += 1
  }
  await reportGrants(
    {
      book,
      service: {
        request: async (request) => {
          sent.push(request)
          serve()
          return { status: 200, body: {}, etag: undefined }
        },
      },
      presence: {
        whenAllowed: async () => step(),
        installation: () => ({ id: 'i', cluster: 'c' }),
      },
      areLabelsKnown: () => true,
      timing: {
        clock: { now_ms: () => now_ms },
        sleep: async (ms) => {
          now_ms += ms
        },
        random: () => 0,
      },
      logger: createLogger({ role: 'test', level: 'silent' }),
    },
    end.signal,
  )
  return sent
}

test('a report is sent once, again after a change, and every five minutes', async () => {
  const none = () => undefined
  expect(await rounds([none, none, none])).toHaveLength(1)
  expect(await rounds(Array.from({ length: 31 }, () => none))).toHaveLength(2)
})

test('a report that failed is sent again in the next round', async () => {
  const none = () => undefined
  let failures = 2
  const sent = await rounds([none, none, none, none], () => {
    failures -= 1
    if (failures >= 0) throw new Error('away')
  })
  expect(sent).toHaveLength(3)
  expect(sent[0]).toMatchObject({
    ...{ method: 'PUT', path: '/api/v2/access/installations/i/grants' },
    body: { cluster: 'c', grants: [] },
  })
})
