import { Agent, request } from 'node:https'

/** A server and the user who sends the request. */
export type KubeCaller = { url: string; token: string }
/** A parsed body; tests read it without narrowing. */
export type KubeObject = ReturnType<typeof JSON.parse>
export type KubeReply = {
  status: number
  body: KubeObject
  text: string
  /** The header Warning, '' without one. */
  warning: string
}
export type KubeMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The API servers of the tests have self-signed certificates. */
const agent = new Agent({ rejectUnauthorized: false, keepAlive: true })
const request_timeout_ms = 30_000

/**
 * Sends a request to an API server and returns any answer. A PATCH has the content type of `apply`
 * by default.
 */
export function ask(
  caller: KubeCaller,
  method: KubeMethod,
  path: string,
  about: { body?: unknown; type?: string } = {},
): Promise<KubeReply> {
  const { body, type = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json' } =
    about
  const { promise, resolve, reject } = Promise.withResolvers<KubeReply>()
  const sent = body === undefined ? '' : JSON.stringify(body)
  const asked = request(new URL(path, caller.url), {
    ...{ method, agent, timeout: request_timeout_ms },
    headers: {
      authorization: `Bearer ${caller.token}`,
      'content-type': type,
      // Node omits the length in a DELETE.
      'content-length': Buffer.byteLength(sent),
    },
  })
  asked.on('timeout', () => asked.destroy(new Error(`${method} ${path}: no answer`)))
  asked.on('error', reject)
  asked.on('response', (answer) => {
    let text = ''
    answer.setEncoding('utf8')
    answer.on('data', (chunk) => {
      text += chunk
    })
    answer.on('error', reject)
    const { statusCode: status = 0, headers } = answer
    const warning = headers.warning ?? ''
    answer.on('end', () => resolve({ status, body: jsonOf(text), text, warning }))
  })
  asked.end(sent)
  return promise
}

/** Sends a request, and rejects with the server's message if it fails. */
export async function tell(
  caller: KubeCaller,
  method: KubeMethod,
  path: string,
  about: { body?: unknown; type?: string } = {},
): Promise<KubeObject> {
  const reply = await ask(caller, method, path, about)
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.body
}

function jsonOf(text: string): KubeObject {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
