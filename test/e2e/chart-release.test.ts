import { execFileSync, spawnSync } from 'node:child_process'
import { appendFile, chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Registry, startRegistry } from '../support/chart/registry.ts'
import { helmPath } from '../support/kube/tools.ts'

let folder: string
let registry: Registry
let helm: string
const signer = 'releases@example.com'

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'looptrace-release-'))
  await chmod(folder, 0o700)
  registry = await startRegistry()
  helm = await helmPath()
  const gpg = (...args: string[]) =>
    execFileSync('gpg', ['--homedir', folder, '--batch', ...args], { stdio: 'pipe' })
  gpg('--passphrase', '', '--quick-generate-key', signer, 'rsa3072', 'sign', 'never')
  await writeFile(keyring('secret'), gpg('--export-secret-keys', signer))
  await writeFile(keyring('public'), gpg('--export', signer))
}, 300_000)
afterAll(async () => {
  spawnSync('gpgconf', ['--homedir', folder, '--kill', 'gpg-agent'])
  await registry?.stop()
  await rm(folder, { recursive: true, force: true })
})

const keyring = (kind: string) => join(folder, `${kind}.gpg`)
const charts = () => `oci://${registry.host}/charts`

function release(more: Record<string, string> = {}) {
  const { PATH } = process.env
  // The Makefile has a default for the folder, which only a variable of the command line replaces.
  const asked = ['release-chart', `CHART_FOLDER=${join(folder, 'dist')}`]
  const result = spawnSync('make', ['--no-print-directory', ...asked], {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
    env: {
      ...{ PATH: `${dirname(helm)}:${PATH}`, HOME: folder, GNUPGHOME: folder },
      CHART_REGISTRY: charts(),
      ...{ CHART_PUSH_FLAGS: '--plain-http', CHART_KEY: signer, CHART_KEYRING: keyring('secret') },
      ...{ CHART_KEY_URL: 'https://example.com/releases.asc', ...more },
    },
  })
  return { status: result.status, output: result.stdout + result.stderr }
}

function runHelm(...args: string[]) {
  const env = { PATH: process.env['PATH'], HOME: folder }
  return spawnSync(helm, args, { encoding: 'utf8', env })
}

test('a released chart is pulled with its provenance, and describes itself to Artifact Hub', async () => {
  const { status, output } = release()
  expect([status, output]).toEqual([0, expect.stringMatching(/looptrace@sha256:[0-9a-f]{64}/)])
  expect(output).toContain('no signature of cosign')
  const pulled = join(folder, 'pulled')
  await mkdir(pulled)
  const from = [`${charts()}/looptrace`, '--plain-http', '--destination', pulled]
  const pull = runHelm('pull', ...from, '--verify', '--keyring', keyring('public'))
  expect([pull.status, pull.stdout + pull.stderr]).toEqual([0, expect.stringContaining(signer)])
  const names = await readdir(pulled)
  expect(names.map((name) => name.replace(/-\d.*\.tgz/, '.tgz')).toSorted()).toEqual([
    ...['looptrace.tgz', 'looptrace.tgz.prov'],
  ])
  const archive = join(pulled, names.find((name) => name.endsWith('.tgz')) ?? '')
  const { annotations } = parse(runHelm('show', 'chart', archive).stdout)
  const kinds = parse(annotations['artifacthub.io/crds']).map(({ kind }: { kind: string }) => kind)
  expect(kinds).toEqual(expect.arrayContaining(['ProjectGrant', 'ReleasePolicy']))
  const key = parse(annotations['artifacthub.io/signKey'])
  expect(key).toEqual({
    fingerprint: expect.stringMatching(/^[0-9A-F]{40}$/),
    url: 'https://example.com/releases.asc',
  })
  expect(annotations['artifacthub.io/license']).toBe('Apache-2.0')
  expect(runHelm('template', 'x', archive).status).toBe(0)
  // One more byte, and the package is not the signed one.
  await appendFile(archive, ' ')
  expect(runHelm('verify', archive, '--keyring', keyring('public')).status).not.toBe(0)
}, 120_000)

test('without a key nothing is pushed, and the missing variable is named', () => {
  const { status, output } = release({ CHART_KEYRING: '', CHART_REGISTRY: `${charts()}/none` })
  expect(status).not.toBe(0)
  expect(output).toContain('CHART_KEYRING is missing')
  const pull = runHelm('pull', `${charts()}/none/looptrace`, '--plain-http')
  expect(pull.status).not.toBe(0)
})
