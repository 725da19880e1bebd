import { describe, expect, test } from 'vitest'
import type { Secret } from '../../../../platform/kube/index.ts'
import { secretLabels, secretOwnerLabel } from '../../../names.ts'
import type { LiveKey } from '../account/account-api.ts'
import { createRenderer } from '../secrets/secret-contents.ts'
import { fingerprintOf, writeNotes } from '../secrets/secret-notes.ts'
import type { DeclaredKey } from '../spec.ts'
import { isSameSet, overlap_ms, planKeys, type SeenKeys } from './key-plan.ts'

const scopes = ['proxy:write']
const now_ms = Date.parse('2026-11-21T12:00:00.000Z')
const at = (after_ms: number) => new Date(now_ms + after_ms).toISOString()
const minute = 60_000
const idOf = (n: number) => `01890000-0000-7000-8000-${String(n).padStart(12, '0')}`

/** Returns the value of the nth key. */
const textOf = (n: number) => `lt_sa_key${String(n).padStart(5, '0')}_${'x'.repeat(32)}`

function live(n: number, more: Partial<LiveKey> = {}): LiveKey {
  const value = textOf(n)
  return {
    id: idOf(n),
    name: 'main',
    prefix: value.slice(0, 14),
    fingerprint: fingerprintOf(value),
    scopes: [...scopes],
    created_at: at(-10 * minute),
    expires_at: null,
    ...more,
  }
}

const notes = (more: Partial<Parameters<typeof writeNotes>[0]> = {}) =>
  writeNotes({ minted_at_ms: now_ms - 10 * minute, previous: [], ...more })

function secret(value: string, more: Partial<Secret> = {}): Secret {
  return {
    name: 'robot-key',
    namespace: 'team',
    uid: 's1',
    resource_version: '1',
    labels: { ...secretLabels, [secretOwnerLabel]: 'r1' },
    annotations: notes(),
    owner_uid: 'r1',
    data: { 'api-key': value },
    ...more,
  }
}

const main: DeclaredKey = { name: 'main', secretName: 'robot-key', secretKey: 'api-key' }

const shared = {
  ...{ baseUrl: 'http://looptrace/v1', otlpEndpoint: 'http://looptrace', namespace: 'team' },
  ...{ projectId: idOf(8), serviceAccountId: idOf(9) },
}
const plainly = createRenderer(undefined, shared)

function plan(seen: Partial<SeenKeys>, declared: DeclaredKey[] = [main], render = plainly) {
  const names = { foreign: new Set<string>(), ownerless: new Set<string>() }
  const whole = { keys: [], owned: [], ...names, ...seen }
  return planKeys({ keys: declared, scopes, render }, whole, now_ms)
}

const describeSteps = (some: ReturnType<typeof plan>['steps']) =>
  some.map((step) => ('key' in step ? `${step.act} ${step.key.id.at(-1)}` : step.act))
const stepsOf = (result: ReturnType<typeof plan>) => describeSteps(result.steps)

test('a key in the declared state needs no step', () => {
  const result = plan({ keys: [live(1)], owned: [secret(textOf(1))] })
  expect(result.steps).toEqual([])
  expect(result.active).toMatchObject([{ key: { id: idOf(1) }, rotates_at_ms: undefined }])
  expect(result.due_at_ms).toBeUndefined()
})

test('a missing key is minted', () => {
  const result = plan({})
  expect(result.steps).toMatchObject([{ act: 'mint', secret: undefined, reason: 'missing' }])
  expect(result.active).toEqual([])
})

describe('an unusable key is replaced, then revoked', () => {
  test.each<[string, Partial<SeenKeys>]>([
    ['its Secret is missing', { keys: [live(1)] }],
    ['its Secret has another value', { keys: [live(1)], owned: [secret('mine')] }],
    [
      'its Secret has its prefix and another secret part',
      { keys: [live(1)], owned: [secret(`${textOf(1).slice(0, -1)}y`)] },
    ],
    ['its Secret is empty', { keys: [live(1)], owned: [secret('', { data: {} })] }],
    ['it has another name', { keys: [live(1, { name: 'old' })], owned: [secret(textOf(1))] }],
  ])('%s', (_name, seen) => {
    expect(stepsOf(plan(seen))).toEqual(['mint'])
    expect(describeSteps(plan(seen).cleanup)).toEqual(['revoke 1'])
  })
})

test('a key that is in a Secret but not live is replaced', () => {
  const result = plan({ keys: [], owned: [secret(textOf(1))] })
  expect(stepsOf(result)).toEqual(['mint'])
})

test('a stray key beside a valid one is revoked', () => {
  expect(stepsOf(plan({ keys: [live(1), live(2)], owned: [secret(textOf(1))] }))).toEqual([
    'revoke 2',
  ])
})

describe('with a valid key', () => {
  test.each<[string, Partial<Secret>]>([
    ['the Secret has more entries', { data: { 'api-key': textOf(1), more: 'a' } }],
    ['the key is in another entry', { data: { token: textOf(1) } }],
    ['a label is missing', { labels: { ...secretLabels } }],
    ['the notes are missing', { annotations: {} }],
  ])('%s: the Secret is rewritten with the same key', (_name, more) => {
    const result = plan({ keys: [live(1)], owned: [secret(textOf(1), more)] })
    expect(result.steps).toMatchObject([{ act: 'rewrite', value: textOf(1) }])
    expect(result.active).toHaveLength(1)
  })
})

test('a Secret without an owner is adopted with its key', () => {
  const owned = [secret(textOf(1))]
  const result = plan({ keys: [live(1)], owned, ownerless: new Set(['robot-key']) })
  expect(result.steps).toMatchObject([{ act: 'rewrite', value: textOf(1) }])
})

test('a Secret of another owner blocks only its own key', () => {
  const other = { ...main, name: 'other', secretName: 'free' }
  const result = plan({ foreign: new Set(['robot-key']) }, [main, other])
  expect(result.blocked).toEqual([main])
  expect(result.steps).toMatchObject([{ act: 'mint', declared: other }])
})

test('a key that is no longer declared is revoked, then its Secret is dropped', () => {
  expect(stepsOf(plan({ keys: [live(1)], owned: [secret(textOf(1))] }, []))).toEqual([
    'revoke 1',
    'drop',
  ])
})

test('new scopes of the account are set on its keys', () => {
  const result = plan({ keys: [live(1, { scopes: [] })], owned: [secret(textOf(1))] })
  expect(stepsOf(result)).toEqual(['set_scopes 1'])
  expect(isSameSet(['a', 'b'], ['b', 'a', 'a'])).toBe(true)
  expect(isSameSet(['a'], ['b'])).toBe(false)
})

describe('rotation', () => {
  const rotated: DeclaredKey = { ...main, rotateAfter: '10m', overlap: '2m' }

  test('is not due before its time', () => {
    const early = notes({ minted_at_ms: now_ms - 9 * minute })
    const result = plan({ keys: [live(1)], owned: [secret(textOf(1), { annotations: early })] }, [
      rotated,
    ])
    expect(result.steps).toEqual([])
    expect(result.due_at_ms).toBe(now_ms + minute)
  })

  test('mints another key and notes when the old one ends', () => {
    const result = plan({ keys: [live(1)], owned: [secret(textOf(1))] }, [rotated])
    expect(result.steps).toMatchObject([
      { act: 'mint', reason: 'rotation', previous: [{ id: idOf(1), ends_at: at(2 * minute) }] },
    ])
  })

  test('ends the old key once the Secret has the new one', () => {
    const annotations = notes({
      minted_at_ms: now_ms,
      previous: [{ id: idOf(1), ends_at: at(minute) }],
    })
    const owned = [secret(textOf(2), { annotations })]
    const before = plan({ keys: [live(1), live(2)], owned }, [rotated])
    expect(before.steps).toMatchObject([{ act: 'end', key: { id: idOf(1) }, at: at(minute) }])
    const after = plan({ keys: [live(1, { expires_at: at(minute) }), live(2)], owned }, [rotated])
    expect(after.steps).toEqual([])
    expect(after.active).toMatchObject([{ key: { id: idOf(2) }, previous: [{ id: idOf(1) }] }])
    expect(after.due_at_ms).toBe(now_ms + minute)
  })

  test('starts again after a crash before the Secret was written', () => {
    const owned = [secret(textOf(1))]
    const result = plan({ keys: [live(1), live(2)], owned }, [rotated])
    expect(stepsOf(result)).toEqual(['mint'])
    expect(describeSteps(result.cleanup)).toEqual(['revoke 2'])
  })

  test('revokes the old key when the overlap is over', () => {
    const annotations = notes({
      minted_at_ms: now_ms,
      previous: [{ id: idOf(1), ends_at: at(-1) }],
    })
    const owned = [secret(textOf(2), { annotations })]
    expect(stepsOf(plan({ keys: [live(1), live(2)], owned }, [rotated]))).toEqual(['revoke 1'])
  })

  test('is not undone: a Secret with the old key again gets a new one', () => {
    const annotations = notes({
      minted_at_ms: now_ms,
      previous: [{ id: idOf(1), ends_at: at(minute) }],
    })
    const owned = [secret(textOf(1), { annotations })]
    const result = plan({ keys: [live(1, { expires_at: at(minute) }), live(2)], owned }, [rotated])
    expect(stepsOf(result)).toEqual(['mint'])
    expect(describeSteps(result.cleanup)).toEqual(['revoke 2'])
    expect(result.steps[0]).toMatchObject({ previous: [{ id: idOf(1) }] })
  })

  test('uses the creation time in the service when the noted time is in the future', () => {
    const annotations = notes({ minted_at_ms: now_ms + 1 })
    const owned = [secret(textOf(1), { annotations })]
    expect(stepsOf(plan({ keys: [live(1)], owned }, [rotated]))).toEqual(['mint'])
  })

  test.each<[Partial<DeclaredKey>, number]>([
    [{ rotateAfter: '10m', overlap: '2m' }, 2 * minute],
    [{ rotateAfter: '10m' }, 5 * minute],
    [{ rotateAfter: '720h' }, 60 * minute],
  ])('%j overlaps %i ms', (times, expected) => {
    expect(overlap_ms({ ...main, ...times })).toBe(expected)
  })
})
