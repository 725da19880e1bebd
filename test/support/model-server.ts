import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PaidCall, PaidCalls } from '../../src/capabilities/verification/contract.ts'
import { PaidCallFailed } from '../../src/platform/models/index.ts'
import {
  type Outbound,
  openOutbound,
  parseAllowedNetwork,
} from '../../src/platform/outbound/index.ts'

/** A request that a model received. */
export type SeenRequest = {
  path: string
  authorization: string | undefined
  body: Record<string, unknown>
}

/** A server that stands for a model, the outbound that may reach it, and the requests it received. */
export type ModelServer = AsyncDisposable & {
  url: string
  outbound: Outbound
  seen: SeenRequest[]
}

type Handler = (response: ServerResponse, request: SeenRequest, attempt: number) => void

/** Starts a server that answers each POST by the handler. */
export async function serveModel(handler: Handler): Promise<ModelServer> {
  const seen: SeenRequest[] = []
  const server = createServer(async (request, response) => {
    const got = await read(request)
    seen.push(got)
    response.on('error', () => undefined)
    handler(response, got, seen.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    outbound: openOutbound({ allowed: [parseAllowedNetwork(`127.0.0.1/32:${port}`)] }),
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function read(request: IncomingMessage): Promise<SeenRequest> {
  let text = ''
  for await (const chunk of request) text += chunk
  const { url = '', headers } = request
  return { path: url, authorization: headers.authorization, body: JSON.parse(text) }
}

/** Sends JSON with a status. */
export function replyJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Sends a chat completion; an answer that is no text is sent as its JSON. */
export function replyChat(response: ServerResponse, answer: unknown, usage?: object): void {
  const content = typeof answer === 'string' ? answer : JSON.stringify(answer)
  replyJson(response, { choices: [{ message: { content } }], ...(usage && { usage }) })
}

/** Reads the material that a chat question sent, from its user message. */
export function materialOf({ body }: SeenRequest): Record<string, unknown> {
  const messages = body['messages'] as { role: string; content: string }[]
  return JSON.parse(messages.find(({ role }) => role === 'user')?.content ?? '')
}

/** Pays for every call that the budget allows, and keeps the calls. */
export function payingUpTo(nano_dollars = 10n ** 12n): PaidCalls & { calls: PaidCall[] } {
  const calls: PaidCall[] = []
  let left = nano_dollars
  const pay: PaidCalls = async (call, signal) => {
    if (call.nano_dollars_max > left)
      return { outcome: 'over_budget', reason: 'the budget is spent' }
    calls.push(call)
    try {
      const { reply, nano_dollars } = await call.send(signal)
      left -= nano_dollars
      return { outcome: 'answered', reply: structuredClone(reply) }
    } catch (error) {
      if (!(error instanceof PaidCallFailed)) throw error
      return { outcome: 'failed', reason: error.message }
    }
  }
  return Object.assign(pay, { calls })
}
