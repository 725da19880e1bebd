import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { auditDependencies, judgeAudit, readAudit } from '../scripts/supply-chain/audit.ts'
import { parseExceptions, readExceptions } from '../scripts/supply-chain/exceptions.ts'
import { findLicenceFaults } from '../scripts/supply-chain/licences.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'looptrace-supply-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const url = 'https://github.com/advisories/GHSA-0000-0000-0000'

describe('the audit of dependencies', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })

  /** A registry that knows one advisory, on `planted`. */
  async function registry(status: number, severity: string): Promise<NodeJS.ProcessEnv> {
    const advisory = { id: 1, url, title: 'Planted', severity, vulnerable_versions: '<2.0.0' }
    const server = createServer((request, response) => {
      request.resume()
      const isAudit = request.url?.endsWith('/advisories/bulk')
      response.writeHead(isAudit ? status : 404, { 'content-type': 'application/json' })
      response.end(isAudit && status === 200 ? JSON.stringify({ planted: [advisory] }) : '{}')
    })
    servers.push(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    return {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_cache: folder,
    }
  }

  function plant(): void {
    const version = '1.0.0'
    const dependencies = { planted: version }
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'p', version, dependencies }),
    )
    const packages = {
      '': { name: 'p', version, dependencies },
      'node_modules/planted': { version },
    }
    const lock = { name: 'p', version, lockfileVersion: 3, requires: true, packages }
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
  }

  test('finds a vulnerable package', async () => {
    plant()
    const audit = await auditDependencies(folder, await registry(200, 'high'))
    expect(audit).toEqual({ advisories: [expect.objectContaining({ name: 'planted', url })] })
    if (!('advisories' in audit)) return
    const { faults } = judgeAudit(audit.advisories, { advisories: [] }, '2026-11-24')
    expect(faults).toEqual([`planted <2.0.0: high: Planted (${url})`])
  })

  test('without an answer of the registry, says so instead of passing as clean', async () => {
    plant()
    expect(await auditDependencies(folder, await registry(405, 'high'))).toEqual({
      unavailable: expect.stringContaining('405'),
    })
    const nobody = { ...process.env, npm_config_registry: 'http://127.0.0.1:9/' }
    expect(await auditDependencies(folder, nobody)).toHaveProperty('unavailable')
    expect(readAudit('<html>')).toHaveProperty('unavailable')
  })

  const advisory = {
    name: 'planted',
    url,
    title: 'Planted',
    severity: 'high',
    range: '<2',
  } as const
  const reason = 'The vulnerable function is not called.'
  const accepted = { url, package: 'planted', reason, expires: '2026-12-31' }

  test('an exception counts until its day, for its package only', () => {
    const faultsOn = (day: string, exception = accepted) =>
      judgeAudit([advisory], { advisories: [exception] }, day).faults
    expect(faultsOn('2026-12-31')).toEqual([])
    expect(faultsOn('2027-01-01')).toEqual([expect.stringContaining('has expired')])
    expect(faultsOn('2026-12-31', { ...accepted, package: 'other' })).toHaveLength(1)
  })

  test('moderate advisories and unneeded exceptions are noted', () => {
    const moderate = { ...advisory, severity: 'moderate' } as const
    expect(judgeAudit([moderate], { advisories: [] }, '2026-11-24').faults).toEqual([])
    const { faults, notes } = judgeAudit([], { advisories: [accepted] }, '2026-11-24')
    expect([faults, notes]).toEqual([[], [expect.stringContaining('no longer needed')]])
  })

  test('an exception needs a reason and a day', () => {
    const of = (exception: object) =>
      JSON.stringify({ advisories: [exception], licences: { allowed: [], exceptions: [] } })
    expect(parseExceptions(of(accepted)).advisories).toHaveLength(1)
    expect(() => parseExceptions(of({ ...accepted, reason: '' }))).toThrow(/reason/)
    expect(() => parseExceptions(of({ ...accepted, expires: 'never' }))).toThrow(/expires/)
  })
})

describe('the check of licences', () => {
  const { licences } = readExceptions()
  const faultsOf = (license: unknown, more: object = {}) =>
    findLicenceFaults(
      { 'node_modules/planted': { version: '1.0.0', license, ...more } },
      { ...licences, exceptions: [] },
    )

  test.each([
    'GPL-3.0-only',
    'AGPL-3.0-or-later',
    'MIT AND GPL-2.0-only',
    'SEE LICENSE IN x',
    null,
  ])('finds a dependency with %s', (license) => {
    expect(faultsOf(license)).toEqual([expect.stringMatching(/^planted 1.0.0: the licence /)])
  })

  test.each(['MIT', '(GPL-2.0-only OR MIT)', 'MIT AND Apache-2.0'])('allows %s', (license) => {
    expect(faultsOf(license)).toEqual([])
  })

  test('development tools are not in the product', () => {
    expect(faultsOf('GPL-3.0-only', { dev: true })).toEqual([])
  })

  test('an exception that no package needs is a fault', () => {
    expect(findLicenceFaults({}, licences)).toHaveLength(licences.exceptions.length)
  })
})
