import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ApiServer } from '../kube/api-server.ts'
import { helmPath, kubectlPath } from '../kube/tools.ts'

const repository = join(import.meta.dirname, '../../..')

/** The commands of a guide (its `sh` blocks) by heading. */
export async function guideSections(path: string): Promise<Map<string, string>> {
  const text = await readFile(join(repository, path), 'utf8')
  const sections = text.split(/^## /m).slice(1)
  return new Map(
    sections.map((section) => {
      const heading = section.slice(0, section.indexOf('\n'))
      const blocks = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block)
      return [heading, blocks.join('\n')]
    }),
  )
}

/** Runs commands as a reader would, in the repository; rejects with their output. */
export async function runCommands(
  commands: string,
  { server, timeout_ms = 120_000 }: { server: ApiServer; timeout_ms?: number },
): Promise<string> {
  const tools = [dirname(await helmPath()), dirname(await kubectlPath())]
  const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: repository,
    env: {
      PATH: [...tools, process.env['PATH']].join(':'),
      HOME: server.directory,
      KUBECONFIG: await server.kubeconfig(),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeout_ms,
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
