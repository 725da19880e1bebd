import { createServer, type IncomingHttpHeaders } from 'node:http'
import { Pool } from 'undici'
import { serveTarget } from '../target-side.ts'

/**
 * The floor: what node:http and undici cost by themselves. A bare server that streams each request
 * and each answer through `Pool.stream`; it checks, keeps and counts nothing.
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

/** The least that a proxy must take out, so that both hops are valid HTTP. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { host, connection, 'keep-alive': _, 'transfer-encoding': __, ...rest } = headers
  return rest
}
