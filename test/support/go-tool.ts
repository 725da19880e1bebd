import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const repository = join(import.meta.dirname, '../..')

/**
 * The path of a server that a Go module of `test/tools/<name>` pins, built once for each state of
 * its go.mod and go.sum. Rejects with what to do when there is no Go.
 */
export async function goTool(name: string, package_path: string): Promise<string> {
  const module = join(repository, 'test/tools', name)
  const hash = createHash('sha256')
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(module, file)))
  const folder = join(repository, '.cache')
  const binary = join(folder, `${name}-${hash.digest('hex').slice(0, 16)}`)
  if (await exists(binary)) return binary
  await mkdir(folder, { recursive: true })
  const building = `${binary}.${process.pid}`
  try {
    await promisify(execFile)('go', ['build', '-o', building, package_path], { cwd: module })
  } catch (cause) {
    throw new Error(
      `${name} could not be built: the tests need Go 1.25 or newer on the PATH (go.dev/dl)`,
      { cause },
    )
  }
  await rename(building, binary)
  return binary
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
