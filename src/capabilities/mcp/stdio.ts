import { once } from 'node:events'
import type { Ask } from './ask.ts'

/**
 * Serves the tools over standard input and output of this process, until the client closes the
 * input or `stop` aborts.
 */
export async function serveStdio(
  ask: Ask,
  { version, stop }: { version: string; stop: AbortSignal },
): Promise<void> {
  const [{ serveStdio: serve }, { createMcpServer }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('./server.ts'),
  ])
  const served = serve(() => createMcpServer(ask, version))
  const closed = once(process.stdin, 'end', { signal: stop })
  await closed.catch(() => undefined)
  await served.close()
}
