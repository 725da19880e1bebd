import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Receives the traces of Looptrace itself, and keeps their bytes. */
export type TraceSink = AsyncDisposable & { url: string; bodies: readonly Buffer[] }

/** Starts an OTLP endpoint on loopback that accepts everything. */
export async function startTraceSink(): Promise<TraceSink> {
  const bodies: Buffer[] = []
  const server = createServer(async (request, response) => {
    for await (const chunk of request) bodies.push(chunk)
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    bodies,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
