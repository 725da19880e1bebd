import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '../..')

/** The `sh` blocks of a page of the repository, in order. */
export async function shellBlocks(path: string): Promise<string[]> {
  const text = await readFile(join(repository, path), 'utf8')
  return [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block)
}

/** The commands that a text for a terminal shows, indented by two spaces, in order. */
export function indentedCommands(text: string): string {
  const commands = text.matchAll(/^ {2}((?:export|curl) (?:.*\\\n)*.*)$/gm)
  return [...commands].map(([, command]) => `${command}\n`).join('')
}

/** curl as on the pages, except that an answer of 400 and above ends the script. */
const strictly =
  'curl() { command curl --fail-with-body --silent --show-error --max-time 30 "$@"; }'

/** Runs commands as a reader pastes them into a shell; rejects with their output. */
export async function runShell(commands: string, env: Record<string, string>): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `${strictly}\n${commands}`], {
    cwd: repository,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  }
  const status = await new Promise((resolve) => child.once('close', resolve))
  if (status !== 0) throw new Error(`exit status ${status}:\n${commands}\n${output}`)
  return output
}
