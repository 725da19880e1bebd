import { expect, test } from 'vitest'
import { manualTiming } from '../../../test/support/manual-timing.ts'
import { scriptedKube, thing } from '../../../test/support/scripted-kube.ts'
import {
  KubeExpired,
  KubeForbidden,
  type KubeList,
  KubeUnavailable,
} from '../../platform/kube/index.ts'
import { createLogger } from '../../platform/telemetry/index.ts'
import { createReflector } from './reflector.ts'

const act = { verb: 'list', resource: 'things', namespace: undefined, name: undefined }
const settings = {
  list_page_size: 2,
  relist_ms: 600_000,
  watch_idle_ms: 120_000,
  watch_timeout_ms: 300_000,
}

/** Runs a reflector until the test ends and records the calls of its sink. */
function running(...answers: (KubeList | Error)[]) {
  const script = scriptedKube()
  script.answer(...answers)
  const timing = manualTiming()
  const calls: string[] = []
  const why: string[] = []
  const reflector = createReflector({
    ...{ kube: script.kube, timing, settings },
    resource: { group: 'example.com', version: 'v1', plural: 'things' },
    namespace: undefined,
    logger: createLogger({ role: 'test', level: 'silent' }),
    onList: (reason) => why.push(reason),
    sink: {
      listing: () => calls.push('listing'),
      changed: ({ metadata }) => calls.push(`changed ${metadata.name}@${metadata.resourceVersion}`),
      deleted: ({ metadata }) => calls.push(`deleted ${metadata.name}`),
      listed: (uids) => calls.push(`listed ${[...uids].join(' ')}`),
    },
  })
  const stop = new AbortController()
  const done = reflector.run(stop.signal)
  return {
    ...{ script, timing, calls, why, reflector },
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await done
    },
  }
}

const page = (version: string, names: string[], next?: string) => ({
  items: names.map((name) => thing(name, Number(version))),
  resource_version: version,
  next,
})

test('reads the list by pages, then watches from its version', async () => {
  await using on = running(page('7', ['a', 'b'], 'more'), page('7', ['c']))
  expect(on.reflector.unsynced()).toBe('not listed yet')
  await on.timing.advance(0)
  expect(on.calls).toEqual([
    'listing',
    ...['changed a@7', 'changed b@7', 'changed c@7'],
    'listed uid-a uid-b uid-c',
  ])
  expect(on.reflector.unsynced()).toBeNull()
  expect(on.script.lists.map(({ next }) => next)).toEqual([undefined, 'more'])
  expect(on.script.watches[0]?.options).toMatchObject({
    resource_version: '7',
    timeout_ms: 300_000,
  })
})

test('reports events of the watch, and resumes from the last version or bookmark', async () => {
  await using on = running(page('7', []))
  await on.timing.advance(0)
  const [first] = on.script.watches
  first?.say({ type: 'changed', object: thing('a', 8) })
  first?.say({ type: 'deleted', object: thing('a', 9) })
  first?.say({ type: 'bookmark', resource_version: '20' })
  await on.timing.advance(0)
  expect(on.calls.slice(2)).toEqual(['changed a@8', 'deleted a'])
  first?.end()
  await on.timing.advance(0)
  expect(on.script.watches[1]?.options.resource_version).toBe('20')
  expect(on.why).toEqual(['start'])
})

test('watches again after a failure, with a longer wait each time', async () => {
  await using on = running(page('7', []))
  await on.timing.advance(0)
  on.script.watches[0]?.fail(new KubeUnavailable(act, 'reset'))
  await on.timing.advance(799)
  expect(on.script.watches).toHaveLength(1)
  await on.timing.advance(1)
  expect(on.script.watches[1]?.options.resource_version).toBe('7')
  on.script.watches[1]?.fail(new KubeUnavailable(act, 'reset'))
  await on.timing.advance(1_599)
  expect(on.script.watches).toHaveLength(2)
  await on.timing.advance(1)
  expect(on.script.watches).toHaveLength(3)
})

test('lists again when three watches in a row fail', async () => {
  await using on = running(page('7', []), page('3', []))
  await on.timing.advance(0)
  for (let i = 0; i < 3; i += 1) {
    on.script.watches[i]?.fail(new KubeUnavailable(act, 'too large a version'))
    await on.timing.advance(30_000)
  }
  expect(on.why).toEqual(['start', 'failures'])
  expect(on.script.watches[3]?.options.resource_version).toBe('3')
})

test('lists again when the version is gone', async () => {
  await using on = running(page('7', ['a', 'b']), page('30', ['b']))
  await on.timing.advance(0)
  on.script.watches[0]?.fail(new KubeExpired(act, 'too old'))
  await on.timing.advance(800)
  expect(on.why).toEqual(['start', 'expired'])
  expect(on.calls.at(-1)).toBe('listed uid-b')
  expect(on.script.watches[1]?.options.resource_version).toBe('30')
})

test('restarts a silent watch; a bookmark counts as an event', async () => {
  await using on = running(page('7', []))
  await on.timing.advance(119_000)
  on.script.watches[0]?.say({ type: 'bookmark', resource_version: '8' })
  await on.timing.advance(119_000)
  expect(on.script.watches).toHaveLength(1)
  await on.timing.advance(2_000)
  expect(on.script.watches).toHaveLength(2)
  expect(on.script.watches[0]?.options.signal.aborted).toBe(true)
  expect(on.script.watches[1]?.options.resource_version).toBe('8')
})

test('ignores events of an abandoned watch', async () => {
  await using on = running(page('7', []))
  await on.timing.advance(121_000)
  on.script.watches[0]?.say({ type: 'changed', object: thing('late', 8) })
  await on.timing.advance(0)
  expect(on.calls).not.toContain('changed late@8')
})

test('lists again on the timer, during a working watch', async () => {
  await using on = running(page('7', []), page('9', ['a']))
  for (let minute = 0; minute < 10; minute += 1) {
    await on.timing.advance(60_000)
    on.script.watches.at(-1)?.say({ type: 'bookmark', resource_version: '8' })
  }
  await on.timing.advance(1_000)
  expect(on.why).toEqual(['start', 'timer'])
  expect(on.calls).toContain('changed a@9')
})

test('a failed list is retried after Retry-After; the fault is reported until a list succeeds', async () => {
  const busy = new KubeUnavailable(act, 'too many requests', { retry_after_ms: 5_000 })
  await using on = running(busy, new KubeForbidden(act, 'may not list things'), page('7', []))
  await on.timing.advance(4_999)
  expect(on.reflector.unsynced()).toBe('too many requests')
  expect(on.script.lists).toHaveLength(1)
  await on.timing.advance(1)
  expect(on.script.lists).toHaveLength(2)
  expect(on.reflector.unsynced()).toBe('may not list things')
  expect(on.calls).not.toContain('listed ')
  await on.timing.advance(1_600)
  expect(on.reflector.unsynced()).toBeNull()
})

test('a server that ends every watch at once is not flooded with requests', async () => {
  await using on = running(page('7', []))
  for (let step = 0; step < 600; step += 1) {
    for (const watch of on.script.watches) watch.end()
    await on.timing.advance(100)
  }
  expect(on.script.watches.length).toBeLessThan(10)
})
