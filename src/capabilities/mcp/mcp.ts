import { once } from 'node:events'
import { z } from 'zod'
import { problem } from '../../kernel/problem.ts'
import { Answer, defineRoute, type RequestHeaders, type Route } from '../../platform/http/index.ts'
import type { Ask } from './ask.ts'

/** Maximum bytes of a message: the input of one call. */
const message_bytes_max = 256_000

/** Maximum time of a message. Routes that a tool calls have time-outs of their own. */
const message_ms_max = 60_000

type McpDeps = {
  /** Origin under which people open Looptrace. */
  public_url?: string | undefined
  version: string
}

/**
 * The Model Context Protocol over HTTP. No session is kept: each message is answered by itself, so any
 * process may answer it. A tool calls routes of this server as the same client, so that a caller
 * reads what it could read by the API, and audit and limits see each call.
 */
export function mcpRoutes({ public_url, version }: McpDeps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      url: '/mcp',
      id: 'sendMcpMessage',
      summary: 'Send a message of the Model Context Protocol: tools that read the project',
      auth: 'jwt_or_key',
      scope: {
        level: 'project',
        role: 'viewer',
        key: ['tasks:read', 'traces:read', 'query:run', 'incidents:read'],
      },
      page: true,
      body: z.unknown(),
      reply: z.unknown(),
      errors: [],
      audit: 'refusals',
      body_bytes_max: message_bytes_max,
      handle: async ({ body, headers, signal, callRoute }) => {
        refuseForeignOrigin(headers, public_url)
        // Loaded with the first message, because most servers get none.
        const { createMessageHandler } = await import('./server.ts')
        const handler = createMessageHandler(callRoute, version)
        try {
          const request = toWebRequest(headers, body, signal)
          return await toAnswer(await handler.fetch(request, { parsedBody: body }))
        } finally {
          await handler.close()
        }
      },
    }),
  ]
}

/**
 * Refuses calls from pages of other origins, as the protocol demands against DNS rebinding. Clients
 * that are not browsers send no Origin.
 */
function refuseForeignOrigin({ origin }: RequestHeaders, public_url: string | undefined): void {
  if (origin === undefined) return
  if (public_url !== undefined && origin === new URL(public_url).origin) return
  const detail = 'Origin: pages of other origins may not use /mcp, expected no Origin'
  throw problem('permission_denied', { detail })
}

/** Headers that the protocol reads. */
const protocolHeader = /^(accept|content-type|mcp-.*)$/

function toWebRequest(headers: RequestHeaders, body: unknown, signal: AbortSignal): Request {
  const read = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    protocolHeader.test(name) && typeof value === 'string' ? [[name, value]] : [],
  )
  return new Request('http://mcp.invalid/mcp', {
    method: 'POST',
    headers: read,
    body: JSON.stringify(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(message_ms_max)]),
  })
}

async function toAnswer(response: Response): Promise<Answer<unknown>> {
  const { status } = response
  const text = await response.text()
  const [media_type = ''] = (response.headers.get('content-type') ?? '').split(';')
  return new Answer(undefined, { status, ...(text !== '' && { content: { media_type, text } }) })
}

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
