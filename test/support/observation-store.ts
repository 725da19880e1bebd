import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ObservationStore,
  openClickHouseStore,
} from '../../src/capabilities/observability/stores/index.ts'
import {
  migrateColumnar,
  openColumnar,
  startEmbeddedClickHouse,
} from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'

/** An empty store of observations of one's own, and one whose server is not there. */
export type TestStore = {
  store: ObservationStore
  unreachable: ObservationStore
  close(): Promise<void>
}

/** Starts a ClickHouse for a test file, with the current schema. */
export async function openTestStore(): Promise<TestStore> {
  const logger = createLogger({ role: 'test', level: 'silent' })
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-test-store-'))
  const server = await startEmbeddedClickHouse({ directory, logger })
  const open = (url: string) =>
    openColumnar({
      url,
      username: server.username,
      password: server.password,
      database: 'looptrace',
      request_timeout_ms: 30_000,
      connections_max: 4,
      compression: false,
      logger,
    })
  const columnar = open(server.url)
  const nothing = open('http://127.0.0.1:1')
  await migrateColumnar({ columnar, logger })
  return {
    store: openClickHouseStore({ columnar }),
    unreachable: openClickHouseStore({ columnar: nothing }),
    close: async () => {
      await Promise.all([columnar.close(), nothing.close()])
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
