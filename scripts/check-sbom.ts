import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'

/** Fails if a bill of materials is not valid CycloneDX, not complete or not reproducible. */
const folder = mkdtempSync(join(tmpdir(), 'looptrace-sbom-'))
const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot5)
const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
try {
  if ((await validator.validate('{"bomFormat":"CycloneDX","components":[{}]}')) === null) {
    fail('the validator accepts everything')
  }
  await check('embedded', [])
  await check('cluster', ['--omit=optional'])
} finally {
  rmSync(folder, { recursive: true })
}

async function check(image: string, flags: readonly string[]): Promise<void> {
  const text = write(`${image}.json`, flags)
  if (write(`${image}-again.json`, flags) !== text) fail(`${image}: two bills differ`)
  if ((await validator.validate(text)) !== null) fail(`${image}: it is not valid CycloneDX 1.5`)
  const { components } = JSON.parse(text) as { components: { name: string }[] }
  const names = new Set(components.map(({ name }) => name))
  const isEmbedded = flags.length === 0
  const needed = [...Object.keys(dependencies), 'node']
  for (const name of needed) if (!names.has(name)) fail(`${image}: ${name} is missing`)
  for (const name of Object.keys(optionalDependencies)) {
    if (names.has(name) !== isEmbedded)
      fail(`${image}: ${name} ${isEmbedded ? 'is missing' : 'is not in this image'}`)
  }
  if (names.has('vitest')) fail(`${image}: it has development tools`)
}

function write(name: string, flags: readonly string[]): string {
  const file = join(folder, name)
  const words = ['scripts/sbom.ts', file, ...flags]
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return readFileSync(file, 'utf8')
}

function fail(text: string): void {
  console.error(`bill of materials: ${text}`)
  process.exitCode = 1
}
