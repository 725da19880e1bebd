import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { lintResources } from '../../src/cli/lint/lint.ts'
import { apiVersion, kinds } from '../../src/operator/index.ts'
import { eventually } from '../support/eventually.ts'
import { type ApiServer, apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import { sharedApiServer } from '../support/kube/shared-api-server.ts'

let server: ApiServer
let namespace: string

beforeAll(async () => {
  server = await sharedApiServer()
  const apply = ['apply', '--server-side', '--field-manager=test', '--force-conflicts']
  const crds = await server.kubectl([...apply, '-f', 'crds/'])
  expect(crds).toMatchObject({ status: 0, stderr: '' })
  for (const { plural } of kinds) {
    await eventually(`${plural} are served`, async () => {
      const path = `/apis/${apiVersion}/${plural}`
      return (await server.ask('GET', path)).status === 200
    })
  }
  namespace = await server.namespace()
}, apiServerStartTimeoutMs)

afterAll(() => server?.[Symbol.asyncDispose]())

type Fields = Readonly<Record<string, unknown>>

/** Values of `projectRef` and other fields in cases that are not about them. */
const policy = (fields: Fields): Fields => ({ projectRef: { name: 'a' }, ...fields })
const account = (fields: Fields): Fields => ({
  projectRef: { name: 'a' },
  scopes: ['ingest:write'],
  ...fields,
})
const key = (fields: Fields): Fields => ({ name: 'main', secretName: 'main-key', ...fields })
const template = (secretTemplate: Fields): Fields => account({ keys: [key({})], secretTemplate })
const id = '0199aaaa-0000-7000-8000-000000000000'
const many = (count: number) => Array.from({ length: count }, (_, i) => i)

const grant = (fields: Fields): Fields => ({
  project: { organization: 'default', name: 'a' },
  namespaces: { names: ['team-a'] },
  kinds: ['RetentionPolicy'],
  ...fields,
})
const expression = (fields: Fields): Fields => ({
  selector: { matchExpressions: [{ key: 'team', ...fields }] },
})

type Declared =
  | 'RetentionPolicy'
  | 'LooptraceServiceAccount'
  | 'ProjectGrant'
  | 'Project'
  | 'ProjectMember'
  | 'NotificationChannel'
  | 'IncidentRule'
  | 'ReleasePolicy'

const project = (fields: Fields): Fields => ({ organization: 'default', name: 'a', ...fields })
const member = (fields: Fields): Fields => ({
  ...{ projectRef: { name: 'a' }, email: 'ada@example.com', role: 'viewer' },
  ...fields,
})
const channel = (fields: Fields): Fields => ({ projectRef: { name: 'a' }, ...fields })
const secretRef = { name: 'a-secret', key: 'value' }
const url = 'https://in.example.com/hook'
const rule = (fields: Fields): Fields => ({
  ...{ projectRef: { name: 'a' }, severity: 'high' },
  condition: { signal: 'failure_count', window: '5m', threshold: '3' },
  ...fields,
})

const gate = { metric: 'loop_rate', kind: 'absolute', threshold: '0.05' }
const release = (fields: Fields): Fields => ({
  ...{ projectRef: { name: 'a' }, gates: [gate] },
  ...fields,
})

const accepted: readonly [string, Declared, Fields][] = [
  ['a grant', 'ProjectGrant', grant({})],
  ['a grant by id', 'ProjectGrant', grant({ project: { id } })],
  ['a grant for every namespace', 'ProjectGrant', grant({ namespaces: { selector: {} } })],
  [
    'a grant by label',
    'ProjectGrant',
    grant({ namespaces: expression({ operator: 'In', values: ['a', ''] }) }),
  ],
  [
    'a project with its organization',
    'RetentionPolicy',
    policy({ projectRef: { organization: 'o', name: 'a' } }),
  ],
  ['a policy of nothing', 'RetentionPolicy', policy({})],
  ['a project by id', 'RetentionPolicy', policy({ projectRef: { id } })],
  ['days', 'RetentionPolicy', policy({ traces: { days: 90 }, observations: { days: 30 } })],
  ['null for a section', 'RetentionPolicy', policy({ traces: null, suspend: null })],
  ['a whole number with a point', 'RetentionPolicy', policy({ observations: { days: 1.0 } })],
  [
    'an environment that keeps less',
    'RetentionPolicy',
    policy({
      traces: { days: 90 },
      observations: { days: 90 },
      environments: [{ name: 'dev', traces: { days: 7 }, observations: { days: 7 } }],
    }),
  ],
  ['an archive that is off by default', 'RetentionPolicy', policy({ archive: {} })],
  ['an archive', 'RetentionPolicy', policy({ archive: { enabled: true, afterDays: 7 } })],
  [
    'a hold',
    'RetentionPolicy',
    policy({ legalHolds: [{ name: 'one', userId: 'ü@example.com', reason: 'why' }] }),
  ],
  ['a name of 100 emoji', 'RetentionPolicy', policy({ projectRef: { name: '🙂'.repeat(50) } })],
  ['an account', 'LooptraceServiceAccount', account({})],
  ['a key', 'LooptraceServiceAccount', account({ keys: [key({})] })],
  [
    'a key that is rotated',
    'LooptraceServiceAccount',
    account({ keys: [key({ rotateAfter: '720h', overlap: '24h', expiresAfter: '800h' })] }),
  ],
  [
    'two keys',
    'LooptraceServiceAccount',
    account({ keys: [key({}), key({ name: 'other', secretName: 'other-key' })] }),
  ],
  ...['0 0 29 2 *', '0 0 31 2 1', '0 0 31 2,3 *', '0 0 30 4 *', '0 0 31 * *', '0 0 28-31 2 *'].map(
    (schedule): (typeof accepted)[number] => [
      ...([`a schedule that occurs: ${schedule}`, 'RetentionPolicy'] as const),
      policy({ archive: { schedule } }),
    ],
  ),
  [
    'a template of a Secret',
    'LooptraceServiceAccount',
    template({
      labels: [{ name: 'app.kubernetes.io/part-of', value: 'checkout' }],
      annotations: [
        { name: 'reloader.stakater.com/match', value: 'true' },
        { name: 'x-k8s.io/note', value: 'text with "quotes"\n' },
      ],
      entries: [
        { key: '.env', format: 'dotenv' },
        { key: 'config.json', format: 'json' },
        { key: 'auth', template: '{ {{apiKey}}, {{ projectId }} }} {' },
        { key: 'empty', template: '' },
      ],
    }),
  ],
  [
    'the largest template',
    'LooptraceServiceAccount',
    template({
      entries: many(20).map((i) => ({ key: `entry-${i}`, template: '{{baseUrl}}'.repeat(186) })),
      labels: many(20).map((i) => ({ name: `${'a'.repeat(190)}/l${i}`, value: 'v' })),
    }),
  ],
  ['an empty template', 'LooptraceServiceAccount', template({})],
  ['no class', 'RetentionPolicy', policy({ className: '' })],
  ['a class', 'RetentionPolicy', policy({ className: 'staging' })],
  ['a period', 'LooptraceServiceAccount', account({ resyncPeriod: '30s', suspend: true })],
  ['a project with a space in its name', 'Project', project({ name: 'ein Projekt' })],
  [
    'environments of a project',
    'Project',
    project({ environments: ['production', 'EU staging', '🙂', 'a'.repeat(100)] }),
  ],
  ['a project without environments', 'Project', project({ environments: [] })],
  ['20 environments', 'Project', project({ environments: many(20).map(String) })],
  ['null for environments', 'Project', project({ environments: null })],
  ['a project to adopt', 'Project', project({ id, deletionPolicy: 'Delete' })],
  ['a member with a tagged address', 'ProjectMember', member({ email: 'ada+ü@mail.example.com' })],
  ['a webhook without a secret', 'NotificationChannel', channel({ webhook: { url } })],
  [
    'a webhook with another name and a fallback',
    'NotificationChannel',
    channel({ webhook: { url, secretRef }, channelName: 'on-call', fallback: 'mail' }),
  ],
  ['an incoming webhook of Slack', 'NotificationChannel', channel({ slack: { secretRef } })],
  [
    'a channel in Slack',
    'NotificationChannel',
    channel({ slack: { channel: '#checkout', secretRef } }),
  ],
  ['PagerDuty', 'NotificationChannel', channel({ pagerduty: { secretRef } })],
  ['an Alertmanager', 'NotificationChannel', channel({ alertmanager: { url, secretRef } })],
  ['mails', 'NotificationChannel', channel({ email: { to: ['ada@example.com'] } })],
  ['a rule', 'IncidentRule', rule({})],
  [
    'a rule of an event',
    'IncidentRule',
    rule({ condition: null, event: { match: { source: 'finding' } } }),
  ],
  ['a release policy', 'ReleasePolicy', release({ policyId: 'default', maxAttempts: 3 })],
  ['a member by id', 'ProjectMember', member({ projectRef: { id }, deletionPolicy: 'Retain' })],
  ['a grant of roles', 'ProjectGrant', grant({ kinds: ['ProjectMember'], roles: ['viewer'] })],
]

const refused: typeof accepted = [
  ['a grant of no project', 'ProjectGrant', grant({ project: {} })],
  ['a grant of a name alone', 'ProjectGrant', grant({ project: { name: 'a' } })],
  ['a grant of an organization', 'ProjectGrant', grant({ project: { organization: 'a' } })],
  [
    'a grant by id and name',
    'ProjectGrant',
    grant({ project: { id, organization: 'o', name: 'a' } }),
  ],
  ['a grant without namespaces', 'ProjectGrant', grant({ namespaces: {} })],
  ['a grant with an empty list', 'ProjectGrant', grant({ namespaces: { names: [] } })],
  ['a grant with a pattern', 'ProjectGrant', grant({ namespaces: { names: ['*'] } })],
  [
    'a grant of two selections',
    'ProjectGrant',
    grant({ namespaces: { names: ['a'], selector: {} } }),
  ],
  ['a grant without kinds', 'ProjectGrant', grant({ kinds: [] })],
  ['a grant of every kind', 'ProjectGrant', grant({ kinds: ['*'] })],
  ['a grant of an unknown scope', 'ProjectGrant', grant({ scopes: ['everything'] })],
  ['a grant of a negative number', 'ProjectGrant', grant({ maxKeys: -1 })],
  [
    'a condition without values',
    'ProjectGrant',
    grant({ namespaces: expression({ operator: 'In' }) }),
  ],
  [
    'a condition with values that it ignores',
    'ProjectGrant',
    grant({ namespaces: expression({ operator: 'Exists', values: ['a'] }) }),
  ],
  [
    'an id with an organization',
    'RetentionPolicy',
    policy({ projectRef: { id, organization: 'o' } }),
  ],
  ['no project', 'RetentionPolicy', { traces: { days: 1 } }],
  ['a project by both', 'RetentionPolicy', policy({ projectRef: { id, name: 'a' } })],
  ['a project by neither', 'RetentionPolicy', policy({ projectRef: {} })],
  ['an invalid id', 'RetentionPolicy', policy({ projectRef: { id: 'a' } })],
  ['a name too long', 'RetentionPolicy', policy({ projectRef: { name: 'a'.repeat(101) } })],
  ['an empty name', 'RetentionPolicy', policy({ projectRef: { name: '' } })],
  ['null for the project', 'RetentionPolicy', policy({ projectRef: null })],
  ['days as text', 'RetentionPolicy', policy({ observations: { days: '30' } })],
  ['half a day', 'RetentionPolicy', policy({ observations: { days: 1.5 } })],
  ['no day', 'RetentionPolicy', policy({ observations: { days: 0 } })],
  ['too many days', 'RetentionPolicy', policy({ observations: { days: 36_501 } })],
  ['a list for a section', 'RetentionPolicy', policy({ observations: [] })],
  ['an unknown field', 'RetentionPolicy', policy({ trace: { days: 1 } })],
  ['an unknown field, deep', 'RetentionPolicy', policy({ observations: { day: 1 } })],
  ['observations for longer', 'RetentionPolicy', policy({ traces: { days: 7 } })],
  [
    'content for longer',
    'RetentionPolicy',
    policy({ observations: { days: 7 }, content: { days: 8 } }),
  ],
  [
    'an environment where observations are kept for longer',
    'RetentionPolicy',
    policy({ environments: [{ name: 'dev', traces: { days: 1 }, observations: { days: 2 } }] }),
  ],
  [
    'an environment twice',
    'RetentionPolicy',
    policy({ environments: [{ name: 'dev' }, { name: 'dev' }] }),
  ],
  ['an environment without a name', 'RetentionPolicy', policy({ environments: [{}] })],
  ['null for an environment', 'RetentionPolicy', policy({ environments: [null] })],
  [
    'too many environments',
    'RetentionPolicy',
    policy({ environments: many(51).map((i) => ({ name: `e${i}` })) }),
  ],
  ['an archive of no age', 'RetentionPolicy', policy({ archive: { enabled: true } })],
  ['an invalid schedule', 'RetentionPolicy', policy({ archive: { schedule: 'daily' } })],
  ['a hold of nothing', 'RetentionPolicy', policy({ legalHolds: [{ name: 'a', reason: 'b' }] })],
  [
    'a hold of two things',
    'RetentionPolicy',
    policy({ legalHolds: [{ name: 'a', reason: 'b', userId: 'c', taskId: 'd' }] }),
  ],
  ['another policy of deletion', 'RetentionPolicy', policy({ deletionPolicy: 'Keep' })],
  ['text for a flag', 'RetentionPolicy', policy({ suspend: 'true' })],
  ['an invalid period', 'RetentionPolicy', policy({ resyncPeriod: '10 minutes' })],
  ['no scopes', 'LooptraceServiceAccount', { projectRef: { name: 'a' } }],
  ['an empty list of scopes', 'LooptraceServiceAccount', account({ scopes: [] })],
  ['a class that no label can have', 'LooptraceServiceAccount', account({ className: 'a.b' })],
  ['a period of seconds', 'RetentionPolicy', policy({ resyncPeriod: '29s' })],
  [
    'a rotation after more than ten years',
    'LooptraceServiceAccount',
    account({ keys: [key({ rotateAfter: '87601h' })] }),
  ],
  [
    'an overlap as long as the rotation',
    'LooptraceServiceAccount',
    account({ keys: [key({ rotateAfter: '1h', overlap: '60m' })] }),
  ],
  [
    'a Secret name with an empty label',
    'LooptraceServiceAccount',
    account({ keys: [key({ secretName: 'a..b' })] }),
  ],
  ...['0 0 31 2 *', '0 0 30 FEB *', '5 * 30,31 02 *', '0 0 31 4,6,9,11 *', '0 0 31 nov *'].map(
    (schedule): (typeof accepted)[number] => [
      ...([`a schedule that never occurs: ${schedule}`, 'RetentionPolicy'] as const),
      policy({ archive: { schedule } }),
    ],
  ),
  ['an unknown scope', 'LooptraceServiceAccount', account({ scopes: ['all'] })],
  ['a scope twice', 'LooptraceServiceAccount', account({ scopes: ['query:run', 'query:run'] })],
  ['a text for the scopes', 'LooptraceServiceAccount', account({ scopes: 'query:run' })],
  ['a key without a Secret', 'LooptraceServiceAccount', account({ keys: [{ name: 'main' }] })],
  [
    'two keys of one name',
    'LooptraceServiceAccount',
    account({ keys: [key({}), key({ secretName: 'b' })] }),
  ],
  [
    'two keys in one Secret',
    'LooptraceServiceAccount',
    account({ keys: [key({}), key({ name: 'b' })] }),
  ],
  [
    'a Secret that can not be',
    'LooptraceServiceAccount',
    account({ keys: [key({ secretName: 'Main_Key' })] }),
  ],
  [
    'a rotation too often',
    'LooptraceServiceAccount',
    account({ keys: [key({ rotateAfter: '9m' })] }),
  ],
  [
    'an overlap without a rotation',
    'LooptraceServiceAccount',
    account({ keys: [key({ overlap: '1h' })] }),
  ],
  [
    'an overlap longer than the rotation',
    'LooptraceServiceAccount',
    account({ keys: [key({ rotateAfter: '1h', overlap: '2h' })] }),
  ],
  [
    'an end before the rotation',
    'LooptraceServiceAccount',
    account({ keys: [key({ rotateAfter: '2h', expiresAfter: '1h' })] }),
  ],
  ['a number for its name', 'LooptraceServiceAccount', account({ displayName: 5 })],
  ['a project without an organization', 'Project', { name: 'a' }],
  ['a project with a space at the end', 'Project', project({ name: 'a ' })],
  ['a project of a long name', 'Project', project({ name: 'a'.repeat(101) })],
  ['a project to adopt by name', 'Project', project({ id: 'a' })],
  ['an environment twice', 'Project', project({ environments: ['dev', 'dev'] })],
  ['an empty environment', 'Project', project({ environments: [''] })],
  ['21 environments', 'Project', project({ environments: many(21).map(String) })],
  ['a long environment', 'Project', project({ environments: ['a'.repeat(101)] })],
  ...[' dev', 'dev ', 'dev\n', '\u00a0dev', 'dev\ufeff', 'd\u0007ev', '\u200bdev', ' '].map(
    (name): [string, Declared, Fields] => [
      ...([`the environment ${JSON.stringify(name)}`, 'Project'] as const),
      project({ environments: [name] }),
    ],
  ),
  ['a number for an environment', 'Project', project({ environments: [1] })],
  ['null for an environment', 'Project', project({ environments: [null] })],
  ['text for environments', 'Project', project({ environments: 'dev' })],
  ['a project by reference', 'Project', project({ projectRef: { name: 'a' } })],
  ['a channel without a receiver', 'NotificationChannel', channel({})],
  [
    'a channel with two receivers',
    'NotificationChannel',
    channel({ webhook: { url }, email: { to: ['ada@example.com'] } }),
  ],
  ['a file as URL', 'NotificationChannel', channel({ webhook: { url: 'file:///etc/passwd' } })],
  [
    'a Secret of another namespace',
    'NotificationChannel',
    channel({ webhook: { url, secretRef: { ...secretRef, namespace: 'other' } } }),
  ],
  [
    'a Secret with a path',
    'NotificationChannel',
    channel({ webhook: { url, secretRef: { ...secretRef, name: '../other/a' } } }),
  ],
  ['a value in the spec', 'NotificationChannel', channel({ webhook: { url, secret: 'whsec_a' } })],
  ['Slack without a secret', 'NotificationChannel', channel({ slack: { channel: '#a' } })],
  ['mails to no one', 'NotificationChannel', channel({ email: { to: [] } })],
  ['a rule without a kind', 'IncidentRule', rule({ condition: null })],
  ['a rule of two kinds', 'IncidentRule', rule({ event: { match: { source: 'finding' } } })],
  ['a rule with a number as threshold', 'IncidentRule', rule({ condition: { threshold: 3 } })],
  ['a release policy without gates', 'ReleasePolicy', release({ gates: [] })],
  ['a gate without a limit', 'ReleasePolicy', release({ gates: [{ ...gate, threshold: null }] })],
  ['a gate with two limits', 'ReleasePolicy', release({ gates: [{ ...gate, maxRate: '0.1' }] })],
  [
    'a release policy without a deciding gate',
    'ReleasePolicy',
    release({ gates: [{ ...gate, tier: 'advisory' }] }),
  ],
  ['a member in upper case', 'ProjectMember', member({ email: 'Ada@example.com' })],
  ['a member without a domain', 'ProjectMember', member({ email: 'ada@localhost' })],
  ['a member with two addresses', 'ProjectMember', member({ email: 'a@b.example, c@d.example' })],
  ['a member with a line break', 'ProjectMember', member({ email: 'a@b.example\n' })],
  ['a member as owner', 'ProjectMember', member({ role: 'owner' })],
  ['a member without a role', 'ProjectMember', member({ role: null })],
  ['a member of no project', 'ProjectMember', member({ projectRef: {} })],
  ['a grant of an unknown role', 'ProjectGrant', grant({ roles: ['owner'] })],
  ...[
    ...['looptrace.dev/channel', 'sub.looptrace.dev/a', 'kubectl.kubernetes.io/restartedAt'],
    ...['kubernetes.io/metadata.name', 'k8s.io/a', 'rbac.authorization.k8s.io/aggregate-to-edit'],
    ...['app.kubernetes.io/managed-by', 'a b', '-a', 'a//b', 'a..b/c', '/a', 'a/', ''],
    ...['A.example/b', 'a'.repeat(64), `${'a'.repeat(252)}/b`],
  ].flatMap((name): [string, Declared, Fields][] =>
    ['labels', 'annotations'].map((field) => [
      ...([`${field} named "${name}"`, 'LooptraceServiceAccount'] as const),
      template({ [field]: [{ name, value: 'a' }] }),
    ]),
  ),
  ...['..', '.', '..a', 'a/b', 'a b', '', 'ä', 'api-key'].map(
    (entry): [string, Declared, Fields] => [
      ...([`an entry with the key "${entry}"`, 'LooptraceServiceAccount'] as const),
      template({ entries: [{ key: entry, format: 'json' }] }),
    ],
  ),
  ...[
    '{{ apikey }}',
    '{{',
    '{{{ apiKey }}',
    '{{ apiKey }',
    '{{ apiKey | upper }}',
    '{{\tapiKey}}',
  ].map((text): [string, Declared, Fields] => [
    ...([`the template ${text}`, 'LooptraceServiceAccount'] as const),
    template({ entries: [{ key: 'a', template: text }] }),
  ]),
  [
    'an entry with two contents',
    'LooptraceServiceAccount',
    template({ entries: [{ key: 'a', format: 'json', template: 'b' }] }),
  ],
  ['an entry without contents', 'LooptraceServiceAccount', template({ entries: [{ key: 'a' }] })],
  [
    'an unknown format',
    'LooptraceServiceAccount',
    template({ entries: [{ key: 'a', format: 'yaml' }] }),
  ],
  [
    'a key of an entry twice',
    'LooptraceServiceAccount',
    template({ entries: many(2).map(() => ({ key: 'a', format: 'json' })) }),
  ],
  [
    'too many entries',
    'LooptraceServiceAccount',
    template({ entries: many(21).map((i) => ({ key: `entry-${i}`, format: 'json' })) }),
  ],
  [
    'a template that is too long',
    'LooptraceServiceAccount',
    template({ entries: [{ key: 'a', template: 'a'.repeat(2_049) }] }),
  ],
  [
    'a label that can not be a label',
    'LooptraceServiceAccount',
    template({ labels: [{ name: 'team', value: 'a b' }] }),
  ],
]

function lintErrorsIn(yaml: string) {
  const { findings } = lintResources(kinds, [{ name: 'case.yaml', text: yaml }])
  return findings.filter(({ level }) => level === 'error')
}

/** By the request that `kubectl create --dry-run=server --validate=strict` sends. */
async function verdictsOn(kind: string, spec: unknown, name = 'case') {
  const errors = lintErrorsIn(yamlOf(kind, spec, { name }))
  const { plural, scope } = kinds.find((one) => one.kind === kind) ?? {}
  const place = scope === 'Cluster' ? '' : `namespaces/${namespace}/`
  const path = `/apis/${apiVersion}/${place}${plural}?dryRun=All&fieldValidation=Strict`
  const body = { apiVersion, kind, metadata: { name }, spec }
  const reply = await server.ask('POST', path, { body })
  expect([201, 400, 422]).toContain(reply.status)
  const refusal = reply.status === 201 ? '' : reply.text
  const said = `${reply.warning}${refusal}`
  return { errors, said, lint: errors.length === 0, server: refusal === '' }
}

/** By kubectl, for texts of which the API server may get nothing. */
async function verdictsOnText(yaml: string) {
  const applied = await server.kubectl(
    ['create', '--dry-run=server', '--validate=strict', '-n', namespace, '-f', '-'],
    { input: yaml },
  )
  return { lint: lintErrorsIn(yaml).length === 0, server: applied.status === 0 }
}

function yamlOf(kind: string, spec: unknown, metadata: object = { name: 'case' }): string {
  return stringify({ apiVersion, kind, metadata, spec })
}

describe('lint and the API server both accept', () => {
  test.each(accepted)('%s', async (_name, kind, spec) => {
    const verdicts = await verdictsOn(kind, spec)
    expect(verdicts).toMatchObject({ errors: [], said: '', lint: true, server: true })
  })

  test('a text, by kubectl', async () => {
    const verdicts = await verdictsOnText(yamlOf('RetentionPolicy', policy({})))
    expect(verdicts).toEqual({ lint: true, server: true })
  })

  test.each(kinds.map((kind) => [kind.kind, kind] as const))(
    'the example of a %s',
    async (_, kind) => {
      const { metadata, spec } = kind.example
      const verdicts = await verdictsOn(kind.kind, spec, metadata.name)
      expect(verdicts).toMatchObject({ errors: [], said: '', lint: true, server: true })
    },
  )
})

describe('lint and the API server both refuse', () => {
  test.each(refused)('%s', async (_name, kind, spec) => {
    const verdicts = await verdictsOn(kind, spec)
    expect(verdicts).toMatchObject({ lint: false, server: false })
  })

  const spec = policy({})
  test.each<[string, string]>([
    ['a name that can not be', yamlOf('RetentionPolicy', spec, { name: 'Bad_Name' })],
    ['no name', yamlOf('RetentionPolicy', spec, {})],
    [
      'a label that can not be',
      yamlOf('RetentionPolicy', spec, { name: 'a', labels: { a: 'b c' } }),
    ],
    ['a label of a number', yamlOf('RetentionPolicy', spec, { name: 'a', labels: { a: 1 } })],
    ['an unknown field of the metadata', yamlOf('RetentionPolicy', spec, { name: 'a', nmae: 'b' })],
    ['no spec', stringify({ apiVersion, kind: 'RetentionPolicy', metadata: { name: 'a' } })],
    ['an unknown version', yamlOf('RetentionPolicy', spec).replace('v1alpha1', 'v1')],
    ['an unknown kind', yamlOf('RetentionPolicies', spec)],
    ['a field beside the spec', `${yamlOf('RetentionPolicy', spec)}extra: 1\n`],
    ['text that is not YAML', yamlOf('RetentionPolicy', spec).replace('spec:', 'spec: [')],
  ])('%s', async (_name, yaml) => {
    expect(await verdictsOnText(yaml)).toMatchObject({ lint: false, server: false })
  })
})

test('only the API server refuses a change of an immutable field', async () => {
  const apply = (spec: Fields) =>
    server.kubectl(['apply', '-n', namespace, '-f', '-'], {
      input: yamlOf('RetentionPolicy', spec, { name: 'fixed' }),
    })
  expect(await apply(policy({}))).toMatchObject({ status: 0 })
  expect(await apply(policy({ projectRef: { name: 'b' } }))).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('projectRef can only be made more precise'),
  })
  for (const [kind, before, after, field] of [
    ['ProjectMember', member({}), member({ email: 'eve@example.com' }), 'email'],
    ['Project', project({}), project({ name: 'b' }), 'name'],
    ['Project', project({}), project({ organization: 'other' }), 'organization'],
    ['Project', project({ id }), project({ id: id.replace('aaaa', 'bbbb') }), 'id'],
    ['Project', project({ id }), project({}), 'id'],
  ] as const) {
    const name = `fixed-${crypto.randomUUID().slice(0, 8)}`
    const applyOf = (spec: Fields) =>
      server.kubectl(['apply', '-n', namespace, '-f', '-'], { input: yamlOf(kind, spec, { name }) })
    expect(await applyOf(before)).toMatchObject({ status: 0 })
    const { status, stderr } = await applyOf(after)
    expect([status, stderr]).toEqual([1, expect.stringContaining(field)])
  }
})

test('every CRD of the repository is served with its columns', async () => {
  const { stdout } = await server.kubectl(['get', 'looptrace', '-A', '-o', 'wide'])
  expect(stdout).toMatch(/READY +REASON +.*LAST SYNC +AGE/)
  expect(await readFile('crds/retentionpolicies.looptrace.dev.yaml', 'utf8')).toContain('retpol')
})
