import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { cliCommands } from '../commands.ts'
import { runCommand } from '../run-command.ts'

let folder: string
let files = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'looptrace-test-'))
})
afterAll(() => rm(folder, { recursive: true }))

const command = cliCommands.find(({ words }) => words === 'test')

async function run(...args: string[]) {
  const texts = { out: '', err: '' }
  if (command === undefined) throw new Error('no command')
  const status = await runCommand(command, args, {
    out: (text) => (texts.out += text),
    err: (text) => (texts.err += text),
    styled: (_style, text) => text,
    columns: () => undefined,
    time_zone: 'UTC',
    stdin: () => Promise.resolve(''),
    now_ms: () => 0,
    stop: new AbortController().signal,
  })
  return { status, ...texts }
}

type Fields = Readonly<Record<string, unknown>>

const resource = (name: string, spec: Fields) => ({
  apiVersion: 'looptrace.dev/v1alpha1',
  kind: 'IncidentRule',
  metadata: { name },
  spec: { projectRef: { name: 'default' }, severity: 'high', notify: ['pager'], ...spec },
})

const errors = { signal: 'failure_count', window: '5m', threshold: '3' }

/** Writes rules and a test file with one test, and returns the path of the test file. */
async function write(rules: Readonly<Record<string, Fields>>, one: Fields, more: Fields = {}) {
  files += 1
  const rulesFile = `rules-${files}.yaml`
  const texts = Object.entries(rules).map(([name, spec]) => stringify(resource(name, spec)))
  await writeFile(join(folder, rulesFile), texts.join('---\n'))
  const path = join(folder, `${files}_test.yaml`)
  const file = { rule_files: [rulesFile], tests: [{ name: 'one', ...one }], ...more }
  await writeFile(path, stringify(file))
  return path
}

const ungrouped = (values: string) => [{ series: 'failure_count', values }]

describe('a test passes as it is, and fails with one other value', () => {
  test.each<[string, Readonly<Record<string, Fields>>, Fields]>([
    [
      'a slot is evaluated after its delay',
      { a: { condition: errors, delay: '2m' } },
      {
        input_series: ungrouped('0 9 9'),
        expect: [
          { at: '2m', rule: 'a', state: 'none', notified: [] },
          { at: '3m', rule: 'a', state: 'open', count: 1, openings: 1, notified: ['pager'] },
        ],
      },
    ],
    [
      'late rows open an incident, which no later slot resolves at once',
      { a: { condition: errors } },
      {
        input_series: ungrouped('0x9'),
        late: [{ at: '6m', series: 'failure_count', from: '3m', values: '9' }],
        expect: [
          { at: '5m', rule: 'a', state: 'none' },
          { at: '6m', rule: 'a', state: 'resolved', late: true, messages: ['opened', 'resolved'] },
        ],
      },
    ],
    [
      'a gap ends a run',
      { a: { condition: errors, for: '3m' } },
      {
        input_series: ungrouped('9x60'),
        gap: [{ from: '2m', to: '40m' }],
        expect: [
          { at: '39m', rule: 'a', state: 'none' },
          { at: '40m', rule: 'a', state: 'open' },
        ],
      },
    ],
    [
      'a restart keeps what is pending',
      { a: { condition: errors, for: '3m' } },
      {
        input_series: ungrouped('9x9'),
        restart: ['2m', '3m'],
        expect: [
          { at: '3m', rule: 'a', pending: true, state: 'none' },
          { at: '4m', rule: 'a', pending: false, state: 'open' },
        ],
      },
    ],
    [
      'resolved by a person, a condition is quiet until it was false',
      { a: { condition: errors } },
      {
        input_series: ungrouped('9x5 0 9'),
        moves: [
          { at: '2m', type: 'ack', rule: 'a' },
          { at: '3m', type: 'resolve', rule: 'a' },
        ],
        expect: [
          { at: '2m', rule: 'a', state: 'acknowledged', messages: ['opened'] },
          { at: '6m', rule: 'a', state: 'resolved', messages: ['resolved'] },
          { at: '8m', rule: 'a', state: 'open', messages: ['reopened'], openings: 2 },
        ],
      },
    ],
    [
      'a suppression mutes, and what still fires is announced at its end',
      { a: { condition: errors } },
      {
        input_series: ungrouped('9x20'),
        suppressions: [
          { matchers: [{ field: 'rule', value: 'a' }], windows: [{ from: '0m', to: '10m' }] },
        ],
        expect: [
          { at: '9m', rule: 'a', state: 'open', muted: true, notified: [] },
          { at: '10m', rule: 'a', state: 'open', muted: false, messages: ['still_firing'] },
        ],
      },
    ],
    [
      'a snoozed incident is announced when its time is over',
      { a: { condition: errors } },
      {
        input_series: ungrouped('9x30'),
        moves: [
          { at: '2m', type: 'snooze', for: '10m', rule: 'a' },
          { at: '15m', type: 'snooze', for: '1h', rule: 'a' },
          { at: '20m', type: 'unsnooze', rule: 'a' },
        ],
        expect: [
          { at: '11m', rule: 'a', state: 'open', muted: true, messages: ['opened'] },
          { at: '12m', rule: 'a', state: 'open', muted: false, messages: ['still_firing'] },
          { at: '19m', rule: 'a', muted: true, messages: [] },
          { at: '20m', rule: 'a', muted: false, messages: ['still_firing'] },
        ],
      },
    ],
    [
      'a deleted rule leaves an orphan',
      { a: { condition: errors } },
      {
        input_series: ungrouped('9x2 0x9'),
        delete_rules: [{ at: '2m', rule: 'a' }],
        expect: [{ at: '9m', rule: 'a', state: 'open', orphaned: true, count: 1 }],
      },
    ],
    [
      'an event rule fires at once, and a selector excludes other tasks',
      {
        a: {
          event: { match: { source: 'finding', kinds: ['loop'], minSeverity: 'high' } },
          groupBy: ['task_name'],
          selector: { taskName: ['check*'] },
          keepFiringFor: '5m',
        },
      },
      {
        events: [
          { at: '90s', kind: 'loop', severity: 'low', labels: { task_name: 'checkout' } },
          { at: '100s', kind: 'loop', severity: 'high', labels: { task_name: 'search' } },
          { at: '110s', kind: 'loop', severity: 'high', labels: { task_name: 'checkout' } },
        ],
        expect: [
          { at: '109s', rule: 'a', count: 0 },
          { at: '110s', rule: 'a', group: { task_name: 'checkout' }, state: 'open', count: 1 },
          { at: '110s', rule: 'a', group: { task_name: 'search' }, state: 'none' },
          { at: '7m', rule: 'a', group: { task_name: 'checkout' }, state: 'resolved' },
        ],
      },
    ],
    [
      'a burn rate needs bad items in both windows, and a history',
      {
        a: {
          burnRate: {
            ...{ signal: 'error_rate', objective: '0.95' },
            tiers: [{ factor: '6', long: '1h', short: '5m' }],
          },
        },
      },
      {
        stored_for: '30m',
        input_series: [
          { series: 'error_rate:bad', values: '4x59 0x20' },
          { series: 'error_rate:total', values: '10x79' },
        ],
        expect: [
          { at: '30m', rule: 'a', state: 'none' },
          { at: '31m', rule: 'a', state: 'open' },
          { at: '70m', rule: 'a', state: 'resolved', openings: 1 },
        ],
      },
    ],
    [
      'a baseline compares with the days before',
      { a: { baseline: { signal: 'cost', maxRatio: '2', floor: '1' }, interval: '1h' } },
      {
        interval: '1h',
        input_series: [{ series: 'cost', values: '4 4 30 4', history: '4+0.1x27' }],
        expect: [
          { at: '2h', rule: 'a', state: 'none' },
          { at: '121m', rule: 'a', state: 'open' },
          { at: '181m', rule: 'a', state: 'resolved' },
        ],
      },
    ],
    [
      'a silent group is absent, a group that was never seen is not',
      { a: { condition: { signal: 'absent', window: '3m' }, groupBy: ['task_name'] } },
      {
        input_series: [
          { series: 'rows{task_name="nightly"}', values: '2x4 0x20' },
          { series: 'rows{task_name="never"}', values: '0x20' },
        ],
        expect: [
          { at: '7m', rule: 'a', group: { task_name: 'nightly' }, state: 'none' },
          { at: '8m', rule: 'a', group: { task_name: 'nightly' }, state: 'open', count: 1 },
          { at: '20m', rule: 'a', group: { task_name: 'never' }, state: 'none' },
        ],
      },
    ],
    [
      'a backlog defers what more rows could change, and fires the lag',
      {
        a: { condition: { signal: 'absent', window: '3m' } },
        b: { condition: { signal: 'ingest_lag', longerThan: '3m' } },
      },
      {
        input_series: [
          { series: 'rows', values: '2x4 0x20' },
          { series: 'ingest_lag', values: '0x4 240000x4 0x20' },
        ],
        expect: [
          { at: '9m', rule: 'a', state: 'none' },
          { at: '9m', rule: 'b', state: 'open' },
          { at: '10m', rule: 'a', state: 'open' },
          { at: '11m', rule: 'b', state: 'resolved' },
        ],
      },
    ],
    [
      'a source that fires at the same time mutes, whichever rule comes first; missing dimensions are empty',
      {
        target: {
          event: { match: { source: 'finding' } },
          groupBy: ['model', 'release'],
        },
        silent: {
          condition: { ...errors, signal: 'loop_count' },
          groupBy: ['model'],
          inhibitedBy: [{ rule: 'source', equal: ['model'] }],
        },
        source: { condition: errors, groupBy: ['model'] },
      },
      {
        input_series: [
          { series: 'loop_count{model="m"}', values: '0 9x20' },
          { series: 'failure_count{model="m"}', values: '0 9x20' },
        ],
        events: [{ at: '3m', labels: { model: 'm' } }],
        expect: [
          { at: '2m', rule: 'silent', group: { model: 'm' }, state: 'open', messages: [] },
          { at: '3m', rule: 'target', group: { model: 'm', release: '' }, state: 'open' },
        ],
      },
    ],
    [
      'an inhibited rule is silent, and is announced when its source ends',
      {
        source: { condition: { ...errors, window: '6m' }, groupBy: ['model'] },
        target: {
          condition: { ...errors, signal: 'loop_count' },
          groupBy: ['model'],
          inhibitedBy: [{ rule: 'source', equal: ['model'] }],
        },
      },
      {
        input_series: [
          { series: 'failure_count{model="m"}', values: '9x5 0x9' },
          { series: 'loop_count{model="m"}', values: '0 9x20' },
        ],
        expect: [
          { at: '5m', rule: 'target', group: { model: 'm' }, muted: true, notified: [] },
          { at: '9m', rule: 'target', group: { model: 'm' }, messages: ['still_firing'] },
        ],
      },
    ],
  ])('%s', async (_name, rules, one) => {
    const passed = await run(await write(rules, one))
    expect(passed).toMatchObject({ status: 0, err: '' })
    const expectations = one['expect'] as Fields[]
    for (const [index, wanted] of expectations.entries()) {
      for (const wrong of wrongValues(wanted)) {
        const changed = expectations.map((other, at) => (at === index ? wrong : other))
        const { status, out } = await run(await write(rules, { ...one, expect: changed }))
        expect([wrong, status, out]).toEqual([wrong, 1, expect.stringContaining('expected ')])
      }
    }
  })
})

const others: Readonly<Record<string, (value: unknown) => unknown>> = {
  state: (value) => (value === 'none' ? 'open' : 'none'),
  severity: () => 'info',
  notified: (value) => ((value as string[]).length === 0 ? ['pager'] : []),
  messages: (value) => [...(value as string[]), 'raised'],
  count: (value) => Number(value) + 1,
  openings: (value) => Number(value) + 1,
}

/** Returns the expectation with another value in one of its fields, for each field. */
function wrongValues(wanted: Fields): Fields[] {
  return Object.entries(wanted).flatMap(([field, value]) => {
    if (['at', 'rule', 'group'].includes(field)) return []
    const other = others[field]?.(value) ?? !value
    return [{ ...wanted, [field]: other }]
  })
}

describe('a failure', () => {
  test('has its place, the differences and the timeline', async () => {
    const path = await write(
      { a: { condition: errors } },
      { input_series: ungrouped('0 9x9'), expect: [{ at: '5m', rule: 'a', state: 'resolved' }] },
    )
    const { status, out } = await run(path)
    expect([status, out]).toEqual([
      1,
      [
        path,
        '  FAIL  one',
        `        ${path}:9:9: 5m a`,
        '          state: expected resolved, got open',
        '        timeline:',
        '          2m (slot 1m) a #1 opened high; message opened → pager',
        '0 passed, 1 failed\n',
      ].join('\n'),
    ])
  })

  test('is a failure of JUnit, with hostile names escaped', async () => {
    const name = '<a href="x">&\u0000\u001b[31m</a>'
    const one = { name, input_series: ungrouped('0x5') }
    const path = await write(
      { a: { condition: errors } },
      { ...one, expect: [{ at: '5m', rule: 'a', state: 'open' }] },
    )
    const { status, out } = await run(path, '-o', 'junit')
    expect(status).toBe(1)
    expect(out).toContain('tests="1" failures="1" errors="0"')
    expect(out).toContain('name="&lt;a href=&quot;x&quot;&gt;&amp;\uFFFD\uFFFD[31m&lt;/a&gt;"')
    expect(out).toContain('state: expected open, got none')
    const { out: json } = await run(path, '-o', 'json')
    expect(JSON.parse(json)).toMatchObject({ files: [{ file: path, tests: [{ name }] }] })
    const { out: text } = await run(path)
    expect(text).not.toContain('\u001b')
  })
})

describe('an invalid file has status 2 and says where', () => {
  const valid = {
    input_series: ungrouped('0x5'),
    expect: [{ at: '5m', rule: 'a', state: 'none' }],
  }
  test.each<[string, Fields, string]>([
    [
      'an unknown field',
      { ...valid, expects: [] },
      'tests[0].expects: unknown field, expected one of name, interval,',
    ],
    ['no expectation', { input_series: [] }, 'tests[0]: expect is missing'],
    [
      'a bad word',
      { ...valid, input_series: ungrouped('0x5 1+') },
      'tests[0].input_series[0].values: got "1+", expected numbers',
    ],
    [
      'an unknown signal',
      { ...valid, input_series: [{ series: 'failures', values: '0' }] },
      'tests[0].input_series[0].series: got `failures`, expected one of error_rate,',
    ],
    [
      'a signal without a reader',
      { ...valid, input_series: [{ series: 'cost', values: '0' }] },
      'no rule reads it: a reads `failure_count`',
    ],
    [
      'an unknown label',
      { ...valid, input_series: [{ series: 'failure_count{user="u"}', values: '0' }] },
      'got the label `user`, expected one of model, provider, environment, task_name, release, tag',
    ],
    [
      'two series of one group',
      { ...valid, input_series: [...ungrouped('0'), ...ungrouped('1')] },
      'the rule a reads another series for the same group',
    ],
    [
      'an unknown rule',
      { ...valid, expect: [{ at: '5m', rule: 'b', state: 'none' }] },
      'tests[0].expect[0].rule: got "b", expected a rule of rule_files: a',
    ],
    [
      'a dimension that the rule lacks',
      { ...valid, expect: [{ at: '5m', rule: 'a', group: { model: 'm' }, state: 'none' }] },
      'expected the dimensions of a: no dimensions',
    ],
    [
      'an unknown channel',
      { ...valid, expect: [{ at: '5m', rule: 'a', notified: ['pagr'] }] },
      'tests[0].expect[0].notified[0]: got "pagr", expected a channel of a rule: pager',
    ],
    [
      'half an item',
      { ...valid, input_series: [{ series: 'error_rate:bad', values: '1 0.5' }] },
      'tests[0].input_series[0].series: got 0.5 items, expected whole numbers',
    ],
    [
      'late rows of no series',
      { ...valid, late: [{ at: '1m', from: '0m', series: 'cost', values: '1' }] },
      'tests[0].late[0].series: expected a series of input_series',
    ],
    [
      'a wrong time',
      { ...valid, restart: ['soon'] },
      'tests[0].restart[0]: got "soon", expected a duration',
    ],
    ['a wrong type', { ...valid, restart: '5m' }, 'tests[0].restart: got "5m", expected a list'],
    [
      'a suppression that matches nothing known',
      {
        ...valid,
        suppressions: [{ matchers: [{ field: 'colour', value: 'x' }], expires_at: '5m' }],
      },
      'tests[0].suppressions[0].matchers[0].field: got "colour", expected rule, severity,',
    ],
    [
      'a period that ends first',
      { ...valid, gap: [{ from: '5m', to: '4m' }] },
      'got 4m, expected more than 5m',
    ],
  ])('%s', async (_name, one, message) => {
    const path = await write({ a: { condition: errors } }, one)
    const { status, err } = await run(path)
    expect([status, err]).toEqual([2, expect.stringContaining(message)])
    expect(err).toMatch(new RegExp(`^${path}:\\d+:\\d+: error: `))
    const { out } = await run(path, '-o', 'junit')
    expect(out).toContain('errors="1"')
  })

  test.each<[string, Fields, string]>([
    [
      'never fires',
      { condition: { signal: 'error_rate', window: '5m', threshold: '1' } },
      'spec.condition.threshold: `error_rate > 1` is never true',
    ],
    ['is unknown', { condition: errors, notfy: [] }, 'spec.notfy: unknown field, expected one of'],
  ])('a rule that %s', async (_name, spec, message) => {
    const path = await write({ a: spec }, valid)
    const { status, err } = await run(path)
    expect([status, err]).toEqual([2, expect.stringContaining(message)])
    expect(err).toMatch(/rules-\d+\.yaml:\d+:\d+: error: /)
  })

  test('a misspelt group, which never has an incident', async () => {
    const rules = { a: { condition: errors, groupBy: ['task_name'] } }
    const series = [{ series: 'failure_count{task_name="checkout"}', values: '0' }]
    const expectation = { at: '5m', rule: 'a', group: { task_name: 'chekout' }, state: 'none' }
    const path = await write(rules, { input_series: series, expect: [expectation] })
    const { status, err } = await run(path)
    expect([status, err]).toEqual([
      2,
      expect.stringContaining('expected the labels of a series or an event'),
    ])
  })

  test('rules with one name, and rules that mute each other', async () => {
    const twice = await write(
      { a: { condition: errors }, b: { condition: errors, ruleName: 'a' } },
      valid,
    )
    expect((await run(twice)).err).toContain('the rule a is defined twice')
    const mute = (rule: string) => ({
      condition: errors,
      groupBy: ['model'],
      inhibitedBy: [{ rule, equal: ['model'] }],
    })
    expect((await run(await write({ a: mute('b'), b: mute('a') }, valid))).err).toContain(
      'these rules inhibit each other, so none of them notifies: a → b → a',
    )
  })
})

test('--run selects tests by name; a word that no test has is an error', async () => {
  const path = await write(
    { a: { condition: errors } },
    { input_series: ungrouped('0'), expect: [{ at: '1m', rule: 'a', state: 'none' }] },
  )
  expect(await run(path, '--run', '^on')).toMatchObject({ status: 0 })
  expect(await run(path, '--run', 'two')).toMatchObject({ status: 2 })
  expect(await run(path, '--run', '(')).toMatchObject({ status: 2 })
  expect(await run(join(folder, 'nowhere.yaml'))).toMatchObject({ status: 2 })
})

test('too many evaluations are refused before the first', async () => {
  const path = await write(
    { a: { condition: errors } },
    { input_series: ungrouped('0'), expect: [{ at: '35d', rule: 'a', state: 'none' }] },
    { evaluation_interval: '1s' },
  )
  expect(await run(path)).toMatchObject({
    status: 2,
    err: expect.stringContaining('more than 100000 evaluations'),
  })
})
