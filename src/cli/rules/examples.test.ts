import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { readRules } from './rule-files.ts'
import { runTest } from './run-test.ts'
import { loadTests } from './test-rules.ts'

const examples = 'examples/incident-rules'
const names = (await readdir(examples)).filter((name) => name.endsWith('.yaml'))
const testOf = (name: string) => name.replace('.yaml', '_test.yaml')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'looptrace-examples-'))
  await cp(examples, folder, { recursive: true })
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs the tests of a rule and returns the names of those that fail; faults are an error. */
async function failuresOf(rule: string): Promise<string[]> {
  const file = join(folder, 'tests', testOf(rule))
  const text = await readFile(file, 'utf8')
  const { faults, tests, evaluation_interval } = await loadTests({ name: file, text }, noStdin)
  expect(faults).toEqual([])
  const results = tests.map((one) => runTest(one, evaluation_interval))
  expect(results.length).toBeGreaterThan(0)
  return results.filter(({ failures }) => failures.length > 0).map(({ name }) => name)
}

const noStdin = { stdin: () => Promise.reject(new Error('no input')) }

/** Numbers of a rule, each with a little more and a little less; the unit of durations is kept. */
type Change = { path: (string | number)[]; to: unknown }

function changesOf(value: unknown, path: (string | number)[] = []): Change[] {
  const name = String(path.at(-1) ?? '')
  if (Array.isArray(value)) return value.flatMap((item, at) => changesOf(item, [...path, at]))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, field]) => changesOf(field, [...path, key]))
  }
  return (steps[name]?.(String(value)) ?? []).map((to) => ({ path, to }))
}

/** A duration with one unit more and less. */
function around(text: string): string[] {
  const unit = text.slice(-1)
  const count = Number(text.slice(0, -1))
  return [`${count + 1}${unit}`, `${count - 1}${unit}`]
}

const isAbout = (share: number) => (text: string) =>
  [Number(text) + share, Number(text) - share].map((one) => String(Number(one.toPrecision(6))))

const steps: Readonly<Record<string, (text: string) => unknown[]>> = {
  threshold: (text) => isAbout(Math.max(Number(text) * 0.05, 1))(text),
  objective: isAbout(0.01),
  minConfidence: isAbout(0.02),
  minSamples: (text) => [Number(text) + 1, Number(text) - 1],
  minBad: (text) => [Number(text) + 1, Number(text) - 1],
  minSeverity: () => ['critical', 'medium'],
  severity: (text) => [text === 'info' ? 'low' : 'info'],
  for: around,
  keepFiringFor: around,
}

async function changed(rule: string, { path, to }: Change): Promise<void> {
  const resource = parse(await readFile(join(examples, rule), 'utf8'))
  const parent = path.slice(0, -1).reduce((from, step) => from[step], resource)
  parent[path.at(-1) ?? ''] = to
  await writeFile(join(folder, rule), stringify(resource))
}

test('each rule has tests, and each test a rule', async () => {
  const tests = (await readdir(join(examples, 'tests'))).toSorted()
  expect(tests).toEqual(names.map(testOf).toSorted())
  expect(names.length).toBeGreaterThanOrEqual(7)
})

test('together they are rules of one project: names differ, and none mutes another for ever', async () => {
  const files = names.map(async (name) => {
    return { name, text: await readFile(join(examples, name), 'utf8') }
  })
  const { rules, faults } = readRules(await Promise.all(files))
  expect(faults).toEqual([])
  expect(rules.map(({ name }) => `${name}.yaml`)).toEqual(names)
})

describe.each(names)('%s', (rule) => {
  test('passes its tests', async () => {
    expect(await failuresOf(rule)).toEqual([])
  })

  test('fails them with any other threshold', async () => {
    const changes = changesOf(parse(await readFile(join(examples, rule), 'utf8')))
    expect(changes.length).toBeGreaterThan(0)
    for (const change of changes) {
      await changed(rule, change)
      expect([change, await failuresOf(rule)]).not.toEqual([change, []])
    }
  })
})
