import { describe, expect, test } from 'vitest'
import type { Secret } from '../../../platform/kube/index.ts'
import { secretLabels, secretOwnerLabel } from '../../names.ts'
import type { LiveKey } from './account-api.ts'
import { isSameSet, overlap_ms, planKeys, type SeenKeys } from './key-plan.ts'
import { fingerprintOf, writeNotes } from './secret-notes.ts'
import type { DeclaredKey } from './spec.ts'

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

function plan(seen: Partial<SeenKeys>, declared: DeclaredKey[] = [main]) {
  const names = { foreign: new Set<string>(), ownerless: new Set<string>() }
  const whole = { keys: [], owned: [], ...names, ...seen }
  return planKeys(declared, scopes, whole, now_ms)
}

const describeActs = (some: ReturnType<typeof plan>['acts']) =>
  some.map((act) => ('key' in act ? `${act.act} ${act.key.id.at(-1)}` : act.act))
const acts = (found: ReturnType<typeof plan>) => describeActs(found.acts)

test('a key in the declared state needs no step', () => {
  const found = plan({ keys: [live(1)], owned: [secret(textOf(1))] })
  expect(found.acts).toEqual([])
  expect(found.active).toMatchObject([{ key: { id: idOf(1) }, rotates_at_ms: undefined }])
  expect(found.due_at_ms).toBeUndefined()
})

test('a missing key is minted', () => {
  const found = plan({})
  expect(found.acts).toMatchObject([{ act: 'mint', secret: undefined, reason: 'missing' }])
  expect(found.active).toEqual([])
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
    expect(acts(plan(seen))).toEqual(['mint'])
    expect(describeActs(plan(seen).cleanup)).toEqual(['revoke 1'])
  })
})

test('a key that is in a Secret but not live is replaced', () => {
  const found = plan({ keys: [], owned: [secret(textOf(1))] })
  expect(acts(found)).toEqual(['mint'])
})

test('a stray key beside a valid one is revoked', () => {
  expect(acts(plan({ keys: [live(1), live(2)], owned: [secret(textOf(1))] }))).toEqual(['revoke 2'])
})

describe('with a valid key', () => {
  test.each<[string, Partial<Secret>]>([
    ['the Secret has more entries', { data: { 'api-key': textOf(1), more: 'a' } }],
    ['the key is in another entry', { data: { token: textOf(1) } }],
    ['a label is missing', { labels: { ...secretLabels } }],
    ['the notes are missing', { annotations: {} }],
  ])('%s: the Secret is rewritten with the same key', (_name, more) => {
    const found = plan({ keys: [live(1)], owned: [secret(textOf(1), more)] })
    expect(found.acts).toMatchObject([{ act: 'rewrite', value: textOf(1) }])
    expect(found.active).toHaveLength(1)
  })
})

test('a Secret without an owner is adopted with its key', () => {
  const owned = [secret(textOf(1))]
  const found = plan({ keys: [live(1)], owned, ownerless: new Set(['robot-key']) })
  expect(found.acts).toMatchObject([{ act: 'rewrite', value: textOf(1) }])
})

test('a Secret of another owner blocks only its own key', () => {
  const other = { ...main, name: 'other', secretName: 'free' }
  const found = plan({ foreign: new Set(['robot-key']) }, [main, other])
  expect(found.blocked).toEqual([main])
  expect(found.acts).toMatchObject([{ act: 'mint', declared: other }])
})

test('a key that is no longer declared is revoked, then its Secret is dropped', () => {
  expect(acts(plan({ keys: [live(1)], owned: [secret(textOf(1))] }, []))).toEqual([
    'revoke 1',
    'drop',
  ])
})

test('new scopes of the account are set on its keys', () => {
  const found = plan({ keys: [live(1, { scopes: [] })], owned: [secret(textOf(1))] })
  expect(acts(found)).toEqual(['set_scopes 1'])
  expect(isSameSet(['a', 'b'], ['b', 'a', 'a'])).toBe(true)
  expect(isSameSet(['a'], ['b'])).toBe(false)
})

describe('rotation', () => {
  const rotated: DeclaredKey = { ...main, rotateAfter: '10m', overlap: '2m' }

  test('is not due before its time', () => {
    const early = notes({ minted_at_ms: now_ms - 9 * minute })
    const found = plan({ keys: [live(1)], owned: [secret(textOf(1), { annotations: early })] }, [
      rotated,
    ])
    expect(found.acts).toEqual([])
    expect(found.due_at_ms).toBe(now_ms + minute)
  })

  test('mints another key and notes when the old one ends', () => {
    const found = plan({ keys: [live(1)], owned: [secret(textOf(1))] }, [rotated])
    expect(found.acts).toMatchObject([
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
    expect(before.acts).toMatchObject([{ act: 'end', key: { id: idOf(1) }, at: at(minute) }])
    const after = plan({ keys: [live(1, { expires_at: at(minute) }), live(2)], owned }, [rotated])
    expect(after.acts).toEqual([])
    expect(after.active).toMatchObject([{ key: { id: idOf(2) }, previous: [{ id: idOf(1) }] }])
    expect(after.due_at_ms).toBe(now_ms + minute)
  })

  test('starts again after a crash before the Secret was written', () => {
    const owned = [secret(textOf(1))]
    const found = plan({ keys: [live(1), live(2)], owned }, [rotated])
    expect(acts(found)).toEqual(['mint'])
    expect(describeActs(found.cleanup)).toEqual(['revoke 2'])
  })

  test('revokes the old key when the overlap is over', () => {
    const annotations = notes({
      minted_at_ms: now_ms,
      previous: [{ id: idOf(1), ends_at: at(-1) }],
    })
    const owned = [secret(textOf(2), { annotations })]
    expect(acts(plan({ keys: [live(1), live(2)], owned }, [rotated]))).toEqual(['revoke 1'])
  })

  test('is not undone: a Secret with the old key again gets a new one', () => {
    const annotations = notes({
      minted_at_ms: now_ms,
      previous: [{ id: idOf(1), ends_at: at(minute) }],
    })
    const owned = [secret(textOf(1), { annotations })]
    const found = plan({ keys: [live(1, { expires_at: at(minute) }), live(2)], owned }, [rotated])
    expect(acts(found)).toEqual(['mint'])
    expect(describeActs(found.cleanup)).toEqual(['revoke 2'])
    expect(found.acts[0]).toMatchObject({ previous: [{ id: idOf(1) }] })
  })

  test('uses the creation time in the service when the noted time is in the future', () => {
    const annotations = notes({ minted_at_ms: now_ms + 1 })
    const owned = [secret(textOf(1), { annotations })]
    expect(acts(plan({ keys: [live(1)], owned }, [rotated]))).toEqual(['mint'])
  })

  test.each<[Partial<DeclaredKey>, number]>([
    [{ rotateAfter: '10m', overlap: '2m' }, 2 * minute],
    [{ rotateAfter: '10m' }, 5 * minute],
    [{ rotateAfter: '720h' }, 60 * minute],
  ])('%j overlaps %i ms', (times, expected) => {
    expect(overlap_ms({ ...main, ...times })).toBe(expected)
  })
})
