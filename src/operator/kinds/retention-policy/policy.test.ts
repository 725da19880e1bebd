import { expect, test } from 'vitest'
import { differences as differencesOf } from '../../declared/reconcile-declared.ts'
import type { StoredPolicy } from './policy.ts'
import { type DesiredPolicy, describeDifferences, desiredPolicy, valuesOf } from './policy.ts'
import { retentionPolicySpec } from './spec.ts'

const trace_id = '0a1b2c3d-0000-4000-8000-0123456789ab'
const meta = {
  ...{ kind: 'RetentionPolicy', namespace: 'team-a', name: 'default', uid: 'u1' },
  ...{ generation: 1, created_at: '2026-11-21T12:00:00Z', annotations: {}, external_id: undefined },
}

const wantedOf = (spec: object) =>
  desiredPolicy({
    meta,
    spec: retentionPolicySpec.parse({ projectRef: { name: 'default' }, ...spec }),
  })

const differences = (wanted: DesiredPolicy, got: StoredPolicy | undefined) =>
  differencesOf(valuesOf(wanted), got === undefined ? {} : valuesOf(got))

const whole = {
  traces: { days: 365 },
  observations: { days: 90 },
  environments: [
    { name: 'dev', observations: { days: 7 }, traces: {} },
    { name: 'prod', content: { days: 9 } },
  ],
  archive: { enabled: true, afterDays: 7, beforeDelete: true },
  legalHolds: [
    { name: 'one', traceId: trace_id.replaceAll('-', '').toUpperCase(), reason: 'x' },
    { name: 'two', userId: 'ada', reason: 'y' },
  ],
}

/** The stored policy after a PUT of `whole`. */
function stored(more: Partial<StoredPolicy> = {}): StoredPolicy {
  return {
    days: { traces: 365, observations: 90, content: null, events: 90 },
    environments: [
      { environment: 'prod', days: { content: 9 } },
      { environment: 'dev', days: { traces: null, observations: 7 } },
    ],
    archive_before_delete: true,
    archive: { enabled: true, after_days: 7, schedule: '0 4 * * *' },
    version: 1,
    managed_by: { kind: 'RetentionPolicy', namespace: 'team-a', name: 'default', uid: 'u1' },
    legal_holds: [
      { hold_id: 'h2', name: 'two', kind: 'user', value: 'ada', reason: 'y' },
      { hold_id: 'h1', name: 'one', kind: 'trace', value: trace_id, reason: 'x' },
    ],
    ...{ last_run: null, deleted_rows: 0, deleted_bytes: 0, held_count: 2 },
    ...{ next_run_at: null, next_archive_at: null },
    ...more,
  }
}

test('missing sections are forever; events follow observations', () => {
  expect(wantedOf({ observations: { days: 90 }, traces: {} })).toMatchObject({
    days: { traces: null, observations: 90, content: null, events: 90 },
    archive: null,
    archive_before_delete: false,
    environments: [],
    legal_holds: [],
  })
  expect(wantedOf({ observations: { days: 90 }, events: { days: 3 } }).days.events).toBe(3)
  expect(wantedOf({}).days).toEqual({
    traces: null,
    observations: null,
    content: null,
    events: null,
  })
})

test('in an environment a section without days is forever, a missing one inherits', () => {
  expect(wantedOf(whole).environments).toEqual([
    { environment: 'dev', days: { observations: 7, traces: null } },
    { environment: 'prod', days: { content: 9 } },
  ])
})

test('the order of lists, the spelling of ids and a disabled schedule make no difference', () => {
  expect(differences(wantedOf(whole), stored())).toEqual([])
  const off = { ...whole, archive: { beforeDelete: true, schedule: '9 9 * * *' } }
  const archive = { enabled: false, after_days: 3, schedule: '0 4 * * *' }
  expect(differences(wantedOf(off), stored({ archive }))).toEqual([])
  expect(differences(wantedOf(off), stored({ archive: null }))).toEqual([])
})

const days = stored().days
const holds = stored().legal_holds
test.each<[string, Partial<StoredPolicy>, string[]]>([
  ['days', { days: { ...days, traces: null } }, ['traces.days']],
  ['days of content', { days: { ...days, content: 1 } }, ['content.days']],
  [
    'a missing environment',
    { environments: [{ environment: 'prod', days: { content: 9 } }] },
    [
      ...['environments[dev]', 'environments[dev].observations.days'],
      'environments[dev].traces.days',
    ],
  ],
  [
    'an additional environment',
    {
      environments: [...stored().environments, { environment: 'x', days: {} }],
    },
    ['environments[x]'],
  ],
  [
    'forever instead of inherited',
    {
      environments: [
        { environment: 'prod', days: { content: 9, traces: null } },
        { environment: 'dev', days: { traces: null, observations: 7 } },
      ],
    },
    ['environments[prod].traces.days'],
  ],
  ['the archive', { archive: null }, ['archive.afterDays', 'archive.enabled', 'archive.schedule']],
  ['archive before deletion', { archive_before_delete: false }, ['archive.beforeDelete']],
  ['a missing owner', { managed_by: null }, ['managedBy', 'managedBy.uid']],
  [
    'another owner',
    {
      managed_by: { kind: 'RetentionPolicy', namespace: 'team-a', name: 'other', uid: 'u1' },
    },
    ['managedBy'],
  ],
  [
    'a missing hold',
    { legal_holds: holds.slice(1) },
    ['legalHolds[two]', 'legalHolds[two].reason'],
  ],
  [
    'a hold with another target',
    {
      legal_holds: [
        ...holds.slice(1),
        { hold_id: 'h2', name: 'two', kind: 'user', value: 'bob', reason: 'y' },
      ],
    },
    ['legalHolds[two]'],
  ],
])('%s is found', (_, more, paths) => {
  expect(differences(wantedOf(whole), stored(more)).map(({ path }) => path)).toEqual(paths)
})

test('an unreadable policy differs in every value', () => {
  expect(differences(wantedOf({}), undefined).length).toBeGreaterThan(5)
})

test('differences are described by their paths in the spec, up to a maximum', () => {
  const few = differences(wantedOf(whole), stored({ days: { ...days, traces: null, content: 3 } }))
  expect(describeDifferences(few)).toBe(
    'content.days was 3, is forever; traces.days was forever, is 365',
  )
  expect(describeDifferences(differences(wantedOf(whole), undefined))).toMatch(/; and \d+ more$/)
})
