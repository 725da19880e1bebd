import { Agent, request } from 'node:https'

/** A server and who asks it. */
export type KubeCaller = { url: string; token: string }
/** A parsed body; tests look into it without narrowing. */
export type KubeObject = ReturnType<typeof JSON.parse>
export type KubeReply = { status: number; body: KubeObject; text: string }
export type KubeMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The API servers of the tests have certificates that they signed themselves. */
const agent = new Agent({ rejectUnauthorized: false, keepAlive: true })
const request_timeout_ms = 30_000

/**
 * Asks an API server, and answers whatever it says. The type of a PATCH is that of `apply` unless
 * it is named.
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
      // Node leaves it out of a DELETE.
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
    answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: jsonOf(text), text }))
  })
  asked.end(sent)
  return promise
}

/** Asks, and rejects with what the server says when that is no success. */
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
