import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Alert = Readonly<Record<string, unknown>>

/** The route of usage alerts that docs/internals/add-a-kind.md assumes. */
export type AlertService = AsyncDisposable & { url: string; alerts: Map<string, Alert> }

const place = '/api/v2/observability/usage-alerts/'

/** Starts a service that stores alerts by name, in memory. */
export async function startAlertService(): Promise<AlertService> {
  const alerts = new Map<string, Alert>()
  const server = createServer((request, response) => void serve(alerts, request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    alerts,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function serve(
  alerts: Map<string, Alert>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method, url = '' } = request
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const body = await text(request)
  const name = pathname.slice(place.length)
  if (pathname.startsWith(place) && method === 'PUT') alerts.set(name, JSON.parse(body))
  const alert = pathname.startsWith(place) ? alerts.get(name) : undefined
  if (method === 'DELETE' && alert !== undefined) {
    if (searchParams.has('retain')) alerts.set(name, { ...alert, managed_by: null })
    else alerts.delete(name)
  }
  response.writeHead(alert === undefined ? 404 : 200, { 'content-type': 'application/json' })
  const missing = { status: 404, code: 'usage_alert_not_found', detail: 'there is none' }
  response.end(JSON.stringify(alert === undefined ? missing : { state: 'inactive', ...alert }))
}
