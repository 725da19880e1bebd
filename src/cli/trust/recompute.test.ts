import { hash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { computeTrust } from '../../capabilities/verification/trust/fuse.ts'
import { cliCommands } from '../commands.ts'
import { commandOf, runCommand } from '../run-command.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'looptrace-trust-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs `looptrace trust recompute`. */
async function recompute(args: readonly string[], input = '') {
  const printed = { out: '', err: '' }
  const found = commandOf(cliCommands, ['trust', 'recompute', ...args])
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
    now_ms: () => 0,
    stop: new AbortController().signal,
  })
  return { status, ...printed }
}

const invoice = 'Rechnung 7 über 40 € 🧾, fällig am 2. Mai.'
const answer = 'The invoice is over 40 €. 🧾 It is due in June.'

function evidenceOf(quote: string) {
  const at = invoice.indexOf(quote)
  return {
    ...{ kind: 'trace', source: 'tool get_invoice', quote, at: [at, at + quote.length] },
    digest: hash('sha256', invoice),
  }
}

/** An exported run with two claims, one of them contradicted by a model. */
function exportedRun() {
  const result = { method: 'words', note: '' }
  const claims = [
    {
      claim_id: 'c0',
      text: 'The invoice is over 40 €.',
      at: [0, 25],
      values: [{ value: '40 €', evidence: [evidenceOf('40 €')] }],
      results: [
        { ...result, verifier: 'kb', verdict: 'supported', confidence: 0.9 },
        { ...result, verifier: 'web', verdict: 'supported', confidence: 0.7 },
      ].map((one) => ({ ...one, evidence: [evidenceOf('Rechnung 7 über 40 €')] })),
    },
    {
      claim_id: 'c1',
      text: 'It is due in June.',
      at: [29, 47],
      values: [],
      results: [
        {
          ...{ ...result, verifier: 'multi_model', verdict: 'contradicted', confidence: 0.6 },
          evidence: [{ kind: 'model', source: 'judge', quote: 'May', at: null, digest: null }],
        },
      ],
    },
  ]
  const checked = claims.map(({ claim_id: id, results }) => ({ id, results }))
  const trust = computeTrust(checked as Parameters<typeof computeTrust>[0], {})
  const { score, interval, coverage, calibrated, caps, formula, claims: fused } = trust
  return {
    format: 'looptrace-verification-run/1',
    run: {
      ...{ run_id: 'r1', trace_id: 't1', formula_version: formula, trust_score: score },
      ...{ interval, coverage, calibrated, caps, answer: { digest: hash('sha256', answer) } },
    },
    calibrations: {},
    claims: claims.map((claim, at) => {
      const { verdict, probability, weight } = fused[at] ?? {}
      return { ...claim, verdict, probability, weight, override: null }
    }),
  }
}

type Exported = ReturnType<typeof exportedRun>

/** Writes an exported run, changed by a test, and returns its path. */
async function fileOf(change: (run: Exported) => void = () => undefined): Promise<string> {
  const run = exportedRun()
  change(run)
  const path = join(folder, 'run.json')
  await writeFile(path, JSON.stringify(run))
  return path
}

async function writeSources(): Promise<string> {
  const path = join(folder, 'sources')
  await mkdir(join(path, 'deep'), { recursive: true })
  await writeFile(join(path, 'deep', 'invoice.txt'), invoice)
  await writeFile(join(path, 'answer.md'), answer)
  return path
}

describe('an exported run', () => {
  test('has the same score without the service, also from standard input', async () => {
    const { status, out } = await recompute(['--file', await fileOf()])
    expect([status, out]).toEqual([0, expect.stringContaining('The trust score is identical.')])
    expect(out).toMatch(/trust score +(0\.\d+) +\1\n/)
    const piped = await recompute(['-f', '-', '-o', 'json'], JSON.stringify(exportedRun()))
    expect(piped.status).toBe(0)
    expect(JSON.parse(piped.out)).toMatchObject({ run_id: 'r1', identical: true, differences: [] })
  })

  test('is compared with its sources by digest and offsets', async () => {
    const source = await writeSources()
    const { status, out } = await recompute(['-f', await fileOf(), '--source', source])
    expect([status, out]).toEqual([
      0,
      expect.stringContaining(
        '5 quotes were compared with their sources; the sources of 1 are missing.',
      ),
    ])
    const only = await recompute(['-f', await fileOf(), '--source', join(source, 'answer.md')])
    expect(only.out).toContain(
      '2 quotes were compared with their sources; the sources of 4 are missing.',
    )
  })

  test.each<[string, (run: Exported) => void]>([
    ['a better score', ({ run }) => void Object.assign(run, { trust_score: 0.99 })],
    ['a wider interval', ({ run }) => void Object.assign(run, { interval: [0, 1] })],
    ['another cap', ({ run }) => void Object.assign(run, { caps: ['coverage'] })],
    ['a surer verifier', ({ claims }) => void changeResult(claims, { confidence: 0.91 })],
    ['another verdict', ({ claims }) => void changeResult(claims, { verdict: 'contradicted' })],
    ['a claim less', ({ claims }) => void claims.pop()],
  ])('%s is noticed', async (_name, change) => {
    const { status, out } = await recompute(['-f', await fileOf(change)])
    expect([status, out]).toEqual([1, expect.stringContaining('The trust score differs')])
  })

  test('a quote or a claim that is not at its offsets is noticed', async () => {
    const source = await writeSources()
    const moved = await fileOf(({ claims }) => {
      const [first, second] = claims
      const quote = first?.results[0]?.evidence[0]
      if (quote?.at) quote.quote = quote.quote.replace('40', '49')
      if (second) second.at = [28, 46]
    })
    const { status, out } = await recompute(['-f', moved, '--source', source])
    expect([status, out]).toEqual([1, expect.stringContaining('2 quotes are not in their source')])
    expect(out).toContain('claim c0: tool get_invoice')
    expect(out).toContain('claim c1: answer 28–46')
  })

  test.each<[string, (run: Exported) => void, string]>([
    [
      'another formula',
      ({ run }) => void Object.assign(run, { formula_version: 'trust-0' }),
      'trust-0',
    ],
    ['a claim twice', ({ claims }) => void claims.push(...claims), 'Claim c0 occurs twice'],
    ['a confidence of 2', ({ claims }) => void changeResult(claims, { confidence: 2 }), 'claims.0'],
    ['an unknown verifier', ({ claims }) => void changeResult(claims, { verifier: 'x' }), '"x"'],
    ['another format', (run) => void Object.assign(run, { format: 'v0' }), 'format'],
  ])('%s is refused', async (_name, change, message) => {
    const { status, out, err } = await recompute(['-f', await fileOf(change)])
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain(message)
  })

  test('a terminal’s escape codes in an export are not printed as they are', async () => {
    const file = await fileOf(({ run }) => void Object.assign(run, { run_id: 'r\u001b[2J' }))
    expect((await recompute(['-f', file])).out).not.toContain('\u001b')
  })

  test.each([
    [[], 'one of --run, --trace and --file'],
    [['--run', 'a', '--file', 'b'], 'one of --run, --trace and --file'],
    [['--run', 'a', '--source', 'b'], '--source needs --file'],
    [['--file', '/no/such/file'], 'no such file'],
  ])('%j is a usage error', async (args, message) => {
    const { status, err } = await recompute(args)
    expect([status, err]).toEqual([2, expect.stringContaining(message)])
  })
})

function changeResult([first]: Exported['claims'], change: object): void {
  const result = first?.results[0]
  if (result !== undefined) Object.assign(result, change)
}
