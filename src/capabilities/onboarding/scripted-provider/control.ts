import type { IncomingMessage, ServerResponse } from 'node:http'
import { Problem } from '../../../kernel/problem.ts'
import type { Seen } from './seen.ts'

/** Whether a path is one of the server's own, not a provider's. */
export function isControlPath(path: string | undefined): boolean {
  return path === '/_seen' || path === '/_script'
}

type Controlled = { seen(): Seen; script(next: unknown): void }

/**
 * `GET /_seen` answers what `seen()` does, bodies in base64; `POST /_script` takes a script and
 * answers 204, or 400 with what is wrong in it.
 */
export async function playControl(
  incoming: IncomingMessage,
  response: ServerResponse,
  controlled: Controlled,
): Promise<void> {
  if (incoming.url === '/_seen') {
    const seen = controlled.seen()
    const requests = seen.requests.map(({ body, ...request }) => ({
      ...request,
      body_base64: body.toString('base64'),
    }))
    return answerJson(response, 200, { ...seen, requests })
  }
  try {
    controlled.script(JSON.parse(await textOf(incoming)))
    response.writeHead(204).end()
  } catch (cause) {
    if (cause instanceof SyntaxError) answerJson(response, 400, { detail: cause.message })
    else if (cause instanceof Problem) answerJson(response, cause.status, { detail: cause.message })
    else response.destroy()
  }
}

const script_bytes_max = 16_777_216

async function textOf(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of incoming) {
    bytes += part.length
    if (bytes > script_bytes_max) throw new SyntaxError(`script: over ${script_bytes_max} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function answerJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
