import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type EmbeddedClickHouse,
  startEmbeddedClickHouse,
} from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'

/** Hands out databases over HTTP: test files run in processes of their own and share a server. */
export type ClickHouseBroker = { url: string; close: () => Promise<void> }

/** How to reach a database that is not made yet. */
export type TestDatabase = { url: string; username: string; password: string; database: string }

/** Listens at once; ClickHouse starts with the first request, so a run without one pays nothing. */
export async function startClickHouseBroker(): Promise<ClickHouseBroker> {
  let shared: Promise<SharedServer> | undefined
  let made = 0
  const server = createServer((_request, response) => {
    shared ??= startSharedServer()
    made += 1
    const database = `test_${made}`
    shared.then(
      ({ clickhouse: { url, username, password } }) =>
        response.end(JSON.stringify({ url, username, password, database } satisfies TestDatabase)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
      const started = await shared?.catch(() => undefined)
      await started?.close()
    },
  }
}

type SharedServer = { clickhouse: EmbeddedClickHouse; close: () => Promise<void> }

async function startSharedServer(): Promise<SharedServer> {
  const logger = createLogger({ role: 'test-clickhouse', level: 'error' })
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-test-clickhouse-'))
  const remove = () => rm(directory, { recursive: true, force: true })
  try {
    const clickhouse = await startEmbeddedClickHouse({ directory, logger })
    const close = () => clickhouse.stop().then(remove)
    return { clickhouse, close }
  } catch (error) {
    await remove()
    throw error
  }
}
