import { expect, test } from 'vitest'
import { desiredPolicy, differences, differencesText } from './desired-policy.ts'
import { retentionPolicySpec } from './spec.ts'
import type { StoredPolicy } from './stored-policy.ts'

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

/** What the service has once it took what `whole` wants. */
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

test('what is left out is for ever; events go with observations', () => {
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

test('in an environment a section without days is for ever, one that is left out is as elsewhere', () => {
  expect(wantedOf(whole).environments).toEqual([
    { environment: 'dev', days: { observations: 7, traces: null } },
    { environment: 'prod', days: { content: 9 } },
  ])
})

test('the order of lists, the spelling of ids and a schedule that is off make no difference', () => {
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
    'an environment less',
    { environments: [{ environment: 'prod', days: { content: 9 } }] },
    [
      ...['environments[dev]', 'environments[dev].observations.days'],
      'environments[dev].traces.days',
    ],
  ],
  [
    'an environment more',
    {
      environments: [...stored().environments, { environment: 'x', days: {} }],
    },
    ['environments[x]'],
  ],
  [
    'for ever in the place of as elsewhere',
    {
      environments: [
        { environment: 'prod', days: { content: 9, traces: null } },
        { environment: 'dev', days: { traces: null, observations: 7 } },
      ],
    },
    ['environments[prod].traces.days'],
  ],
  ['the archive', { archive: null }, ['archive.afterDays', 'archive.enabled', 'archive.schedule']],
  ['the archive before', { archive_before_delete: false }, ['archive.beforeDelete']],
  ['nobody’s', { managed_by: null }, ['managedBy', 'managedBy.uid']],
  [
    'another’s',
    {
      managed_by: { kind: 'RetentionPolicy', namespace: 'team-a', name: 'other', uid: 'u1' },
    },
    ['managedBy'],
  ],
  ['a hold less', { legal_holds: holds.slice(1) }, ['legalHolds[two]', 'legalHolds[two].reason']],
  [
    'a hold on another',
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

test('what can not be read differs in everything', () => {
  expect(differences(wantedOf({}), undefined).length).toBeGreaterThan(5)
})

test('it is told as it stands in the spec, a few at a time', () => {
  const few = differences(wantedOf(whole), stored({ days: { ...days, traces: null, content: 3 } }))
  expect(differencesText(few)).toBe(
    'content.days was 3, is for ever; traces.days was for ever, is 365',
  )
  expect(differencesText(differences(wantedOf(whole), undefined))).toMatch(/; and \d+ more$/)
})
