import { expect, test } from 'vitest'
import { maxProcessWaits, maxProjectWaits, openWaitSlots } from './wait-slots.ts'

const signal = new AbortController().signal

test('requests above the limit of a project or the process are refused at once', async () => {
  const waits = openWaitSlots('waiting verifications')
  const ended = Promise.withResolvers<void>()
  const take = (project: string) => waits.take({ project_id: project, signal }, () => ended.promise)
  const held: Promise<void>[] = []
  for (let at = 0; at < maxProcessWaits; at += 1) {
    held.push(take(`p${Math.floor(at / maxProjectWaits)}`))
  }
  await expect(take('p0')).rejects.toMatchObject({ code: 'rate_limited', retry_after_s: 1 })
  await expect(take('another')).rejects.toMatchObject({
    ...{ code: 'rate_limited', retry_after_s: 1 },
    message: `Limit reached: waiting verifications of all projects at one time: ${maxProcessWaits}. Try again shortly.`,
  })
  ended.resolve()
  await Promise.all(held)
  await take('another')
})
