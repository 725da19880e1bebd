import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { builtOnce } from './build-once.ts'

const run = promisify(execFile)

/**
 * Returns the path of a folder whose `node_modules` has these packages (`name@version`), for clients
 * that are no dependencies of the project. They are installed once for each list. No script of a
 * package runs.
 */
export function nodePackages(packages: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 16)
  return builtOnce(`node-${hash}`, async (folder) => {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
    await run('npm', ['install', ...flags, ...packages], { cwd: folder })
  })
}

/** The end of a program: its exit status, and what it wrote. */
export type NodeRun = { status: number; output: string }

/** Runs a text as a module in such a folder, with these environment variables. */
export async function runNodeText(
  folder: string,
  text: string,
  env: Record<string, string>,
): Promise<NodeRun> {
  const args = ['--input-type=module', '--eval', text]
  const options = { cwd: folder, env: { PATH: process.env['PATH'] ?? '', ...env }, timeout: 60_000 }
  try {
    const { stdout, stderr } = await run(process.execPath, args, options)
    return { status: 0, output: `${stdout}${stderr}` }
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as Partial<NodeFailure>
    return { status: typeof code === 'number' ? code : -1, output: `${stdout}${stderr}` }
  }
}

type NodeFailure = { code: unknown; stdout: string; stderr: string }
