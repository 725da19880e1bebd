import type { Cluster } from '../../test/support/cluster.ts'
import { Connection } from '../load.ts'

/** One connection that exports one request at a time over HTTP. */
export type Sender = { send(body: Buffer): Promise<unknown>; close(): void }

const contentTypes = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
  gzip: 'application/x-protobuf\r\nContent-Encoding: gzip',
}

/** Opens a connection to the `proxy` role, with the key of the first login. */
export function httpSender(cluster: Cluster, encoding: keyof typeof contentTypes): Sender {
  const connection = new Connection(Number(new URL(cluster.proxy.base_url).port))
  const head = [
    'POST /v1/traces HTTP/1.1',
    'Host: 127.0.0.1',
    `X-API-Key: ${cluster.login.project_key}`,
    `Content-Type: ${contentTypes[encoding]}`,
    'Content-Length: ',
  ].join('\r\n')
  return {
    send: (body) => {
      const bytes = Buffer.concat([Buffer.from(`${head}${body.length}\r\n\r\n`), body])
      return connection.ask({ bytes, streamed: false })
    },
    close: () => connection.close(),
  }
}
