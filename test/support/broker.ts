import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Makes what test files share, over HTTP on loopback: the files run in separate processes. It lives
 * in the process of the run, so that what it made ends with the run.
 */
export type Broker = { url: string; close: () => Promise<void> }

/** Listens at once. `make` answers a path; nothing starts before the first call of it. */
export async function startBroker(
  make: (path: string) => Promise<string>,
  stop: () => Promise<void>,
): Promise<Broker> {
  const server = createServer((request, response) => {
    make(request.url ?? '/').then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await stop()
    },
  }
}

/** Asks a broker; rejects with its reason. */
export async function askBroker(url: string): Promise<string> {
  const answer = await fetch(url, { method: 'POST' })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`nothing for the test: ${text}`)
  return text
}
