import { spawn } from 'node:child_process'
import { eventually } from '../eventually.ts'
import { goTool } from '../go-tool.ts'

/** A registry of OCI artifacts in memory, as a child process on loopback. */
export type Registry = { host: string; stop(): Promise<void> }

/** Builds the registry if it is not cached (needs Go), and starts it on a free port. */
export async function startRegistry(): Promise<Registry> {
  const binary = await registryPath()
  const child = spawn(binary, ['-port', '0'], { stdio: ['ignore', 'ignore', 'pipe'] })
  const reap = () => child.kill('SIGKILL')
  process.once('exit', reap)
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const port = await eventually('the registry listens', async () => {
    if (child.exitCode !== null) throw new Error(`the registry ended:\n${output}`)
    return /serving on port (\d+)/.exec(output)?.[1]
  })
  return {
    host: `127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      process.off('exit', reap)
    },
  }
}

/** Path of the registry that `test/tools/registry` pins. */
export function registryPath(): Promise<string> {
  return goTool('registry', 'github.com/google/go-containerregistry/cmd/registry')
}
