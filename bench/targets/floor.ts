import { createServer, type IncomingHttpHeaders } from 'node:http'
import { Pool } from 'undici'
import { serveTarget } from '../target-side.ts'

/**
 * The floor: the cost of node:http and undici alone. A bare server that streams each request and
 * answer through `Pool.stream`; it checks, keeps and counts nothing.
 */
serveTarget(({ upstream }) => {
  const pool = new Pool(upstream, { connections: 1024 })
  return createServer((request, response) => {
    pool.stream(
      {
        path: request.url ?? '/',
        method: 'POST',
        headers: endToEnd(request.headers),
        body: request,
        opaque: response,
      },
      ({ statusCode, headers, opaque }) => {
        opaque.writeHead(statusCode, endToEnd(headers))
        return opaque
      },
      (error) => {
        if (error) response.destroy(error)
      },
    )
  })
})

/** Headers that a proxy must remove to keep both hops valid HTTP. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { host, connection, 'keep-alive': _, 'transfer-encoding': __, ...rest } = headers
  return rest
}
