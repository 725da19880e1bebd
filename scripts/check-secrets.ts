import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Fails on a secret in the tree, and if the rules miss one of four planted kinds. */
const secretlint = (...words: string[]) => {
  const bin = 'node_modules/secretlint/bin/secretlint.js'
  const all = [bin, '--secretlintrc', '.secretlintrc.yml', '--maskSecrets', ...words]
  return spawnSync(process.execPath, all, { encoding: 'utf8' })
}

/** Made here, so that no file of the tree has one. */
const planted = {
  'npm-token': `npm_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`,
  'github-token': `token = ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`,
  'private-key': `-----BEGIN RSA ${'PRIVATE KEY'}-----\n${'MIIEpAIBAAKCAQEA'.repeat(30)}\n-----END RSA ${'PRIVATE KEY'}-----`,
  'slack-token': `xoxb-${'123456789012-123456789012-'}abcdefghijklmnopqrstuvwx`,
}

const folder = mkdtempSync(join(tmpdir(), 'looptrace-secrets-'))
try {
  for (const [name, text] of Object.entries(planted)) writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, 'clean'), 'nothing here')
  const { stdout } = secretlint('--no-gitignore', '--format', 'json', join(folder, '*'))
  const found: { filePath: string; messages: object[] }[] = JSON.parse(stdout)
  const flagged = found.filter(({ messages }) => messages.length > 0).map((one) => one.filePath)
  for (const name of Object.keys(planted)) {
    if (!flagged.includes(join(folder, name))) fail(`secretlint misses a planted ${name}`)
  }
  if (flagged.includes(join(folder, 'clean'))) fail('secretlint finds a secret in clean text')
} finally {
  rmSync(folder, { recursive: true })
}
const { status, stdout, stderr } = secretlint('**/*', '.*', '.ci/*')
if (status !== 0) fail(`${stdout}${stderr}`)

function fail(text: string): void {
  console.error(text)
  process.exitCode = 1
}
