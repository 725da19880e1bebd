import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { builtOnce } from './build-once.ts'

const repository = join(import.meta.dirname, '../..')

/**
 * Returns the path of a server that a Go module of `test/tools/<name>` pins, built once for each
 * state of its go.mod and go.sum. Rejects with advice if Go is missing.
 */
export function goTool(name: string, package_path: string): Promise<string> {
  const module = join(repository, 'test/tools', name)
  return goProgram({ name, module, package_path, keyed_on: ['go.mod', 'go.sum'] })
}

export type GoProgram = {
  name: string
  /** The folder of its go.mod. */
  module: string
  package_path: string
  /** Files of the module; a change of one rebuilds it. */
  keyed_on: readonly string[]
  ldflags?: string
}

/** Returns the path of a Go program, built once for each state of its files. */
export async function goProgram(program: GoProgram): Promise<string> {
  const { name, module, package_path, keyed_on, ldflags = '' } = program
  const hash = createHash('sha256').update(ldflags)
  for (const file of keyed_on) hash.update(await readFile(join(module, file)))
  return builtOnce(`${name}-${hash.digest('hex').slice(0, 16)}`, async (place) => {
    const args = ['build', '-o', place, ...(ldflags ? ['-ldflags', ldflags] : []), package_path]
    try {
      await promisify(execFile)('go', args, { cwd: module, maxBuffer: 16 * 1024 * 1024 })
    } catch (cause) {
      throw new Error(`${name} could not be built: ${whyNot(cause)}`, { cause })
    }
  })
}

function whyNot(cause: unknown): string {
  const { code, stderr = '' } = cause as { code?: unknown; stderr?: string }
  if (code !== 'ENOENT') return `go build says:\n${stderr.slice(-4_000)}`
  return 'there is no go on the PATH; the tests need Go 1.26 or newer (go.dev/dl)'
}
