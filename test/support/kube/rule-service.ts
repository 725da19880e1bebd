import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type Rule = Readonly<Record<string, unknown>>

/** The route of incident rules that docs/internals/add-a-kind.md assumes. */
export type RuleService = AsyncDisposable & { url: string; rules: Map<string, Rule> }

const place = '/api/v2/observability/incidents/rules/'

/** Starts a service that stores rules by name, in memory. */
export async function startRuleService(): Promise<RuleService> {
  const rules = new Map<string, Rule>()
  const server = createServer((request, response) => void serve(rules, request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rules,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function serve(
  rules: Map<string, Rule>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method, url = '' } = request
  const body = await text(request)
  const name = url.slice(place.length)
  if (url.startsWith(place) && method === 'PUT') rules.set(name, JSON.parse(body))
  const rule = url.startsWith(place) ? rules.get(name) : undefined
  if (method === 'DELETE') rules.delete(name)
  response.writeHead(rule === undefined ? 404 : 200, { 'content-type': 'application/json' })
  const missing = { status: 404, code: 'incident_rule_not_found', detail: 'there is none' }
  response.end(JSON.stringify(rule === undefined ? missing : { state: 'inactive', ...rule }))
}
