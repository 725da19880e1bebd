import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { builtOnce } from '../../support/build-once.ts'
import type { Stack } from './stacks.ts'

const run = promisify(execFile)
const output = { maxBuffer: 64 * 1024 * 1024 }

/** A folder with the packages of a stack. */
export type Environment = {
  folder: string
  /** The program that runs the stack's file. */
  interpreter: string
  /** The installed versions of the packages that the stack names. */
  versions: Record<string, string>
}

/**
 * Returns the environment of a stack with the newest versions of its packages, and builds it the first
 * time: some hundred MB each, in the folder of test tools.
 */
export async function environmentOf({ language, packages }: Stack): Promise<Environment> {
  const hash = createHash('sha256').update(packages.join('\n')).digest('hex').slice(0, 16)
  const make = language === 'python' ? makePython : makeNode
  const folder = await builtOnce(`stack-${language}-${hash}`, (place) => make(place, packages))
  const interpreter = language === 'python' ? join(folder, 'bin', 'python') : process.execPath
  const names = packages.map((name) => name.replace(/\[.*$/, ''))
  const versions = await (language === 'python'
    ? pythonVersions(interpreter, names)
    : nodeVersions(folder, names))
  return { folder, interpreter, versions }
}

async function makePython(folder: string, packages: readonly string[]): Promise<void> {
  await run('python3', ['-m', 'venv', folder])
  const install = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--prefer-binary',
  ]
  await run(join(folder, 'bin', 'python'), [...install, ...packages], output)
}

async function makeNode(folder: string, packages: readonly string[]): Promise<void> {
  await mkdir(folder)
  const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts']
  await run('npm', [...install, ...packages], output)
}

async function pythonVersions(interpreter: string, names: readonly string[]) {
  const program =
    'import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))'
  const { stdout } = await run(interpreter, ['-c', program, ...names])
  return JSON.parse(stdout) as Record<string, string>
}

async function nodeVersions(folder: string, names: readonly string[]) {
  const { stdout } = await run('npm', ['ls', '--prefix', folder, '--json', '--depth=0'])
  const { dependencies } = JSON.parse(stdout) as {
    dependencies: Record<string, { version: string }>
  }
  return Object.fromEntries(names.map((name) => [name, dependencies[name]?.version ?? '']))
}
