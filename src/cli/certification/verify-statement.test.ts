import { generateKeyPairSync, hash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  encodeStatement,
  type Predicate,
} from '../../capabilities/certification/statement/statement.ts'
import { signEnvelope, toJwks } from '../../capabilities/signing/index.ts'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { cliCommands } from '../commands.ts'
import { commandOf, runCommand } from '../run-command.ts'

let folder: string
const key = generateKeyPairSync('ed25519').privateKey
const image = hash('sha256', 'image')
const policy = { id: 'release', version: '3', confidence: 0.95 }
const project_id = '0197a1b2-0000-7000-8000-000000000001'
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'looptrace-verify-'))
  await writeFile(join(folder, 'jwks.json'), JSON.stringify(toJwks([key])))
  await writeFile(join(folder, 'policy.json'), JSON.stringify({ ...policy, digest: 'x' }))
  await writeFile(join(folder, 'other.json'), JSON.stringify({ ...policy, confidence: 0.5 }))
})
afterAll(() => rm(folder, { recursive: true }))

const predicate: Predicate = {
  project_id,
  policy: { id: 'release', version: '3', digest: hash('sha256', canonicalJson(policy)) },
  release: { name: 'checkout', version: '1.4.0' },
  release_tags: ['1.4.0', 'checkout@1.4.0'],
  baseline: null,
  environment: 'staging',
  ...{ verdict: 'certified', obstacles: [], warnings: [], eval_runs: [] },
  gates: [
    {
      ...{ metric: 'task_success', kind: 'absolute', tier: 'critical', n: 500, k: 480 },
      ...{ estimate: 0.96, interval: [0.94, 0.98], verdict: 'passed', reason: null },
      ...{ direction: 'higher', limit: 0.9, group: null, clusters: 60, baseline_n: null },
      warnings: [],
      evidence: { root: hash('sha256', 'root'), leaves: 500 },
    },
  ],
  window: { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' },
  ledger: { accepted: 1_000, stored: 1_000, lost: 0, pending: 0 },
  ...{ attempt: 1, max_attempts: 5, declared_at: '2026-03-01T00:00:00Z' },
  ...{ issued_at: '2026-03-02T01:00:00Z', expires_at: '2026-04-02T00:00:00Z' },
}

const type = 'application/vnd.in-toto+json'
const signed = (payload: string | Buffer) =>
  JSON.stringify(signEnvelope(type, Buffer.from(payload), key))
const statementWith = (change: Partial<Predicate>) =>
  signed(encodeStatement({ ...predicate, ...change }, image))

/** Signs a statement with fields that `encodeStatement` would refuse. */
function forged(change: object, outside: object = {}): string {
  const full = JSON.parse(encodeStatement(predicate, image).toString())
  return signed(canonicalJson({ ...full, ...outside, predicate: { ...predicate, ...change } }))
}

/** Runs `looptrace verify -` on 3 March 2026. */
async function verify(input: string, options: readonly string[] = [], at = '2026-03-03T00:00Z') {
  const printed = { out: '', err: '' }
  const keys = join(folder, 'jwks.json')
  const found = commandOf(cliCommands, ['verify', '-', '--keys', keys, ...options])
  if (found === undefined) throw new Error('no command')
  const status = await runCommand(found.command, found.args, {
    out: (text) => {
      printed.out += text
    },
    err: (text) => {
      printed.err += text
    },
    styled: (_style, text) => text,
    columns: () => undefined,
    time_zone: 'UTC',
    stdin: async () => input,
    now_ms: () => Date.parse(at),
    stop: new AbortController().signal,
  })
  return { status, ...printed }
}

describe('looptrace verify', () => {
  test('accepts a certified release of this image and policy', async () => {
    const options = ['--subject', `sha256:${image}`, '--policy', join(folder, 'policy.json')]
    const result = await verify(statementWith({}), options)
    expect(result).toMatchObject({ status: 0, err: '' })
    expect(result.out).toContain('gate task_success (critical): passed, n = 500\n')
    expect(result.out).toContain('verdict: certified\n')
  })

  test('prints whether the tasks had an environment', async () => {
    expect((await verify(statementWith({}))).out).toContain('checkout 1.4.0 in staging\n')
    const none = await verify(statementWith({ environment: null }))
    expect(none).toMatchObject({ status: 0 })
    expect(none.out).toContain('release: checkout 1.4.0 without an environment\n')
  })

  test('prints the doubtful and missing tasks', async () => {
    const counts = {
      ...{ total: 604, late: 4, altered: 0, equal: 2, jump: 0 },
      ...{ running: 0, unanalysed: 0, unchecked: 0, unverified: 0, unpriced: 0 },
    }
    const { out } = await verify(statementWith({ tasks: counts, baseline_tasks: null }))
    expect(out).toContain('tasks: 604, late 4, equal 2\n')
    expect(out).not.toContain('baseline')
    expect((await verify(statementWith({}))).out).not.toContain('tasks:')
  })

  test('the verdict and the expiry decide the exit status', async () => {
    expect((await verify(statementWith({ verdict: 'rejected' }))).status).toBe(1)
    expect((await verify(statementWith({ verdict: 'inconclusive' }))).status).toBe(2)
    expect((await verify(statementWith({}), [], predicate.expires_at)).status).toBe(2)
    expect((await verify(statementWith({}), [], '2026-04-01T23:59:59Z')).status).toBe(0)
  })

  const [gate] = predicate.gates
  const text = encodeStatement(predicate, image).toString()
  const attacks: [string, string][] = [
    ['no JSON', 'certified'],
    ['a failed gate', forged({ gates: [{ ...gate, verdict: 'failed' }] })],
    ['no gates', forged({ gates: [] })],
    ['an obstacle', forged({ obstacles: ['stale_evidence'] })],
    ['only an advisory gate', forged({ gates: [{ ...gate, tier: 'advisory' }] })],
    ['a gate without samples', forged({ gates: [{ ...gate, n: 0, k: 0 }] })],
    ['lost items', forged({ ledger: { accepted: 1_000, stored: 999, lost: 1, pending: 0 } })],
    ['0.6 % pending', forged({ ledger: { accepted: 1_000, stored: 994, lost: 0, pending: 6 } })],
    ['an attempt too many', forged({ attempt: 6 })],
    ['k above n', forged({ gates: [{ ...gate, k: 501 }] })],
    ['an interval upside down', forged({ gates: [{ ...gate, interval: [0.98, 0.94] }] })],
    [
      'a window that ends before it begins',
      forged({ window: { from: '2026-03-03T00:00:00Z', to: predicate.window.to } }),
    ],
    ['an expiry before the issue', forged({ expires_at: '2026-03-01T00:00:00Z' })],
    ['an issue in the future', statementWith({ issued_at: '2026-03-04T00:00:00Z' })],
    ['an unknown field', forged({ note: '' })],
    ['another predicateType', forged({}, { predicateType: 'https://slsa.dev/provenance/v1' })],
    ['two subjects', forged({}, { subject: [1, 2].map(() => JSON.parse(text).subject[0]) })],
    ['no subject', forged({}, { subject: [] })],
    ['a repeated key', signed(text.replace('{', '{"_type":"x",'))],
    ['white space', signed(`${text}\n`)],
    ['a byte order mark', signed(`\ufeff${text}`)],
    ['deep nesting', signed('['.repeat(100_000) + ']'.repeat(100_000))],
    ['bytes that are not UTF-8', signed(Buffer.from([0x22, 0xff, 0x22]))],
  ]
  test('the statement that the attacks change is valid', async () => {
    expect((await verify(forged({}))).status).toBe(0)
    expect((await verify(signed(text))).status).toBe(0)
  })

  test.each(attacks)('refuses %s', async (_name, input) => {
    const result = await verify(input)
    expect(result).toMatchObject({ status: 3, out: '' })
    expect(result.err).toMatch(/^not valid: \w+: /)
  })

  test('refuses another subject or policy, and files that can not be read', async () => {
    const statement = statementWith({})
    const options = [
      ['--subject', `sha256:${hash('sha256', 'other')}`],
      ['--subject', image],
      ['--policy', join(folder, 'other.json')],
      ['--policy', join(folder, 'missing.json')],
    ]
    for (const option of options) expect((await verify(statement, option)).status).toBe(3)
  })

  test('refuses the statement of another project with --project, and says when it was not checked', async () => {
    const own = await verify(statementWith({}), ['--project', project_id])
    expect(own).toMatchObject({ status: 0, err: '' })
    expect(own.out).toContain(`project: ${project_id}\n`)
    const other = '0197a1b2-0000-7000-8000-000000000002'
    const foreign = await verify(statementWith({ project_id: other }), ['--project', project_id])
    expect(foreign).toMatchObject({ status: 3, out: '' })
    expect(foreign.err).toContain(`got the project ${other}, expected --project`)
    const unchecked = await verify(statementWith({ project_id: other }))
    expect(unchecked.status).toBe(0)
    expect(unchecked.out).toContain(`project: ${other} (not checked: give --project)\n`)
    const { project_id: _, ...nameless } = predicate
    const full = JSON.parse(encodeStatement(predicate, image).toString())
    const without = await verify(signed(canonicalJson({ ...full, predicate: nameless })))
    expect(without).toMatchObject({ status: 3, out: '' })
  })

  test('prints control characters of the statement as escapes', async () => {
    const { out } = await verify(statementWith({ environment: 'x\u001b[2J\nverdict: fake' }))
    expect(out).toContain('in x\\u001b[2J\\u000averdict: fake\n')
  })
})
