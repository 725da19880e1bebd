import { type ExecFileException, execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { builtOnce } from './build-once.ts'

const repository = join(import.meta.dirname, '../..')
const toolFolder = join(repository, 'test/tools/python')
const requirements = join(toolFolder, 'requirements.txt')
/** The Python version that the strictest package in requirements.txt needs. */
const minorVersionMin = 11
const run = promisify(execFile)

/**
 * The path of a Python interpreter that has the packages of test/tools/python/requirements.txt. The
 * environment is built once for each state of that file and each version of Python. Rejects with
 * advice if Python is missing or the packages cannot be installed.
 */
export async function testPython(): Promise<string> {
  const version = await pythonVersion()
  const hash = createHash('sha256')
    .update(version)
    .update(await readFile(requirements))
  const name = `python-${hash.digest('hex').slice(0, 16)}`
  return join(await builtOnce(name, makeEnvironment), 'bin', 'python')
}

/**
 * Runs a program of test/tools/python with these environment variables, and resolves with its
 * standard output.
 */
export function runPython(
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  return python([join(toolFolder, program), ...args], env)
}

/** Runs a module of an installed package like `python -m`, in a writable folder. */
export function runPythonModule(
  module: string,
  args: readonly string[],
  { env = {}, ...options }: { cwd: string; env?: Record<string, string>; timeout_ms?: number },
): Promise<string> {
  return python(['-m', module, ...args], env, options)
}

/** Runs a text as a program, with these environment variables. */
export function runPythonText(text: string, env: Record<string, string>): Promise<string> {
  return python(['-c', text], env)
}

async function python(
  args: readonly string[],
  more: Record<string, string>,
  { cwd, timeout_ms = 120_000 }: { cwd?: string; timeout_ms?: number } = {},
): Promise<string> {
  const env = { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1', ...more }
  const limits = { timeout: timeout_ms, maxBuffer: 64 * 1024 * 1024 }
  try {
    const { stdout } = await run(await testPython(), args, { env, cwd, ...limits })
    return stdout
  } catch (cause) {
    const { stdout = '', stderr = '', killed } = cause as Partial<ExecFileException & Output>
    const why = killed === true ? `not within ${timeout_ms} ms` : 'failed'
    const written = `${stdout}\n${stderr}`.trim().slice(-shownOfOutput)
    throw new Error(`${args.slice(0, 2).join(' ')}: ${why}. The end of its output:\n${written}`, {
      cause,
    })
  }
}

type Output = { stdout: string; stderr: string }
const shownOfOutput = 4_000

async function pythonVersion(): Promise<string> {
  const asked = 'import sys; print(sys.version, sys.prefix); print(sys.version_info.minor)'
  const { stdout } = await run('python3', ['-c', asked]).catch((cause: unknown) => {
    throw new Error(`the tests need ${wantedPython}: there is no python3 on the PATH`, { cause })
  })
  const minor = Number(stdout.trim().split('\n').at(-1))
  if (minor >= minorVersionMin) return stdout
  throw new Error(`the tests need ${wantedPython}: got 3.${minor}`)
}

const wantedPython = `Python 3.${minorVersionMin} or newer (apt install python3)`

async function makeEnvironment(folder: string): Promise<void> {
  try {
    await run('python3', ['-m', 'venv', '--without-pip', folder])
    await run(join(folder, 'bin', 'python'), [join(toolFolder, 'install.py'), requirements])
  } catch (cause) {
    const { stderr = '' } = cause as { stderr?: string }
    throw new Error(`no Python environment for the tests:\n${stderr}`, { cause })
  }
}
