import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { partsOf, type Threat, threatsIn } from './support/threat-model.ts'

const repository = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const pages = ['docs/internals/threat-model.md', 'docs/internals/tenancy.md']

/** Returns what is wrong with the tests of a row. */
function faultsOf({ attack, defence, tests, no_test }: Threat): string[] {
  const faults: string[] = []
  if (attack === '' || defence === '') faults.push('expected an attack and a defence')
  if (tests.length === 0 && no_test === undefined) faults.push('expected a test, or “no test: why”')
  for (const { path, names } of tests) {
    if (!existsSync(join(repository, path))) {
      faults.push(`there is no ${path}`)
      continue
    }
    const source = read(path).replaceAll(/\\(['"`])/g, '$1')
    const missing = names.filter((name) => !partsOf(name).every((part) => source.includes(part)))
    faults.push(...missing.map((name) => `${path} does not contain “${name}”`))
  }
  return faults
}

test('each row of the threat model names a test that exists, or why there is none', () => {
  const [page = ''] = pages
  const threats = threatsIn(read(page))
  expect(threats.length).toBeGreaterThan(150)
  const faults = threats.flatMap((threat) =>
    faultsOf(threat).map((fault) => `${page}:${threat.line}: ${threat.attack}: ${fault}`),
  )
  expect(faults).toEqual([])
})

test('a row without a test, with an unknown file or with an unknown name is found', () => {
  const table = (cell: string) =>
    `| attack | defence | test |\n|---|---|---|\n| a | d | ${cell} |\n`
  const faults = (cell: string) => threatsIn(table(cell)).flatMap(faultsOf)
  expect(faults('none')).toHaveLength(1)
  expect(faults('no test')).toHaveLength(1)
  expect(faults('`test/api/none.test.ts`')).toEqual(['there is no test/api/none.test.ts'])
  expect(faults('`test/api/audit.test.ts`: tampering in the store; no such thing')).toEqual([
    'test/api/audit.test.ts does not contain “no such thing”',
  ])
  expect(faults('no test: it cannot be tried')).toEqual([])
  expect(faults('`test/api/audit.test.ts`: tampering … store')).toEqual([])
})

test('SECURITY.md links the threat model', () => {
  expect(read('SECURITY.md')).toContain('(docs/internals/threat-model.md)')
})
